#include "compare/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

// This file is compiled once for each target: foreach_target.h includes it again and again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compare/kernels.cc"  // NOLINT
#include <hwy/foreach_target.h>                  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sonde::compare::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// What the vectors leave over, and everything on a target without vectors.
template <typename T>
void compare_rest(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t count, const Limits& limits,
                  BlockDifference& block) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    const double distance = std::abs(x - y);
    const double magnitude = std::abs(y);
    block.squares += distance * distance;
    block.squares_a += x * x;
    block.squares_b += y * y;
    block.product += x * y;
    block.max_abs = std::max(block.max_abs, distance);
    if (distance > 0) block.max_rel = std::max(block.max_rel, distance / magnitude);
    const double excess = distance - limits.atol;
    if (excess > 0) block.max_excess = std::max(block.max_excess, excess / magnitude);
    block.different += x != y ? 1U : 0U;
    block.outside += distance > limits.atol + limits.rtol * magnitude ? 1U : 0U;
  }
}

#if HWY_TARGET == HWY_SCALAR

template <typename T>
BlockDifference compare_values(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t count,
                               const Limits& limits) {
  BlockDifference block;
  compare_rest(a, b, count, limits, block);
  return block;
}

#else

// Some values as doubles.
template <class D, typename T>
HWY_INLINE hn::Vec<D> load_doubles(D dd, const T* HWY_RESTRICT from) {
  if constexpr (sizeof(T) == sizeof(float)) {
    const hn::Rebind<float, D> half;
    return hn::PromoteTo(dd, hn::LoadU(half, from));
  } else {
    return hn::LoadU(dd, from);
  }
}

template <typename T>
BlockDifference compare_values(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t count,
                               const Limits& limits) {
  const hn::ScalableTag<double> dd;
  const std::size_t lanes = hn::Lanes(dd);
  const auto zero = hn::Zero(dd);
  const auto rtol = hn::Set(dd, limits.rtol);
  const auto atol = hn::Set(dd, limits.atol);
  auto squares = zero, squares_a = zero, squares_b = zero, product = zero;
  auto max_abs = zero, max_rel = zero, max_excess = zero;
  std::size_t different = 0;
  std::size_t outside = 0;

  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = load_doubles(dd, a + i);
    const auto y = load_doubles(dd, b + i);
    const auto distance = hn::Abs(hn::Sub(x, y));
    const auto magnitude = hn::Abs(y);
    squares = hn::MulAdd(distance, distance, squares);
    squares_a = hn::MulAdd(x, x, squares_a);
    squares_b = hn::MulAdd(y, y, squares_b);
    product = hn::MulAdd(x, y, product);
    const auto differs = hn::Ne(x, y);
    // Equal values are the usual case, and a division takes as long as all the rest.
    if (hn::AllFalse(dd, differs)) continue;
    different += hn::CountTrue(dd, differs);
    max_abs = hn::Max(max_abs, distance);
    max_rel = hn::Max(max_rel, hn::IfThenElseZero(differs, hn::Div(distance, magnitude)));
    const auto excess = hn::Sub(distance, atol);
    max_excess = hn::Max(max_excess, hn::IfThenElseZero(hn::Gt(excess, zero), hn::Div(excess, magnitude)));
    outside += hn::CountTrue(dd, hn::Gt(distance, hn::MulAdd(rtol, magnitude, atol)));
  }

  BlockDifference block;
  block.squares = hn::GetLane(hn::SumOfLanes(dd, squares));
  block.squares_a = hn::GetLane(hn::SumOfLanes(dd, squares_a));
  block.squares_b = hn::GetLane(hn::SumOfLanes(dd, squares_b));
  block.product = hn::GetLane(hn::SumOfLanes(dd, product));
  block.max_abs = hn::GetLane(hn::MaxOfLanes(dd, max_abs));
  block.max_rel = hn::GetLane(hn::MaxOfLanes(dd, max_rel));
  block.max_excess = hn::GetLane(hn::MaxOfLanes(dd, max_excess));
  block.different = different;
  block.outside = outside;
  compare_rest(a + i, b + i, count - i, limits, block);
  return block;
}

#endif

// The bits of floats in the order of their values: neighbours differ by one, and both zeros are 0.
template <typename I>
HWY_INLINE I ordered(I bits) {
  return bits < 0 ? static_cast<I>(std::numeric_limits<I>::min() - bits) : bits;
}

// A plain loop: the compiler makes vectors of it, for the instruction set that this is compiled for.
template <typename I>
std::uint64_t largest_distance(const I* HWY_RESTRICT a, const I* HWY_RESTRICT b, std::size_t count) {
  using U = std::make_unsigned_t<I>;
  U largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const I x = ordered(a[i]);
    const I y = ordered(b[i]);
    const U distance = static_cast<U>(static_cast<U>(std::max(x, y)) - static_cast<U>(std::min(x, y)));
    largest = std::max(largest, distance);
  }
  return largest;
}

}  // namespace

BlockDifference compare_floats(const float* a, const float* b, std::size_t count, const Limits& limits) {
  return compare_values(a, b, count, limits);
}
BlockDifference compare_doubles(const double* a, const double* b, std::size_t count, const Limits& limits) {
  return compare_values(a, b, count, limits);
}
std::uint64_t largest_distance_8(const std::int8_t* a, const std::int8_t* b, std::size_t count) {
  return largest_distance(a, b, count);
}
std::uint64_t largest_distance_16(const std::int16_t* a, const std::int16_t* b, std::size_t count) {
  return largest_distance(a, b, count);
}
std::uint64_t largest_distance_32(const std::int32_t* a, const std::int32_t* b, std::size_t count) {
  return largest_distance(a, b, count);
}
std::uint64_t largest_distance_64(const std::int64_t* a, const std::int64_t* b, std::size_t count) {
  return largest_distance(a, b, count);
}

}  // namespace sonde::compare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sonde::compare {

HWY_EXPORT(compare_floats);
HWY_EXPORT(compare_doubles);
HWY_EXPORT(largest_distance_8);
HWY_EXPORT(largest_distance_16);
HWY_EXPORT(largest_distance_32);
HWY_EXPORT(largest_distance_64);

BlockDifference compare_block(const float* a, const float* b, std::size_t count, const Limits& limits) noexcept {
  return HWY_DYNAMIC_DISPATCH(compare_floats)(a, b, count, limits);
}
BlockDifference compare_block(const double* a, const double* b, std::size_t count, const Limits& limits) noexcept {
  return HWY_DYNAMIC_DISPATCH(compare_doubles)(a, b, count, limits);
}
std::uint64_t largest_ulp(const std::int8_t* a, const std::int8_t* b, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(largest_distance_8)(a, b, count);
}
std::uint64_t largest_ulp(const std::int16_t* a, const std::int16_t* b, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(largest_distance_16)(a, b, count);
}
std::uint64_t largest_ulp(const std::int32_t* a, const std::int32_t* b, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(largest_distance_32)(a, b, count);
}
std::uint64_t largest_ulp(const std::int64_t* a, const std::int64_t* b, std::size_t count) noexcept {
  return HWY_DYNAMIC_DISPATCH(largest_distance_64)(a, b, count);
}

}  // namespace sonde::compare
#endif  // HWY_ONCE
