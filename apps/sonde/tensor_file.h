// A file with tensors, of any format that Sonde reads: those of sonde/tensor_io.h, pictures and sound. It is mapped:
// only the parts of a large file that are used are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/status.h"
#include "sonde/tensor.h"
#include "sonde/tensor_io.h"

namespace sonde::cli {

enum class FileFormat : std::uint8_t { npy, npz, safetensors, png, wav };
std::string_view to_string(FileFormat format) noexcept;

// A tensor in the file, or in `copy` if its elements cannot be used in place.
struct LoadedTensor {
  Tensor copy;
  TensorView view;
};

class TensorFile {
 public:
  // Recognises the format by the first bytes; the name only decides what a damaged file should have been. Errors name
  // the file.
  static Result<TensorFile> open(const std::string& path);

  FileFormat format() const noexcept { return format_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  // Whether it holds tensors by name, like archives.
  bool named() const noexcept { return format_ == FileFormat::npz || format_ == FileFormat::safetensors; }
  const std::vector<std::string>& names() const noexcept { return names_; }  // one empty name if not named()
  const FileMetadata& metadata() const noexcept { return metadata_; }
  std::uint32_t sample_rate() const noexcept { return sample_rate_; }  // of sound; otherwise 0

  // "f32[32,128]" if that is known without reading the tensor.
  std::optional<std::string> type(std::size_t index) const;
  // The view lives as long as this file and the result.
  Result<LoadedTensor> load(std::size_t index) const;

 private:
  TensorFile(FileFormat format, std::uint64_t bytes) : format_(format), bytes_(bytes) {}
  static Result<TensorFile> decode(FileFormat format, const std::string& path);  // png and wav

  FileFormat format_;
  std::uint64_t bytes_;
  std::vector<std::string> names_ = {""};
  FileMetadata metadata_;
  std::optional<sonde::TensorFile> tensors_;  // not for png and wav
  Tensor decoded_;                            // png and wav, which cannot be read in part
  std::uint32_t sample_rate_ = 0;
};

}  // namespace sonde::cli
