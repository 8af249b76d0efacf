// What a run takes of the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace sonde::record {

// The bytes of all files below a directory, without following links. Flight rings do not count: they come and go with
// their process. What cannot be read counts nothing.
std::uint64_t bytes_below(const std::string& path, int depth = 0);

// What the checkpoints of a run take. They are saved by their callers, who also remove older ones. Any thread.
class CheckpointUse {
 public:
  explicit CheckpointUse(const std::string& run_directory);
  void measure();
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  const std::string directory_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace sonde::record
