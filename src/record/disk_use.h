// The disk space of a run.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace sonde::record {

// The bytes of all files below a directory, without following links. Flight rings do not count: they exist only as long
// as their process. Unreadable files count nothing.
std::uint64_t bytes_below(const std::string& path, int depth = 0);

// The size of a run's checkpoints. Their callers save them, and remove older ones. Any thread.
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
