// A total order of doubles, including NaN, so that sorting by time is always defined.
#pragma once

#include <bit>
#include <cstdint>

namespace sonde::index {

// Unsigned integers in the order of the doubles.
inline std::uint64_t ordered(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}
inline double from_ordered(std::uint64_t bits) noexcept {
  return std::bit_cast<double>((bits >> 63) != 0 ? bits & ~(std::uint64_t{1} << 63) : ~bits);
}

// The order of the points of one writer: by step, points of one step by time. A stable sort keeps the order in the file
// for the rest.
struct BeforeByStep {
  template <class Point>
  bool operator()(const Point& a, const Point& b) const noexcept {
    return a.step != b.step ? a.step < b.step : ordered(a.time) < ordered(b.time);
  }
};

}  // namespace sonde::index
