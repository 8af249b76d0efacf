#include "base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace sonde {

Status sync_directory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_error("sync the directory", path, errno);
  // Where directories cannot be synced (EINVAL), a rename is as safe as that file system makes it.
  const int error = ::fsync(fd) != 0 && errno != EINVAL ? errno : 0;
  ::close(fd);
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
  const std::string aside = path + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  ::unlink(aside.c_str());  // of a process with the same number that was killed
  Result<AppendFile> file = AppendFile::create(aside);
  if (!file) return file.error();
  return ReplaceFile(*std::move(file), path);
}

ReplaceFile::ReplaceFile(ReplaceFile&& other) noexcept
    : aside_(std::move(other.aside_)), path_(std::move(other.path_)), pending_(std::exchange(other.pending_, false)) {}

ReplaceFile::~ReplaceFile() {
  if (pending_) ::unlink(aside_.path().c_str());
}

Status ReplaceFile::commit() {
  if (Status status = aside_.close(); !status) return status;
  if (std::rename(aside_.path().c_str(), path_.c_str()) != 0) return system_error("write", path_, errno);
  pending_ = false;
  return Status::success();
}

Status ReplaceFile::commit_synced() {
  if (Status status = aside_.sync(); !status) return status;
  if (Status status = commit(); !status) return status;
  const std::size_t slash = path_.rfind('/');
  return sync_directory(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
}

}  // namespace sonde
