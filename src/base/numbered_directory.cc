#include "base/numbered_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_system.h"

namespace sonde::base {
namespace {

constexpr std::string_view kAside = ".part-";

// If it fails, the next creation tries again.
void remove_tree(const std::string& path) noexcept {
  retrying([&] { return files().remove_tree(path); });
}

int open_directory(const std::string& path) noexcept { return open_retrying(path, O_RDONLY | O_DIRECTORY); }

// If locking fails for another reason than a holder (some file systems cannot lock directories), nothing is known to be
// left over.
bool left_behind(int fd) noexcept { return ::flock(fd, LOCK_EX | LOCK_NB) == 0; }

bool is_at(int fd, const std::string& path) noexcept {
  struct stat ours{};
  struct stat there{};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

// Removes leftovers; returns the largest number in use.
Result<std::uint64_t> tidy(const std::string& parent) {
  const Result<Directory> directory = read_directory(parent);
  if (!directory) return directory.error();
  std::uint64_t largest = 0;
  for (const DirectoryEntry& entry : directory->entries) {
    std::string_view name = entry.name;
    if (name.starts_with(kAside)) {
      name.remove_prefix(kAside.size());
      const std::string path = join_path(parent, entry.name);
      const int fd = open_directory(path);
      if (fd >= 0 && left_behind(fd) && is_at(fd, path)) remove_tree(path);
      if (fd >= 0) files().close(path, fd);
    }
    largest = std::max(largest, leading_number(name));
  }
  return largest;
}

// Whether a capture of this number appeared since the numbers were read.
Result<bool> taken(const std::string& parent, std::uint64_t number) {
  const Result<Directory> directory = read_directory(parent);
  if (!directory) return directory.error();
  return std::ranges::any_of(directory->entries,
                             [&](const DirectoryEntry& entry) { return leading_number(entry.name) == number; });
}

}  // namespace

std::uint64_t leading_number(std::string_view name) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc{} && (end == name.data() + name.size() || *end == '-');
  return whole ? number : 0;
}

Result<NumberedDirectory> NumberedDirectory::create(const std::string& parent) {
  if (Status status = make_directories(parent); !status) return status;
  Result<std::uint64_t> number = tidy(parent);
  if (!number) return number.error();
  for (;;) {
    ++*number;
    std::string path = join_path(parent, std::string(kAside) + std::to_string(*number));
    std::string own_parent = parent;  // before anything is made that would stay behind without memory
    if (retrying([&] { return files().make_directory(path, 0777); }) != 0) {
      if (errno == EEXIST) continue;
      return system_error("create the directory", path, errno);
    }
    const int fd = open_directory(path);
    if (fd < 0 && errno == ENOENT) continue;  // another process removed it as a leftover
    if (fd < 0) {
      const Status status = system_error("open the directory", path, errno);
      retrying([&] { return files().remove_directory(path); });
      return status;
    }
    if ((::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) || !is_at(fd, path)) {
      files().close(path, fd);
      continue;
    }
    NumberedDirectory made(fd, std::move(own_parent), std::move(path), *number);
    // A process that had this number before has let it go by now, so no further look is needed.
    const Result<bool> used = taken(parent, *number);
    if (!used) return used.error();
    if (!*used) return made;
  }
}

NumberedDirectory::~NumberedDirectory() {
  if (fd_ < 0) return;
  remove_tree(path_);
  files().close(path_, fd_);
}

std::string NumberedDirectory::final_path(std::string_view name) const {
  return join_path(parent_, std::to_string(number_) + "-" + std::string(name));
}

Status NumberedDirectory::commit(std::string_view name) {
  const std::string to = final_path(name);
  if (retrying([&] { return files().rename(path_, to); }) != 0) return system_error("make", to, errno);
  files().close(to, std::exchange(fd_, -1));
  return Status::success();
}

}  // namespace sonde::base
