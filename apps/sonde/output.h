// Large output of a command: standard output, or a file that is replaced as a whole (base/replace_file.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/replace_file.h"
#include "sonde/status.h"

namespace sonde::cli {

// What to do with an existing file.
enum class Existing : std::uint8_t { refuse, replace };

// Fails if something blocks `path`: a directory, say, or a file that must not be replaced.
Status writable_as_file(const std::string& path, Existing existing);
// A temporary name next to `path`, for a file or folder that becomes `path` when it is complete.
std::string temporary_path(const std::string& path);
// Replaces the temporary path in an error with the path that the user knows.
Status about_path(const Status& error, const std::string& path);
// Renames the complete file or folder to its final path.
Status move_into_place(const std::string& temporary, const std::string& path);

// The error for a failed write to standard output; 0 if the reason is not known.
Status standard_output_error(int error);

// Without `finish`, no file is left on the disk.
class Output {
 public:
  // An empty path is standard output.
  static Result<Output> open(const std::string& path, Existing existing);

  // The text to write; append to it, and call `flush_some` from time to time.
  std::string& buffer() noexcept { return buffer_; }
  // Writes once there is a megabyte.
  Status flush_some() { return buffer_.size() < kLarge ? Status::success() : flush(); }
  Status finish();

  // Whether a write failed because the reader closed standard output: not an error for the user.
  bool reader_left() const noexcept { return reader_left_; }

 private:
  static constexpr std::size_t kLarge = std::size_t{1} << 20;
  Output() { buffer_.reserve(kLarge + (kLarge >> 2)); }
  Status flush();

  std::string buffer_;
  std::optional<base::ReplaceFile> file_;  // none: standard output
  bool reader_left_ = false;
};

}  // namespace sonde::cli
