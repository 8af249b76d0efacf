// Tells whether a living process uses a file: a lock that the system releases with its process, however it ends.
#pragma once

#include <string>
#include <utility>

#include "sonde/status.h"

namespace sonde::base {

// Held as long as this lives. Children that fork without exec also hold it until they close their copy.
class FileLock {
 public:
  // Locks an existing file. Does not wait: `exhausted` if somebody else holds the lock.
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

// Whether any process, including this one, holds the lock of an existing file.
Result<bool> is_locked(const std::string& path);

}  // namespace sonde::base
