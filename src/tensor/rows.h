// Some rows of a tensor: indices of its first axis, which as a rule is the batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/tensor.h"

namespace sonde {

// The first ones, in place; the tensor itself where it has no more, or no axes.
TensorView first_rows(const TensorView& view, std::int64_t rows) noexcept;

// `rows` different indices below `total`, ascending; all of them where there are no more. The same for the same seed.
std::vector<std::int64_t> random_rows(std::int64_t total, std::int64_t rows, std::uint64_t seed);

// Bytes that these rows take when dense.
std::size_t row_bytes(const TensorView& view, std::size_t rows) noexcept;
// Writes them to `out`, dense and row-major, and returns the view of what was written. The tensor has an axis.
TensorView copy_rows(const TensorView& view, std::span<const std::int64_t> rows, void* out) noexcept;

}  // namespace sonde
