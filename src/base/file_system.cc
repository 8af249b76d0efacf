#include "base/file_system.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace sonde::base {
namespace {

class SystemFiles final : public FileSystem {};
constinit SystemFiles system_files;

}  // namespace

constinit std::atomic<FileSystem*> detail::files_in_place{&system_files};

void use_files(FileSystem* other) noexcept {
  detail::files_in_place.store(other != nullptr ? other : &system_files, std::memory_order_release);
}

int FileSystem::open(const std::string& path, int flags, mode_t mode) noexcept {
  return ::open(path.c_str(), flags | O_CLOEXEC, mode);
}

int FileSystem::close(const std::string&, int fd) noexcept { return ::close(fd); }

ssize_t FileSystem::read(const std::string&, int fd, void* to, std::size_t size) noexcept {
  return ::read(fd, to, size);
}

ssize_t FileSystem::read_at(const std::string&, int fd, void* to, std::size_t size, std::uint64_t offset) noexcept {
  return ::pread(fd, to, size, static_cast<off_t>(offset));
}

ssize_t FileSystem::write(const std::string&, int fd, const void* from, std::size_t size) noexcept {
  return ::write(fd, from, size);
}

ssize_t FileSystem::write_at(const std::string&, int fd, const void* from, std::size_t size,
                             std::uint64_t offset) noexcept {
  return ::pwrite(fd, from, size, static_cast<off_t>(offset));
}

int FileSystem::sync(const std::string&, int fd) noexcept { return ::fdatasync(fd); }

int FileSystem::sync_directory(const std::string&, int fd) noexcept { return ::fsync(fd); }

int FileSystem::truncate(const std::string&, int fd, std::uint64_t size) noexcept {
  return ::ftruncate(fd, static_cast<off_t>(size));
}

int FileSystem::allocate(const std::string&, int fd, std::uint64_t size) noexcept {
  const int error = ::posix_fallocate(fd, 0, static_cast<off_t>(size));
  if (error == 0) return 0;
  errno = error;
  return -1;
}

void* FileSystem::map(const std::string&, int fd, std::size_t size, int protection, int flags) noexcept {
  return ::mmap(nullptr, size, protection, flags, fd, 0);
}

int FileSystem::rename(const std::string& from, const std::string& to) noexcept {
  return ::rename(from.c_str(), to.c_str());
}

int FileSystem::rename_to_free(const std::string& from, const std::string& to) noexcept {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return -1;
  // Some file systems do not know the flag.
  struct stat info{};
  if (::lstat(to.c_str(), &info) == 0) errno = EEXIST;
  if (errno != ENOENT) return -1;
  return ::rename(from.c_str(), to.c_str());
}

int FileSystem::link(const std::string& from, const std::string& to) noexcept {
  return ::link(from.c_str(), to.c_str());
}

int FileSystem::make_directory(const std::string& path, mode_t mode) noexcept { return ::mkdir(path.c_str(), mode); }

int FileSystem::remove_file(const std::string& path) noexcept { return ::unlink(path.c_str()); }

int FileSystem::remove_directory(const std::string& path) noexcept { return ::rmdir(path.c_str()); }

int FileSystem::remove_tree(const std::string& path) noexcept {
  try {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (!error) return 0;
    errno = error.value();
  } catch (...) {  // of a path that needs memory
    errno = ENOMEM;
  }
  return -1;
}

}  // namespace sonde::base
