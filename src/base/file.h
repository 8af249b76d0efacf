// Files and directories: the only place in the project that opens them. Every error names the path and the reason.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "sonde/status.h"

namespace sonde::base {

// The Status of a failed system call: "cannot <doing> '<path>': <reason of errno>".
Status system_error(std::string_view doing, std::string_view path, int error);

// Opens a path, and retries if a signal interrupts it; -1 and errno on failure. Closed on exec. For use in this module.
int open_retrying(const std::string& path, int flags, unsigned mode = 0) noexcept;

// A descriptor for reading a regular file; for a pipe, a directory, a socket or a device the Status says so, without
// waiting. For use in this module.
Result<int> open_regular_file(const std::string& path);

// A file that only grows. Not safe for several threads at once.
class AppendFile {
 public:
  // Fails if the path exists: two writers never share a file. If `shown_path` is given, errors name it instead: the
  // path that a temporary file will be renamed to.
  static Result<AppendFile> create(const std::string& path, const std::string& shown_path = {});
  // Reopens a file that was created and closed before, to append to it. Follows no link.
  static Result<AppendFile> reopen(const std::string& path);

  AppendFile(AppendFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        size_(other.size_),
        cut_first_(other.cut_first_),
        path_(std::move(other.path_)),
        shown_path_(std::move(other.shown_path_)) {}
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();

  // All or nothing: after a failure in the middle the file is truncated to its old size, so that later records do not
  // follow half a record. If truncating fails, nothing is appended until it succeeds.
  Status append(std::string_view bytes);
  Status sync();
  Status close();

  std::uint64_t size() const noexcept { return size_; }
  const std::string& path() const noexcept { return path_; }
  // Whether the file was deleted: then nobody will ever read it.
  bool is_deleted() const noexcept;

 private:
  AppendFile(int fd, std::string path, std::string shown_path) noexcept
      : fd_(fd), path_(std::move(path)), shown_path_(std::move(shown_path)) {}
  Status error(std::string_view doing, int number) const;
  bool cut() noexcept;  // truncates to size_; false and errno on failure

  int fd_ = -1;
  std::uint64_t size_ = 0;  // without a partial record that could not be removed
  bool cut_first_ = false;  // there is such a partial record
  std::string path_;
  std::string shown_path_;
};

// A whole file, mapped for reading. The file must not shrink while it is mapped.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  Bytes bytes() const noexcept { return bytes_; }

 private:
  explicit MappedFile(Bytes bytes) noexcept : bytes_(bytes) {}
  Bytes bytes_;
};

// Only regular files: a pipe at this path would block the program forever.
Result<std::string> read_file(const std::string& path);
// A path that a user has given may also be a pipe, such as /dev/stdin, which is waited for. Reads at most this many
// bytes.
Result<std::string> read_stream(const std::string& path, std::size_t most);
// Replaces or creates a file as a whole (base/replace_file.h): a reader sees the old content or the new, never a part.
Status write_file(const std::string& path, std::string_view bytes);
// Creates it with all parents; no error if it exists.
Status make_directories(const std::string& path);
// `directory/name`, with one slash.
std::string join_path(std::string_view directory, std::string_view name);

}  // namespace sonde::base
