// Whether somebody who lives uses a file: a lock that the system lets go of with its process, however that ends.
#pragma once

#include <string>
#include <utility>

#include "sonde/status.h"

namespace sonde {

// Held as long as this lives. Children that fork without exec hold it as well until they close their copy.
class FileLock {
 public:
  // Of a file that is there. Does not wait: `exhausted` where somebody else holds it.
  static Result<FileLock> acquire(const std::string& path);

  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  friend Result<bool> is_locked(const std::string& path);
  FileLock(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  static Result<FileLock> lock(const std::string& path, int mode);
  int fd_ = -1;
  std::string path_;
};

// Whether somebody, this process included, holds the lock of a file that is there.
Result<bool> is_locked(const std::string& path);

}  // namespace sonde
