// Converts elements of any real dtype, dense or strided, to the values that the kernels take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sonde/tensor.h"

namespace sonde::stats {

// Whether every value of the dtype is a float; the others are doubles (i64 and u64 beyond 2^53 by rounding to nearest).
bool is_float_exact(DType dtype) noexcept;

// Writes `count` elements, `stride` elements apart, from `at`, which need not be aligned. Only for dtypes that are
// float exact.
void gather(DType dtype, const std::byte* at, std::int64_t count, std::int64_t stride, float* out) noexcept;
// Only for real dtypes that are not.
void gather(DType dtype, const std::byte* at, std::int64_t count, std::int64_t stride, double* out) noexcept;

}  // namespace sonde::stats
