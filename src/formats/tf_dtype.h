// The numbers that TensorFlow's protobufs give to element types (types.proto: DataType).
#pragma once

#include <optional>

#include "sonde/tensor.h"

namespace sonde {

inline constexpr int kTfFloat = 1;
inline constexpr int kTfDouble = 2;
inline constexpr int kTfString = 7;

// Every DType has one.
int tf_dtype(DType dtype) noexcept;
// Empty for strings, quantised and 4-bit types, handles, and future numbers.
std::optional<DType> dtype_of_tf(int tf_dtype) noexcept;

}  // namespace sonde
