#include "base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "base/directory.h"
#include "base/file_system.h"

namespace sonde::base {

Status sync_directory(const std::string& path) {
  const int fd = open_retrying(path, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return system_error("sync the directory", path, errno);
  // Where directories cannot be synced (EINVAL), a rename is as safe as that file system makes it.
  const bool synced = retrying([&] { return files().sync_directory(path, fd); }) == 0 || errno == EINVAL;
  const int error = synced ? 0 : errno;
  files().close(path, fd);
  return error == 0 ? Status::success() : system_error("sync the directory", path, error);
}

Result<ReplaceFile> ReplaceFile::create(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return system_error("write", path, EISDIR);
    return Status(Code::invalid_argument, "cannot write '" + path + "': it is not a regular file");
  }
  // Counted, since two threads may write the same file.
  static std::atomic<unsigned> count{0};
  std::string own_path = path;  // first: it may run out of memory
  const std::string temporary = path + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  (void)remove_file(temporary);  // of a process with the same number that was killed
  // A new file in any case: somebody who may write here could have put a link to another file there.
  Result<AppendFile> file = AppendFile::create(temporary, path);
  if (!file) return file.error();
  return ReplaceFile(*std::move(file), std::move(own_path));
}

ReplaceFile::ReplaceFile(ReplaceFile&& other) noexcept
    : temporary_(std::move(other.temporary_)),
      path_(std::move(other.path_)),
      pending_(std::exchange(other.pending_, false)) {}

ReplaceFile::~ReplaceFile() {
  if (pending_) retrying([&] { return files().remove_file(temporary_.path()); });
}

Status ReplaceFile::commit() {
  if (Status status = temporary_.close(); !status) return status;
  const bool renamed = retrying([&] { return files().rename(temporary_.path(), path_); }) == 0;
  if (!renamed) return system_error("write", path_, errno);
  pending_ = false;
  return Status::success();
}

Status ReplaceFile::commit_synced() {
  if (Status status = temporary_.sync(); !status) return status;
  if (Status status = commit(); !status) return status;
  const std::size_t slash = path_.rfind('/');
  return sync_directory(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
}

}  // namespace sonde::base
