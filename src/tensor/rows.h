// Some rows of a tensor: indices of its first axis, which is usually the batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/tensor.h"

namespace sonde::tensor {

// The first rows, in place; the tensor itself if it has no more, or no axes.
TensorView first_rows(const TensorView& view, std::int64_t rows) noexcept;

// `rows` different indices below `total`, ascending; all of them if there are no more. Deterministic for a seed.
std::vector<std::int64_t> random_rows(std::int64_t total, std::int64_t rows, std::uint64_t seed);

// Bytes that these rows take when dense.
std::size_t row_bytes(const TensorView& view, std::size_t rows) noexcept;
// Writes them to `out`, dense and row-major, and returns the view of the copy. The tensor has at least one axis.
TensorView copy_rows(const TensorView& view, std::span<const std::int64_t> rows, void* out) noexcept;

}  // namespace sonde::tensor
