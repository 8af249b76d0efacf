// The inner loops, compiled for each instruction set and chosen at run time. Threads: pure functions of their
// arguments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sonde::stats {

// Values are processed in blocks of at most this many: the second pass over a block (the histogram) finds it in the L1
// cache, and the shift of its sums stays close to its mean.
inline constexpr std::size_t kBlock = 2048;

// One pass over a block. The sums are over x - shift, in double precision, with the block's first value as the shift:
// that value is part of the block, so the sum of squares is at most (count + 1) times m2, and m2 can be computed from
// it. If `squares` is not finite, either a value of the block was not finite and nothing here is valid, or the sums
// overflowed a double, which only doubles can do, and the rest is still valid.
struct BlockSums {
  double shift = 0;
  double sum = 0;
  double squares = 0;
  double sum_abs = 0;
  double min = 0;
  double max = 0;
  double smallest = 0;  // magnitude of the non-zero values; infinity if there are none
  std::uint64_t zeros = 0;
  std::uint64_t negatives = 0;
};

// Whether to compute BlockSums::smallest, which only the histogram needs.
enum class Smallest : bool { skip, find };

// 1 to kBlock values.
BlockSums sum_block(const float* values, std::size_t count, Smallest smallest) noexcept;
BlockSums sum_block(const double* values, std::size_t count, Smallest smallest) noexcept;

struct NonFinite {
  std::uint64_t nan = 0;
  std::uint64_t positive_infinity = 0;
  std::uint64_t negative_infinity = 0;
};
// Copies the finite ones of `count` values, in order, to `out`, which must have room for all; returns their number.
std::size_t take_finite(const float* values, std::size_t count, float* out, NonFinite& rest) noexcept;
std::size_t take_finite(const double* values, std::size_t count, double* out, NonFinite& rest) noexcept;

// Copies the values that are not zero, in order, to `out`, which may be `values` itself and must have room for `count`
// and kPadding more; returns their number.
inline constexpr std::size_t kPadding = 64;
std::size_t take_nonzero(const float* values, std::size_t count, float* out) noexcept;
// Whether that is much cheaper than what it takes to count a zero.
bool takes_nonzero_fast() noexcept;
// The same for values that are subnormal, multiplied by 2^kSubnormalScale, which makes them normal.
inline constexpr int kSubnormalScale = 64;
std::size_t take_subnormal(const float* values, std::size_t count, float* out) noexcept;

// Adds to each of `counts` the number of values below the edge. A NaN is below none.
void count_below(const float* values, std::size_t count, std::span<const float> edges, std::uint64_t* counts) noexcept;
void count_below(const double* values, std::size_t count, std::span<const double> edges,
                 std::uint64_t* counts) noexcept;

// Moves the counts of three tables to another one; their sums fit 32 bits, and `count` is a multiple of 16.
void take_counters(std::uint32_t* to, const std::array<std::uint32_t*, 3>& tables, std::size_t count) noexcept;

// From the bits of f16 and bf16 to floats, exactly.
void widen_f16(const std::uint16_t* bits, std::size_t count, float* out) noexcept;
void widen_bf16(const std::uint16_t* bits, std::size_t count, float* out) noexcept;

}  // namespace sonde::stats
