#include "base/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/file.h"
#include "base/file_system.h"

namespace sonde::base {
namespace {

DirectoryEntry::Type type_of(int directory, const dirent& entry) noexcept {
  using Type = DirectoryEntry::Type;
  if (entry.d_type == DT_REG) return Type::file;
  if (entry.d_type == DT_DIR) return Type::directory;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return Type::other;
  struct stat info{};
  if (::fstatat(directory, entry.d_name, &info, 0) != 0) return Type::other;
  return S_ISREG(info.st_mode) ? Type::file : S_ISDIR(info.st_mode) ? Type::directory : Type::other;
}

bool is_link(int directory, const dirent& entry) noexcept {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_LNK;
  struct stat info{};
  return ::fstatat(directory, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

int make_directory(const std::string& path, mode_t mode) noexcept {
  return retrying([&] { return files().make_directory(path, mode); });
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

Result<Directory> read_directory(const std::string& path, const std::string& within) {
  const int fd = open_retrying(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (fd < 0) return system_error("read the directory", path, errno);
  const std::unique_ptr<DIR, CloseDirectory> open(::fdopendir(fd));
  if (open == nullptr) {
    const int error = errno;
    files().close(path, fd);
    return system_error("read the directory", path, error);
  }
  Directory found;
  std::string root;
  if (!within.empty()) {
    if (Status status = check_inside(fd, path, within); !status) return status;
    const Result<std::string> real = real_path(within);
    if (!real) return real.error();
    root = *real;
  }
  struct stat info{};
  if (::fstat(fd, &info) != 0) return system_error("access", path, errno);
  found.state.device = info.st_dev;
  found.state.inode = info.st_ino;
  found.state.modified = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    DirectoryEntry one = {std::string(name), type_of(fd, *entry), is_link(fd, *entry)};
    const bool leads = !root.empty() && one.link && one.type != DirectoryEntry::Type::other;
    const Result<std::string> where = leads ? real_path(join_path(path, name)) : root;
    const bool out = leads && !(where && is_inside(*where, root));
    (out ? found.outside : found.entries).push_back(std::move(one));
  }
  if (errno != 0) return system_error("read the directory", path, errno);
  std::ranges::sort(found.entries, {}, &DirectoryEntry::name);
  std::ranges::sort(found.outside, {}, &DirectoryEntry::name);
  return found;
}

Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> found(::realpath(path.c_str(), nullptr), &std::free);
  if (found == nullptr) return system_error("find", path, errno);
  return std::string(found.get());
}

bool is_inside(std::string_view path, std::string_view directory) noexcept {
  if (path == directory || directory == "/") return true;
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

Status check_inside(int fd, const std::string& path, const std::string& within) {
  const Result<std::string> root = real_path(within);
  if (!root) return root.error();
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  std::string where(PATH_MAX, '\0');
  const ssize_t size = ::readlink(link.c_str(), where.data(), where.size());
  if (size < 0) return system_error("read the link", link, errno);
  where.resize(static_cast<std::size_t>(size));
  if (is_inside(where, *root)) return Status::success();
  return {Code::unsupported, "'" + path + "' leads out of '" + within + "', and is not read"};
}

Result<std::string> user_cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') return std::string(cache);
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return join_path(home, ".cache");
  return Status(Code::not_found, "neither XDG_CACHE_HOME nor HOME names a directory");
}

Status make_private_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    if (Status status = make_directories(path.substr(0, slash)); !status) return status;
  }
  if (make_directory(path, 0700) != 0 && errno != EEXIST) return system_error("create the directory", path, errno);
  return Status::success();
}

Status make_new_directory(const std::string& path) {
  if (make_directory(path, 0777) == 0) return Status::success();
  const int error = errno;
  const Status status = system_error("create the directory", path, error);
  return error == EEXIST ? Status(Code::exhausted, status.message()) : status;
}

Status move_entry(const std::string& from, const std::string& to) {
  if (retrying([&] { return files().rename_to_free(from, to); }) == 0) return Status::success();
  return system_error("move", from, errno);
}

Status remove_empty_directory(const std::string& path) {
  if (retrying([&] { return files().remove_directory(path); }) == 0) return Status::success();
  return system_error("remove the directory", path, errno);
}

void remove_empty_directories(const std::string& path, const std::string& top) {
  std::string_view at = path;
  while (at.size() >= top.size() && at.starts_with(top)) {
    const std::string one(at);
    if (retrying([&] { return files().remove_directory(one); }) != 0 && errno != ENOENT) return;
    at = at.substr(0, at.rfind('/'));
  }
}

void touch_file(const std::string& path) noexcept { (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

Status remove_file(const std::string& path) {
  if (retrying([&] { return files().remove_file(path); }) == 0 || errno == ENOENT) return Status::success();
  return system_error("remove", path, errno);
}

}  // namespace sonde::base
