// Writing protobuf's wire format: fields one after the other, each a key (field number << 3 | type) and a value. Sizes
// come before contents, so that a message that holds megabytes is written once, in place. Reading is protozero's work.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace sonde::wire {

enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  return static_cast<std::size_t>(std::bit_width(value | 1) + 6) / 7;
}
// Size of a whole field with this many bytes of content: text, a message, packed numbers. Only for field numbers below
// 16.
constexpr std::size_t bytes_field_size(std::size_t content) noexcept { return 1 + varint_size(content) + content; }

inline void put_key(std::string& out, std::uint32_t field, Type type) {
  base::put_varint(out, field << 3 | static_cast<std::uint32_t>(type));
}
inline void put_integer(std::string& out, std::uint32_t field, std::int64_t value) {
  put_key(out, field, Type::varint);
  base::put_varint(out, static_cast<std::uint64_t>(value));
}
inline void put_float(std::string& out, std::uint32_t field, float value) {
  put_key(out, field, Type::fixed32);
  base::put(out, value);
}
inline void put_double(std::string& out, std::uint32_t field, double value) {
  put_key(out, field, Type::fixed64);
  base::put(out, value);
}
// The caller then appends this many bytes.
inline void put_bytes_header(std::string& out, std::uint32_t field, std::size_t size) {
  put_key(out, field, Type::bytes);
  base::put_varint(out, size);
}
inline void put_bytes(std::string& out, std::uint32_t field, std::string_view content) {
  put_bytes_header(out, field, content.size());
  out += content;
}

// The same, unless the value is the default, which protobuf omits.
inline void put_integer_unless_zero(std::string& out, std::uint32_t field, std::int64_t value) {
  if (value != 0) put_integer(out, field, value);
}
inline void put_double_unless_zero(std::string& out, std::uint32_t field, double value) {
  if (std::bit_cast<std::uint64_t>(value) != 0) put_double(out, field, value);
}
inline void put_bytes_unless_empty(std::string& out, std::uint32_t field, std::string_view content) {
  if (!content.empty()) put_bytes(out, field, content);
}

}  // namespace sonde::wire
