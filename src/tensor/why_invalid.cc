#include "tensor/why_invalid.h"

#include <algorithm>

namespace sonde::tensor {

std::string_view why_invalid(const TensorView& view) noexcept {
  static_assert(kMaxRank == 8, "the sentence below says so");
  if (!view.shape.valid() || !view.strides.valid()) return "it has more than 8 axes, and tensors have at most 8";
  if (view.mismatched) return "its shape does not match its data";
  if (std::ranges::any_of(view.shape, [](std::int64_t size) { return size < 0; }))
    return "its shape has a negative size";
  if (view.size() < 0) return "its shape has more elements than memory can hold";
  if (view.strides.rank() != view.shape.rank()) return "its numbers of strides and axes differ";
  if (static_cast<int>(view.dtype) >= kDTypeCount) return "its element type is unknown";
  if (view.data == nullptr && view.size() > 0) return "its data is a null pointer";
  return "its shape does not match its data";
}

}  // namespace sonde::tensor
