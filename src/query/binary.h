// Columns of numbers, little-endian, one after the other.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace sonde::query {

static_assert(std::endian::native == std::endian::little, "columns are copied as they are in memory");

class BinaryWriter {
 public:
  void text(const char (&four)[5]) { out_.append(four, 4); }
  template <class Number>
  void put(Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }
  template <class Number>
  void column(std::span<const Number> numbers) {
    out_.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  }
  // Aligns the next column of doubles.
  void align() { out_.resize((out_.size() + 7) / 8 * 8); }
  std::size_t size() const noexcept { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace sonde::query
