// Helpers for decoders that create a Tensor (sonde/tensor.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sonde/tensor.h"

namespace sonde::tensor {

// Bytes of a dense tensor. Empty if a size is negative, there are too many dimensions, or the product of the non-zero
// sizes exceeds 2^62 bytes: then not even the strides of an empty tensor could be computed. For shapes from files.
std::optional<std::uint64_t> dense_bytes(DType dtype, const Shape& shape) noexcept;

// Strides, in elements, of a dense column-major tensor, for a shape that dense_bytes accepts.
Shape column_major(const Shape& shape) noexcept;

// Dense, column-major and not row-major at the same time: memory that is the transposed tensor in row-major order.
bool is_column_major(const TensorView& view) noexcept;

// The same memory with the axes in reverse order.
TensorView transposed(const TensorView& view) noexcept;

// Creates a dense row-major copy of a valid view.
Tensor to_tensor(const TensorView& view);

}  // namespace sonde::tensor
