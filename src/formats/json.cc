#include "formats/json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"

namespace sonde {

std::string json_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20) {
      out += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_number(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  // Readers take what looks like an integer as one, which has no negative zero and ends at 64 bits.
  if (value == 0 && std::signbit(value)) return "-0.0";
  constexpr double kLargest = 9007199254740992;  // 2^53: up to here all integers are doubles
  std::array<char, 32> text;
  char* const last = text.data() + text.size();
  const auto end = std::abs(value) > kLargest ? std::to_chars(text.data(), last, value, std::chars_format::scientific)
                                              : std::to_chars(text.data(), last, value);
  return {text.data(), end.ptr};
}

std::string json_shape(const Shape& shape) {
  std::string out = "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ',';
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

}  // namespace sonde
