// Why a view cannot be read, for error messages.
#pragma once

#include <string_view>

#include "sonde/tensor.h"

namespace sonde::tensor {

// The end of a sentence about a view that is not valid(): "its shape does not match its data".
std::string_view why_invalid(const TensorView& view) noexcept;

}  // namespace sonde::tensor
