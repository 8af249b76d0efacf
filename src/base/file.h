// Files and directories: the only place in the project that opens them. Every error names the path and the reason.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "sonde/status.h"

namespace sonde {

// The Status of a failed system call: "cannot <doing> '<path>': <reason of errno>".
Status system_error(std::string_view doing, std::string_view path, int error);

// A descriptor for reading what is a regular file; of a pipe, a directory, a socket or a device the Status says that it
// is none, without waiting. For the rest of this module.
Result<int> open_regular_file(const std::string& path);

// A file that only grows. Not safe for several threads at once.
class AppendFile {
 public:
  // Fails if the path exists: two writers never share a file.
  static Result<AppendFile> create(const std::string& path);
  // One that was created and closed before, to go on at its end. Follows no link.
  static Result<AppendFile> reopen(const std::string& path);

  AppendFile(AppendFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), size_(other.size_), path_(std::move(other.path_)) {}
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();

  // All of it or nothing: after a failure in the middle the file is cut back to where it was, so that what follows
  // later is not behind half a record.
  Status append(std::string_view bytes);
  Status sync();
  Status close();
  // Lets go of the descriptor without any further effect on the file, e.g. in a forked child.
  void abandon() noexcept;

  std::uint64_t size() const noexcept { return size_; }
  const std::string& path() const noexcept { return path_; }
  // Whether somebody has deleted it: then nobody will ever read what is written.
  bool is_deleted() const noexcept;

 private:
  AppendFile(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::string path_;
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

// Only regular files: in the place of a file that a program keeps, a pipe would stop it for ever.
Result<std::string> read_file(const std::string& path);
// What a person has named may be a pipe, too, such as /dev/stdin, and is waited for. At most so many bytes of it.
Result<std::string> read_stream(const std::string& path, std::size_t most);
// Written aside and renamed, so that a reader sees the old content or the new, never a part.
Status write_file(const std::string& path, std::string_view bytes);
// With all parents; no error if it is there.
Status make_directories(const std::string& path);
// `directory/name`, with one slash.
std::string join_path(std::string_view directory, std::string_view name);

}  // namespace sonde
