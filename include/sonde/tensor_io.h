// Tensors in files: NumPy's npy and npz, and safetensors. It also includes captures (sonde/capture.h), checkpoints
// (sonde/checkpoint.h) and what policies keep (sonde/kept.h), which consist of such files.
//
//   auto kernel = sonde::load_npy("kernel.npy");                       // a copy
//   if (!kernel) { std::cerr << kernel.error().message() << '\n'; return 1; }
//   auto saved = sonde::save_safetensors("model.safetensors", {{"kernel", kernel->view()}}, {{"epoch", "3"}});
//
//   auto model = sonde::TensorFile::open("model.safetensors");         // any of the three formats
//   for (const std::string& name : model->names()) std::cout << name << '\n';
//   auto in_place = model->view("kernel");                             // reads only this tensor, even of a large file
//
// The calls throw nothing, and every error is one sentence that names the file. All calls are safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde {

namespace tensor_files {
class Contents;
}  // namespace tensor_files

// A tensor and its name in a file, for saving. Name and elements must live until the call returns.
struct NamedView {
  std::string_view name;
  TensorView tensor;
};

// A loaded tensor with its name.
struct NamedTensor {
  std::string name;
  Tensor tensor;

  // For saving it again; valid as long as this tensor lives.
  NamedView view() const noexcept { return {name, tensor.view()}; }
};

// Text that a safetensors file carries besides its tensors: unique keys, and values.
using FileMetadata = std::vector<std::pair<std::string, std::string>>;

enum class TensorFormat : std::uint8_t { npy, npz, safetensors };
SONDE_API std::string_view to_string(TensorFormat format) noexcept;

// ---- Saving. The file is written as `path.part-...` in the same directory, and renamed when it is complete: readers
// of `path` see the old file or the new one, and after an error the old one is unchanged. The directory must exist.
// Strided views are gathered piece by piece; a large tensor is never copied as a whole, unless it is compressed.

// Byte for byte what numpy.save writes. NumPy lacks bf16 and fp8; numpy.load(path).view(ml_dtypes.bfloat16) reads
// them.
SONDE_API Status save_npy(std::string_view path, const TensorView& tensor);

// `deflate` is what numpy.savez_compressed does. It takes memory for one tensor, and time; trained weights hardly
// shrink.
enum class Compression : std::uint8_t { none, deflate };

// Names are UTF-8, not empty, and unique.
SONDE_API Status save_npz(std::string_view path, const std::vector<NamedView>& tensors,
                          Compression compression = Compression::none);

// Names are UTF-8 and unique. This format has no type for complex numbers of 16 bytes.
SONDE_API Status save_safetensors(std::string_view path, const std::vector<NamedView>& tensors,
                                  const FileMetadata& metadata = {});

// ---- Loading whole files. A file of another format is an error, whatever its name is.

SONDE_API Result<Tensor> load_npy(std::string_view path);
SONDE_API Result<std::vector<NamedTensor>> load_npz(std::string_view path);

struct Safetensors {
  std::vector<NamedTensor> tensors;  // in the order of the file
  FileMetadata metadata;
};
SONDE_API Result<Safetensors> load_safetensors(std::string_view path);

// ---- Looking into a file. The file is mapped: opening reads its directory, later calls read only what they return,
// however large the file is. TensorFile is a handle: copies share the mapping, which lives as long as one of them. The
// file may be replaced or deleted meanwhile, which does not affect the mapping, but it must not be truncated or
// overwritten in place.

struct TensorInfo {
  DType dtype = DType::f32;
  Shape shape;
};

class TensorFile {
 public:
  // The content decides the format, not the name.
  SONDE_API static Result<TensorFile> open(std::string_view path);

  SONDE_API const std::string& path() const noexcept;
  SONDE_API TensorFormat format() const noexcept;
  SONDE_API std::uint64_t bytes() const noexcept;  // of the file

  // In the order of the file, each name once: if an npz archive has one twice, the last counts, as for NumPy. The one
  // tensor of an npy file has the empty name.
  SONDE_API const std::vector<std::string>& names() const noexcept;
  SONDE_API const FileMetadata& metadata() const noexcept;  // of safetensors; otherwise empty

  // The name is optional if there is only one tensor. An unknown name is `not_found`.

  // Reads no elements, unless the tensor is compressed: then it has to be expanded.
  SONDE_API Result<TensorInfo> info(std::string_view name = {}) const;
  // A view in place, valid as long as this file or a copy of the handle lives. It skips checks that would need all
  // elements to be read. The elements may be unaligned (in npz files usually): memcpy them, or pass the view to a call
  // that takes one. `unsupported` if the elements are compressed or big-endian.
  SONDE_API Result<TensorView> view(std::string_view name = {}) const;
  // A copy, row-major and aligned; in an npz archive its checksum is verified.
  SONDE_API Result<Tensor> load(std::string_view name = {}) const;

 private:
  explicit TensorFile(std::shared_ptr<const tensor_files::Contents> contents) noexcept;
  std::shared_ptr<const tensor_files::Contents> contents_;
};

}  // namespace sonde

#include "sonde/capture.h"     // IWYU pragma: export
#include "sonde/checkpoint.h"  // IWYU pragma: export
#include "sonde/kept.h"        // IWYU pragma: export
