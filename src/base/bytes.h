// Reading and writing little-endian values, and unsigned and zigzag varints, in memory. ByteReader never reads past its
// end: the first short read makes it fail, and everything it returns from then on is zero or empty.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace sonde::base {

static_assert(std::endian::native == std::endian::little, "big-endian hosts need byte swaps here");

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
  requires std::is_trivially_copyable_v<T>
T load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
  requires std::is_arithmetic_v<T>
void put(std::string& out, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out.append(raw, sizeof value);
}

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}
// The same without a bounds check: there must be 10 bytes. Returns the end of the written bytes.
inline char* write_varint(char* at, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}
inline std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline void put_zigzag(std::string& out, std::int64_t value) { put_varint(out, zigzag(value)); }

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) noexcept : bytes_(bytes) {}

  bool ok() const noexcept { return ok_; }
  bool done() const noexcept { return !ok_ || position_ == bytes_.size(); }
  std::size_t position() const noexcept { return position_; }
  std::size_t remaining() const noexcept { return ok_ ? bytes_.size() - position_ : 0; }

  template <class T>
    requires std::is_arithmetic_v<T>
  T get() noexcept {
    const Bytes raw = take(sizeof(T));
    return raw.size() == sizeof(T) ? load<T>(raw.data()) : T{};
  }

  Bytes take(std::uint64_t count) noexcept {
    if (!ok_ || count > bytes_.size() - position_) {
      ok_ = false;
      return {};
    }
    const Bytes raw = bytes_.subspan(position_, count);
    position_ += count;
    return raw;
  }

  std::uint64_t varint() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<std::uint8_t>();
      if (!ok_) return 0;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::int64_t zigzag() noexcept {
    const std::uint64_t raw = varint();
    return static_cast<std::int64_t>((raw >> 1) ^ (~(raw & 1) + 1));
  }

 private:
  Bytes bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace sonde::base
