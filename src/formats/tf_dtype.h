// The numbers that TensorFlow's protobufs give to element types (types.proto: DataType).
#pragma once

#include <optional>
#include <string>

#include "sonde/tensor.h"

namespace sonde::formats {

inline constexpr int kTfFloat = 1;
inline constexpr int kTfDouble = 2;
inline constexpr int kTfString = 7;

// Every DType has one.
int tf_dtype(DType dtype) noexcept;
// Empty for strings, quantised and 4-bit types, handles, and future numbers.
std::optional<DType> dtype_of_tf(int tf_dtype) noexcept;
// As it stands in protobuf's text format: "DT_FLOAT", "DT_FLOAT_REF". Numbers that TensorFlow 2.12 does not know stay
// numbers, which every parser takes, while an older one would refuse the name.
std::string tf_dtype_text(int tf_dtype);

}  // namespace sonde::formats
