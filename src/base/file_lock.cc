#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/file_system.h"

namespace sonde::base {

Result<FileLock> FileLock::acquire(const std::string& path) { return lock(path, LOCK_EX); }

Result<FileLock> FileLock::lock(const std::string& path, int mode) {
  std::string own_path = path;  // first: it may run out of memory
  // Not blocking, or a pipe of that name would stop us forever.
  const int fd = open_retrying(path, O_RDONLY | O_NONBLOCK);
  if (fd < 0) return system_error("open", path, errno);
  FileLock held(fd, std::move(own_path));
  if (::flock(fd, mode | LOCK_NB) == 0) return held;
  if (errno == EWOULDBLOCK) return Status(Code::exhausted, "'" + path + "' is in use by a running process");
  return system_error("lock", path, errno);
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) files().close(path_, fd_);
}

Result<bool> is_locked(const std::string& path) {
  // Shared, so that two who ask at the same time do not take each other for the owner.
  const Result<FileLock> held = FileLock::lock(path, LOCK_SH);
  if (held) return false;
  if (held.error().code() == Code::exhausted) return true;
  return held.error();
}

}  // namespace sonde::base
