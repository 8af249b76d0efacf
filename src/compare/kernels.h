// The inner loops of a comparison, compiled for each instruction set and chosen at run time. Threads: pure functions of
// their arguments.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::compare {

// Elements are compared in blocks of at most this many.
inline constexpr std::size_t kBlock = 2048;

// The element-wise tolerance of numpy.isclose: |a - b| <= atol + rtol * |b|.
struct Limits {
  double rtol = 0;
  double atol = 0;
};

// All in double precision, over pairs of finite values. If a value is not finite, squares_a + squares_b is not finite
// and nothing else is valid.
struct BlockDifference {
  double squares = 0;  // of a - b
  double squares_a = 0;
  double squares_b = 0;
  double product = 0;     // of a and b
  double max_abs = 0;     // of a - b
  double max_rel = 0;     // of (a - b) / b; infinite where only b is 0
  double max_excess = 0;  // of (|a - b| - atol) / |b|: the rtol that would pass with this atol
  std::uint64_t different = 0;
  std::uint64_t outside = 0;  // of the limits
};

// 1 to kBlock values.
BlockDifference compare_block(const float* a, const float* b, std::size_t count, const Limits& limits) noexcept;
BlockDifference compare_block(const double* a, const double* b, std::size_t count, const Limits& limits) noexcept;

// The largest distance of two floats in units in the last place, given their bits as signed integers: how many values
// of the type are between them, plus one. -0 and 0 are the same. All finite.
std::uint64_t largest_ulp(const std::int8_t* a, const std::int8_t* b, std::size_t count) noexcept;
std::uint64_t largest_ulp(const std::int16_t* a, const std::int16_t* b, std::size_t count) noexcept;
std::uint64_t largest_ulp(const std::int32_t* a, const std::int32_t* b, std::size_t count) noexcept;
std::uint64_t largest_ulp(const std::int64_t* a, const std::int64_t* b, std::size_t count) noexcept;

}  // namespace sonde::compare
