#include "formats/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"

namespace sonde::formats {

JsonWriter& JsonWriter::text(std::string_view value) {
  constexpr std::string_view kHex = "0123456789abcdef";
  separate();
  out_ += '"';
  for (char c : base::valid_utf8(value)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out_ += {'\\', c};
    } else if (byte < 0x20) {
      out_ += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out_ += c;
    }
  }
  out_ += '"';
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::number(double value) {
  if (std::isnan(value)) return raw("\"NaN\"");
  if (std::isinf(value)) return raw(value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
  // Readers take what looks like an integer as one, which has no negative zero and ends at 64 bits.
  if (value == 0 && std::signbit(value)) return raw("-0.0");
  constexpr double kLargest = 9007199254740992;  // 2^53: up to here all integers are doubles
  std::array<char, 32> text;
  char* const last = text.data() + text.size();
  const auto end = std::abs(value) > kLargest ? std::to_chars(text.data(), last, value, std::chars_format::scientific)
                                              : std::to_chars(text.data(), last, value);
  return raw({text.data(), end.ptr});
}

JsonWriter& JsonWriter::shape(const Shape& value) {
  array();
  for (const std::int64_t size : value) integer(size);
  return end();
}

}  // namespace sonde::formats
