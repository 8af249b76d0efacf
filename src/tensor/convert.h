// Elements as doubles, one at a time or in runs, for every real dtype. Exact for all of them except i64 and u64 beyond
// 2^53, which round to nearest.
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::tensor {

constexpr bool is_complex(DType dtype) noexcept { return dtype == DType::c64 || dtype == DType::c128; }

float to_float(Float16 value) noexcept;
float to_float(BFloat16 value) noexcept;
float to_float(Float8E4M3 value) noexcept;
float to_float(Float8E5M2 value) noexcept;

// Round to nearest even; overflow gives infinity (e4m3, which has none: NaN).
Float16 to_float16(float value) noexcept;
BFloat16 to_bfloat16(float value) noexcept;
Float8E4M3 to_float8_e4m3(float value) noexcept;
Float8E5M2 to_float8_e5m2(float value) noexcept;

// The element at `data`; complex numbers give their real part.
double element_as_double(const void* data, DType dtype) noexcept;

// All elements in row-major order. Fails on an invalid view.
Result<std::vector<double>> to_doubles(const TensorView& view);

}  // namespace sonde::tensor
