// For tests: a file system whose writes or allocations take as long as the test says, as on a disk that hangs.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/file_system.h"

namespace sonde::base {

// Stands in place of the system's files when use_files gets it. It must never end, since threads may be in its calls.
class HeldFiles final : public FileSystem {
 public:
  // Only files whose paths contain this are held.
  explicit HeldFiles(std::string part) : part_(std::move(part)) {}

  ssize_t write(const std::string& path, int fd, const void* from, std::size_t size) noexcept override {
    wait(path);
    return FileSystem::write(path, fd, from, size);
  }
  int allocate(const std::string& path, int fd, std::uint64_t size) noexcept override {
    wait(path);
    return FileSystem::allocate(path, fd, size);
  }

  std::atomic<bool> held{false};
  std::atomic<bool> waiting{false};  // somebody has come since the test set it to false

 private:
  void wait(const std::string& path) noexcept {
    if (path.find(part_) == std::string::npos) return;
    while (held.load()) {
      waiting = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const std::string part_;
};

}  // namespace sonde::base
