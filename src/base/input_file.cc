#include "base/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_system.h"

namespace sonde::base {
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
  if (::stat(path.c_str(), &info) != 0) return system_error("access", path, errno);
  return state_of(info);
}

Result<InputFile> InputFile::open(const std::string& path, const std::string& within) {
  std::string own_path = path;  // first: it may run out of memory
  const Result<int> fd = open_regular_file(path);
  if (!fd) return fd.error();
  InputFile file(*fd, std::move(own_path));
  if (!within.empty()) {
    if (Status status = check_inside(*fd, path, within); !status) return status;
  }
  return file;
}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) files().close(path_, fd_);
}

Result<FileState> InputFile::state() const {
  struct stat info{};
  if (::fstat(fd_, &info) != 0) return system_error("access", path_, errno);
  return state_of(info);
}

Result<bool> InputFile::belongs_to_user() const {
  struct stat info{};
  if (::fstat(fd_, &info) != 0) return system_error("access", path_, errno);
  if (info.st_uid != ::geteuid()) return false;
  // A link that somebody else has put there would choose one of the user's files.
  if (::lstat(path_.c_str(), &info) != 0) return system_error("access", path_, errno);
  return info.st_uid == ::geteuid();
}

Result<std::string> InputFile::read_up_to(std::size_t most) const {
  const Result<FileState> now = state();
  if (!now) return now.error();
  std::string content(static_cast<std::size_t>(std::min<std::uint64_t>(most, now->size)), '\0');
  const Result<std::size_t> size = read_at(0, std::as_writable_bytes(std::span(content)));
  if (!size) return size.error();
  content.resize(*size);
  return content;
}

Result<std::size_t> InputFile::read_at(std::uint64_t offset, std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const ssize_t n =
        retrying([&] { return files().read_at(path_, fd_, to.data() + done, to.size() - done, offset + done); });
    if (n < 0) return system_error("read", path_, errno);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

}  // namespace sonde::base
