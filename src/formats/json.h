// Basic JSON output: strings and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sonde/tensor.h"

namespace sonde {

// In quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);
// Parses to the same double. JSON has no NaN and infinities: they are "NaN", "Infinity" and "-Infinity", in quotes.
std::string json_number(double value);
std::string json_shape(const Shape& shape);

}  // namespace sonde
