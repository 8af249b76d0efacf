// Where a command writes much: standard output, or a file that is written aside and renamed at the end, so that nobody
// ever sees a part of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "sonde/status.h"

namespace sonde::cli {

// Fails where something that is not a file is in the way of `path`.
Status writable_as_file(const std::string& path);
// A name beside `path`, for a file or folder that becomes `path` when it is complete.
std::string path_aside(const std::string& path);
// The error that the caller of something aside got, about the path that the user knows.
Status about_path(const Status& error, const std::string& path);
// Puts the complete file or folder in its place.
Status move_into_place(const std::string& aside, const std::string& path);

// The sentence of a failed write there; 0 where the reason is not known.
Status standard_output_error(int error);

class Output {
 public:
  // An empty path is standard output.
  static Result<Output> open(const std::string& path);
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  // Removes a file that was not finished.
  ~Output();

  // To append to; then call `flush_some` now and then.
  std::string& buffer() noexcept { return buffer_; }
  // Writes once there is a megabyte.
  Status flush_some() { return buffer_.size() < kLarge ? Status::success() : flush(); }
  Status finish();

  // Whether a write failed because whoever read standard output has seen enough: no error for a person.
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
