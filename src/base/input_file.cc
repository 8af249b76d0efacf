#include "base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace sonde {
namespace {

FileState state_of(const struct stat& info) noexcept {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

}  // namespace

Result<FileState> file_state(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return system_error("look at", path, errno);
  return state_of(info);
}

Result<InputFile> InputFile::open(const std::string& path) {
  // Not blocking, or a pipe of that name would stop us for ever.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error("open", path, errno);
  InputFile file(fd, path);
  struct stat info{};
  if (::fstat(fd, &info) != 0) return system_error("look at", path, errno);
  if (!S_ISREG(info.st_mode)) return Status(Code::invalid_argument, "cannot read '" + path + "': it is not a file");
  return file;
}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<FileState> InputFile::state() const {
  struct stat info{};
  if (::fstat(fd_, &info) != 0) return system_error("look at", path_, errno);
  return state_of(info);
}

Result<bool> InputFile::belongs_to_user() const {
  struct stat info{};
  if (::fstat(fd_, &info) != 0) return system_error("look at", path_, errno);
  return info.st_uid == ::geteuid();
}

Result<std::size_t> InputFile::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t n = ::pread(fd_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      return system_error("read", path_, errno);
    }
  }
  return done;
}

}  // namespace sonde
