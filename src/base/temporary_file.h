// Files that only this process needs, and only for a while.
#pragma once

#include <string>
#include <string_view>

#include "sonde/status.h"

namespace sonde::base {

// A free path in $TMPDIR, or /tmp, that ends with this text: "/tmp/sonde-1234-0-layers.onnx". Nothing is created.
std::string temporary_path(std::string_view ending);

// A new file with this content, for this user only; removed with the object. Errors name its path.
class TemporaryFile {
 public:
  static Result<TemporaryFile> create(std::string_view ending, std::string_view content);

  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  const std::string& path() const noexcept { return path_; }

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace sonde::base
