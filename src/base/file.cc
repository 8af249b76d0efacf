#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "base/size_signal.h"

namespace sonde {
namespace {

Code code_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return Code::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return Code::no_space;
    case EINVAL:
    case ENAMETOOLONG: return Code::invalid_argument;
    default: return Code::io;
  }
}

// The number of bytes written before a failure, and its errno.
struct Written {
  std::size_t count = 0;
  int error = 0;
};

Written write_all(int fd, std::string_view bytes) noexcept {
  const SizeSignalHeld held;
  Written done;
  while (done.count < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done.count, bytes.size() - done.count);
    if (n > 0) {
      done.count += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      done.error = n == 0 ? EIO : errno;
      return done;
    }
  }
  return done;
}

int open_retrying(const char* path, int flags, mode_t mode = 0) noexcept {
  int fd = -1;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

Status not_regular(const std::string& path, bool directory = false) {
  return {Code::invalid_argument,
          "cannot read '" + path + (directory ? "': it is a directory" : "': it is not a regular file")};
}

Result<std::string> read_and_close(int fd, const std::string& path, std::size_t most) {
  std::string content;
  char buffer[1 << 14];
  ssize_t n = 0;
  int error = 0;
  while (content.size() < most) {
    n = ::read(fd, buffer, std::min(sizeof buffer, most - content.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    content.append(buffer, static_cast<std::size_t>(n));
  }
  if (n < 0) error = errno;
  ::close(fd);
  if (error != 0) return system_error("read", path, error);
  return content;
}

}  // namespace

Status system_error(std::string_view doing, std::string_view path, int error) {
  std::string message = "cannot ";
  message.append(doing).append(" '").append(path).append("': ");
  message += std::error_code(error, std::generic_category()).message();
  return {code_of(error), std::move(message)};
}

Result<int> open_regular_file(const std::string& path) {
  // Not blocking, or a pipe of that name would stop us for ever. Reading a regular file does not heed it.
  const int fd = open_retrying(path.c_str(), O_RDONLY | O_NONBLOCK);
  if (fd < 0 && errno == ENXIO) return not_regular(path);  // a socket
  if (fd < 0) return system_error("open", path, errno);
  struct stat info{};
  Status status;
  if (::fstat(fd, &info) != 0) {
    status = system_error("look at", path, errno);
  } else if (!S_ISREG(info.st_mode)) {
    status = not_regular(path, S_ISDIR(info.st_mode));
  }
  if (status) return fd;
  ::close(fd);
  return status;
}

Result<AppendFile> AppendFile::create(const std::string& path) {
  const int fd = open_retrying(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0644);
  if (fd < 0) return system_error("create", path, errno);
  return AppendFile(fd, path);
}

Result<AppendFile> AppendFile::reopen(const std::string& path) {
  const int fd = open_retrying(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return system_error("open", path, errno);
  AppendFile file(fd, path);
  struct stat info{};
  if (::fstat(fd, &info) != 0) return system_error("look at", path, errno);
  if (!S_ISREG(info.st_mode)) return not_regular(path);
  file.size_ = static_cast<std::uint64_t>(info.st_size);
  return file;
}

bool AppendFile::is_deleted() const noexcept {
  struct stat info{};
  return fd_ >= 0 && ::fstat(fd_, &info) == 0 && info.st_nlink == 0;
}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    size_ = other.size_;
    path_ = std::move(other.path_);
  }
  return *this;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status AppendFile::append(std::string_view bytes) {
  if (fd_ < 0) return {Code::closed, "cannot write '" + path_ + "': it is closed"};
  const Written done = write_all(fd_, bytes);
  if (done.error == 0) {
    size_ += bytes.size();
    return Status::success();
  }
  if (done.count > 0 && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0) {
    // The half record stays; readers skip it, and what comes next starts behind it.
    size_ += done.count;
  }
  return system_error("write", path_, done.error);
}

Status AppendFile::sync() {
  if (fd_ >= 0 && ::fdatasync(fd_) != 0) return system_error("sync", path_, errno);
  return Status::success();
}

Status AppendFile::close() {
  if (fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0) return system_error("close", path_, errno);
  return Status::success();
}

void AppendFile::abandon() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Result<int> fd = open_regular_file(path);
  if (!fd) return fd.error();
  struct stat info{};
  void* at = nullptr;
  int error = 0;
  if (::fstat(*fd, &info) != 0) {
    error = errno;
  } else if (info.st_size > 0) {
    at = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, *fd, 0);
    if (at == MAP_FAILED) error = errno;
  }
  ::close(*fd);
  if (error != 0) return system_error("map", path, error);
  return MappedFile(Bytes(static_cast<const std::byte*>(at), static_cast<std::size_t>(info.st_size)));
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Result<std::string> read_file(const std::string& path) {
  const Result<int> fd = open_regular_file(path);
  if (!fd) return fd.error();
  return read_and_close(*fd, path, std::numeric_limits<std::size_t>::max());
}

Result<std::string> read_stream(const std::string& path, std::size_t most) {
  const int fd = open_retrying(path.c_str(), O_RDONLY);
  if (fd < 0) return system_error("open", path, errno);
  return read_and_close(fd, path, most);
}

Status write_file(const std::string& path, std::string_view bytes) {
  // Counted, since two threads may write the same file.
  static std::atomic<unsigned> count{0};
  const std::string aside = path + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  ::unlink(aside.c_str());  // of a process with the same number that was killed
  // A new file in any case: whoever may write here could have put a link to another one there.
  const int fd = open_retrying(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (fd < 0) return system_error("create", aside, errno);
  int error = write_all(fd, bytes).error;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(aside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Status::success();
  ::unlink(aside.c_str());
  return system_error("write", path, error);
}

Status make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return system_error("make the directory", path, error.value());
  if (!std::filesystem::is_directory(path, error)) return system_error("make the directory", path, ENOTDIR);
  return Status::success();
}

std::string join_path(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path.push_back('/');
  return path.append(name);
}

}  // namespace sonde
