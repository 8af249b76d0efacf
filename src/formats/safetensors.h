// safetensors: named tensors, as the package of that name reads and writes them.
//
//   offset   size     what
//   0        8        n, the length of the header, u64 little-endian; at most 100,000,000
//   8        n        JSON, beginning with '{' and padded with spaces:
//                     {"__metadata__": {"key": "value", ...},
//                      "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
//                     offsets count from the end of the header
//   8 + n    ...      the elements, little-endian, row-major; the tensors cover everything to the end of the file, with
//                     neither holes nor overlaps
//
// Written headers are padded so that the elements begin at a multiple of 8. Tensors with larger elements come first,
// otherwise in the given order: so every element is aligned, which PyTorch requires.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"
#include "tensor/tensor_data.h"

namespace sonde::safetensors {

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct Entry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  base::Bytes data;  // in the file

  // A view in place: valid as long as the file's bytes are. Files of other writers may have unaligned elements.
  TensorView view() const noexcept { return sonde::view(data.data(), dtype, shape); }
};

struct File {
  std::vector<Entry> tensors;  // in the order of their data
  Metadata metadata;           // in the order of the file
};

// Reads only the header, however large the file is, and checks it as strictly as the reference does; in addition names
// must be unique, which the specification requires and the reference does not check. Types that DType lacks (4 and 6
// bits, FNUZ and E8M0) are `unsupported`.
Result<File> parse(base::Bytes file);

// A tensor to be written.
struct Spec {
  std::string_view name;
  DType dtype = DType::f32;
  Shape shape;
};

// The start of a file and the order of its data: after the header follow the dense row-major elements of
// specs[order[0]], specs[order[1]], ..., `data_bytes` in all.
struct Plan {
  std::string header;
  std::vector<std::size_t> order;
  std::uint64_t data_bytes = 0;
};
// Names are UTF-8, unique, and not "__metadata__". There is no safetensors type for c128.
Result<Plan> plan(std::span<const Spec> specs, const Metadata& metadata = {});

struct NamedView {
  std::string_view name;
  TensorView tensor;
};
Result<std::string> encode(std::span<const NamedView> tensors, const Metadata& metadata = {});

}  // namespace sonde::safetensors
