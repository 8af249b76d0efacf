// A file that is read in pieces while others may write, replace or delete it. Unlike a mapped one it never kills the
// program when somebody cuts it short.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "sonde/status.h"

namespace sonde {

// What tells one file from another, and whether it has changed.
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
  // Only regular files; and where `within` names a directory, only those in it, or Code::unsupported.
  static Result<InputFile> open(const std::string& path, const std::string& within = {});

  InputFile(InputFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  Result<FileState> state() const;
  // Whether its owner is the user that this process acts for; and of the link, where its path is one.
  Result<bool> belongs_to_user() const;
  // Fills `to` from that place on. Returns how many bytes there were: fewer only where the file ends.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> to) const;
  // From its beginning.
  Result<std::string> read_up_to(std::size_t most) const;

 private:
  InputFile(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::string path_;
};

}  // namespace sonde
