// A file that is read in pieces while others may write, replace or delete it. Unlike a mapped file it does not kill the
// program when somebody truncates it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "sonde/status.h"

namespace sonde::base {

// Identifies a file, and tells whether it has changed.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970

  bool same_file(const FileState& other) const noexcept { return device == other.device && inode == other.inode; }
  friend bool operator==(const FileState&, const FileState&) = default;
};
Result<FileState> file_state(const std::string& path);

class InputFile {
 public:
  // Only regular files; if `within` names a directory, only those inside it, otherwise Code::unsupported.
  static Result<InputFile> open(const std::string& path, const std::string& within = {});

  InputFile(InputFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  Result<FileState> state() const;
  // Whether the user of this process owns it; and the link, if its path is one.
  Result<bool> belongs_to_user() const;
  // Fills `to` from this offset on. Returns the number of bytes: fewer only at the end of the file.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> to) const;
  // From its beginning.
  Result<std::string> read_up_to(std::size_t most) const;

 private:
  InputFile(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::string path_;
};

}  // namespace sonde::base
