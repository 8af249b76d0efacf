// Where a command writes much: standard output, or a temporary file that is renamed at the end, so that nobody ever
// sees a part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "sonde/status.h"

namespace sonde::cli {

// What becomes of a file that is there already.
enum class Existing : std::uint8_t { refuse, replace };

// Fails where something is in the way of `path`: a directory, say, or a file that must not be replaced.
Status writable_as_file(const std::string& path, Existing existing);
// A name beside `path`, for a file or folder that becomes `path` when it is complete.
std::string temporary_path(const std::string& path);
// An error about the temporary file, told of the path that the user knows.
Status about_path(const Status& error, const std::string& path);
// Puts the complete file or folder in its place.
Status move_into_place(const std::string& temporary, const std::string& path);

// The sentence of a failed write there; 0 where the reason is not known.
Status standard_output_error(int error);

class Output {
 public:
  // An empty path is standard output.
  static Result<Output> open(const std::string& path, Existing existing);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  // Removes a file that was not finished.
  ~Output();

  // To append to; then call `flush_some` now and then.
  std::string& buffer() noexcept { return buffer_; }
  // Writes once there is a megabyte.
  Status flush_some() { return buffer_.size() < kLarge ? Status::success() : flush(); }
  Status finish();

  // Whether a write failed because the reader of standard output has seen enough: no error for a person.
  bool reader_left() const noexcept { return reader_left_; }

 private:
  static constexpr std::size_t kLarge = std::size_t{1} << 20;
  Output() { buffer_.reserve(kLarge + (kLarge >> 2)); }
  Status flush();

  std::string buffer_;
  std::optional<AppendFile> file_;
  std::string path_;
  bool reader_left_ = false;
};

}  // namespace sonde::cli
