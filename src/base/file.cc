#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "base/file_system.h"
#include "base/replace_file.h"
#include "base/size_signal.h"

namespace sonde::base {
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

Written write_all(const std::string& path, int fd, std::string_view bytes) noexcept {
  const SizeSignalHeld held;
  Written done;
  while (done.count < bytes.size()) {
    const ssize_t n =
        retrying([&] { return files().write(path, fd, bytes.data() + done.count, bytes.size() - done.count); });
    if (n <= 0) {
      done.error = n == 0 ? EIO : errno;
      return done;
    }
    done.count += static_cast<std::size_t>(n);
  }
  return done;
}

bool is_directory(const std::string& path) noexcept {
  const int before = errno;
  struct stat info{};
  const bool found = ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  errno = before;
  return found;
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
    n = retrying([&] { return files().read(path, fd, buffer, std::min(sizeof buffer, most - content.size())); });
    if (n <= 0) break;
    content.append(buffer, static_cast<std::size_t>(n));
  }
  if (n < 0) error = errno;
  files().close(path, fd);
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

int open_retrying(const std::string& path, int flags, unsigned mode) noexcept {
  return retrying([&] { return files().open(path, flags, mode); });
}

Result<int> open_regular_file(const std::string& path) {
  // Not blocking, or a pipe of that name would block forever. Regular files ignore this flag.
  const int fd = open_retrying(path, O_RDONLY | O_NONBLOCK);
  if (fd < 0 && errno == ENXIO) return not_regular(path);  // a socket
  if (fd < 0) return system_error("open", path, errno);
  struct stat info{};
  Status status;
  if (::fstat(fd, &info) != 0) {
    status = system_error("access", path, errno);
  } else if (!S_ISREG(info.st_mode)) {
    status = not_regular(path, S_ISDIR(info.st_mode));
  }
  if (status) return fd;
  files().close(path, fd);
  return status;
}

Result<AppendFile> AppendFile::create(const std::string& path, const std::string& shown_path) {
  AppendFile file(-1, path, shown_path.empty() ? path : shown_path);  // first: it may run out of memory
  file.fd_ = open_retrying(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0644);
  if (file.fd_ < 0) return file.error("create", errno);
  return file;
}

Result<AppendFile> AppendFile::reopen(const std::string& path) {
  AppendFile file(-1, path, path);
  file.fd_ = open_retrying(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  if (file.fd_ < 0) return system_error("open", path, errno);
  struct stat info{};
  if (::fstat(file.fd_, &info) != 0) return system_error("access", path, errno);
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
    if (fd_ >= 0) files().close(path_, fd_);
    fd_ = std::exchange(other.fd_, -1);
    size_ = other.size_;
    cut_first_ = other.cut_first_;
    path_ = std::move(other.path_);
    shown_path_ = std::move(other.shown_path_);
  }
  return *this;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) files().close(path_, fd_);
}

Status AppendFile::error(std::string_view doing, int number) const { return system_error(doing, shown_path_, number); }

bool AppendFile::cut() noexcept {
  cut_first_ = retrying([&] { return files().truncate(path_, fd_, size_); }) != 0;
  return !cut_first_;
}

Status AppendFile::append(std::string_view bytes) {
  if (fd_ < 0) return {Code::closed, "cannot write '" + shown_path_ + "': it is closed"};
  if (cut_first_ && !cut()) return error("truncate half a record in", errno);
  const Written done = write_all(path_, fd_, bytes);
  if (done.error == 0) {
    size_ += bytes.size();
    return Status::success();
  }
  if (done.count > 0) cut();
  return error("write", done.error);
}

Status AppendFile::sync() {
  if (fd_ >= 0 && retrying([&] { return files().sync(path_, fd_); }) != 0) return error("sync", errno);
  return Status::success();
}

Status AppendFile::close() {
  if (fd_ < 0) return Status::success();
  // After EINTR the descriptor is closed as well.
  const bool closed = files().close(path_, std::exchange(fd_, -1)) == 0 || errno == EINTR;
  return closed ? Status::success() : error("close", errno);
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
    at = files().map(path, *fd, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE);
    if (at == MAP_FAILED) error = errno;
  }
  files().close(path, *fd);
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
  const int fd = open_retrying(path, O_RDONLY);
  if (fd < 0) return system_error("open", path, errno);
  return read_and_close(fd, path, most);
}

Status write_file(const std::string& path, std::string_view bytes) {
  Result<ReplaceFile> file = ReplaceFile::create(path);
  if (!file) return file.error();
  if (Status status = file->append(bytes); !status) return status;
  return file->commit();
}

Status make_directories(const std::string& path) {
  // Usually it exists, or only the last part is missing.
  const auto make = [](const std::string& one) { return retrying([&] { return files().make_directory(one, 0777); }); };
  if (path.empty()) return system_error("create the directory", path, ENOENT);
  if (make(path) == 0) return Status::success();
  int error = errno;
  if (error == ENOENT) {
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string parent = path.substr(0, slash);
      if (make(parent) != 0 && errno != EEXIST && !is_directory(parent)) {
        return system_error("create the directory", path, errno);
      }
    }
    if (make(path) == 0) return Status::success();
    error = errno;
  }
  if (is_directory(path)) return Status::success();  // even on a read-only file system
  return system_error("create the directory", path, error == EEXIST ? ENOTDIR : error);
}

std::string join_path(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path.push_back('/');
  return path.append(name);
}

}  // namespace sonde::base
