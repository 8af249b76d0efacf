#include "base/fixed_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_system.h"
#include "base/size_signal.h"

namespace sonde::base {
namespace {

constexpr int kMostNumbers = 10'000;

Status no_space(const std::string& path, std::uint64_t wanted, std::uint64_t free) {
  return {Code::no_space, "cannot allocate '" + path + "': " + std::to_string(wanted) + " bytes are needed and " +
                              std::to_string(free) + " are free"};
}

}  // namespace

Result<FixedFile> FixedFile::create(const std::string& prefix, const std::string& suffix, std::uint64_t bytes) {
  // Locked before it has its name: a process that looks for files without an owner must not take a new one for one.
  static std::atomic<std::uint64_t> made{0};
  std::string temporary;
  int fd = -1;
  do {  // a process that was killed here, with the same pid as this one, may have left its own file
    temporary = prefix + std::to_string(made++) + suffix + ".new";
    fd = open_retrying(temporary, O_RDWR | O_CREAT | O_EXCL, 0600);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) return system_error("create", prefix + "0" + suffix, errno);
  FixedFile file(fd, {});
  Status status;
  try {
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) status = system_error("lock", temporary, errno);
    if (status) status = file.take_name(temporary, prefix, suffix);
    const Status removed = remove_file(temporary);
    if (status) status = removed;
    if (status) status = file.allocate(bytes);
    if (status) return file;
  } catch (...) {  // out of memory
    files().remove_file(temporary);
    if (!file.path_.empty()) files().remove_file(file.path_);
    throw;
  }
  if (!file.path_.empty()) (void)remove_file(file.path_);  // the first error says more
  return status;
}

Status FixedFile::take_name(const std::string& temporary, const std::string& prefix, const std::string& suffix) {
  for (int number = 0; number < kMostNumbers; ++number) {
    std::string path = prefix;
    path.append(std::to_string(number)).append(suffix);
    if (retrying([&] { return files().link(temporary, path); }) == 0) {
      path_ = std::move(path);
      return {};
    }
    if (errno != EEXIST) return system_error("create", path, errno);
  }
  return {Code::exhausted, "cannot create '" + prefix + "0" + suffix + "' nor one with a number below " +
                               std::to_string(kMostNumbers) + ": all are taken"};
}

Status FixedFile::allocate(std::uint64_t bytes) {
  struct statvfs space{};
  if (::fstatvfs(fd_, &space) != 0) return system_error("access", path_, errno);
  const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
  // Asked before, as a file system that cannot allocate would be filled by writing zeros.
  // Some network file systems say that they have no blocks at all.
  if (space.f_blocks > 0 && bytes > free) return no_space(path_, bytes, free);
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    return {Code::no_space, "cannot allocate '" + path_ + "': " + std::to_string(bytes) +
                                " bytes are needed and no file may have more than " + std::to_string(limit.rlim_cur) +
                                " (ulimit -f)"};
  }
  const SizeSignalHeld held;  // another thread may lower the limit now
  const int error = retrying([&] { return files().allocate(path_, fd_, bytes); }) == 0 ? 0 : errno;
  if (error == ENOSPC || error == EDQUOT) return no_space(path_, bytes, free);
  if (error != 0) return system_error("allocate", path_, error);
  size_ = bytes;
  return {};
}

FixedFile::~FixedFile() { release(); }

void FixedFile::release() noexcept {
  size_ = 0;
  if (fd_ >= 0) files().close(path_, std::exchange(fd_, -1));
}

bool FixedFile::write_at(std::uint64_t offset, Bytes bytes) noexcept {
  if (offset > size_ || bytes.size() > size_ - offset) return false;
  while (!bytes.empty()) {
    const ssize_t done = retrying([&] { return files().write_at(path_, fd_, bytes.data(), bytes.size(), offset); });
    if (done <= 0) return false;
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

bool FixedFile::read_at(std::uint64_t offset, std::span<std::byte> to) const noexcept {
  while (!to.empty()) {
    const ssize_t done = retrying([&] { return files().read_at(path_, fd_, to.data(), to.size(), offset); });
    if (done <= 0) return false;
    offset += static_cast<std::uint64_t>(done);
    to = to.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

bool FixedFile::is_whole() const noexcept {
  struct stat info{};
  return ::fstat(fd_, &info) == 0 && static_cast<std::uint64_t>(info.st_size) >= size_;
}

Status FixedFile::remove() {
  Status status;
  if (fd_ >= 0) status = remove_file(path_);
  release();
  return status;
}

}  // namespace sonde::base
