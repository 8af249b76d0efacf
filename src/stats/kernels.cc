#include "stats/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/convert.h"

// This file is compiled once for each target: foreach_target.h includes it again and again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stats/kernels.cc"  // NOLINT
#include <hwy/foreach_target.h>                // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sonde::stats::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// What the vectors leave over, and everything on a target without vectors.
template <typename T>
void sum_rest(const T* HWY_RESTRICT values, std::size_t count, BlockSums& sums) {
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(values[i]);
    const double d = x - sums.shift;
    const double magnitude = std::abs(x);
    sums.sum += d;
    sums.squares += d * d;
    sums.sum_abs += magnitude;
    sums.min = std::min(sums.min, x);
    sums.max = std::max(sums.max, x);
    if (x == 0) {
      ++sums.zeros;
    } else {
      sums.smallest = std::min(sums.smallest, magnitude);
    }
    if (x < 0) ++sums.negatives;
  }
}

#if HWY_TARGET == HWY_SCALAR

template <typename T, Smallest kSmallest>
BlockSums sum_values(const T* HWY_RESTRICT values, std::size_t count) {
  BlockSums sums;
  sums.shift = sums.min = sums.max = static_cast<double>(values[0]);
  sums.smallest = std::numeric_limits<double>::infinity();
  sum_rest(values, count, sums);
  return sums;
}

#else

// Counts, min and max are taken in the lanes of T; the sums in doubles, two vectors of them for each of floats.
template <typename T, Smallest kSmallest>
BlockSums sum_values(const T* HWY_RESTRICT values, std::size_t count) {
  const hn::ScalableTag<T> d;
  const hn::ScalableTag<double> dd;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const auto shift = hn::Set(dd, static_cast<double>(values[0]));
  [[maybe_unused]] const auto one = hn::Set(dd, 1.0);
  std::size_t zeros = 0;
  std::size_t negatives = 0;
  auto min = hn::Set(d, values[0]);
  auto max = min;
  auto smallest = infinity;
  auto sum0 = hn::Zero(dd), squares0 = sum0, abs0 = sum0;
  auto sum1 = sum0, squares1 = sum0, abs1 = sum0;

  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, values + i);
    const auto is_zero = hn::Eq(v, zero);
    zeros += hn::CountTrue(d, is_zero);
    negatives += hn::CountTrue(d, hn::Lt(v, zero));
    min = hn::Min(v, min);
    max = hn::Max(v, max);
    if constexpr (kSmallest == Smallest::find) {
      smallest = hn::Min(smallest, hn::IfThenElse(is_zero, infinity, hn::Abs(v)));
    }
    if constexpr (sizeof(T) == sizeof(float)) {
      const hn::Rebind<float, decltype(dd)> half;
      const auto x0 = hn::PromoteTo(dd, hn::LoadU(half, values + i));
      const auto x1 = hn::PromoteTo(dd, hn::LoadU(half, values + i + lanes / 2));
      // x * 1 - shift: the same, but the adders are what this loop waits for, and multipliers are idle.
      const auto d0 = hn::MulSub(x0, one, shift);
      const auto d1 = hn::MulSub(x1, one, shift);
      sum0 = hn::Add(sum0, d0);
      sum1 = hn::Add(sum1, d1);
      squares0 = hn::MulAdd(d0, d0, squares0);
      squares1 = hn::MulAdd(d1, d1, squares1);
      abs0 = hn::Add(abs0, hn::Abs(x0));
      abs1 = hn::Add(abs1, hn::Abs(x1));
    } else {
      const auto d0 = hn::Sub(v, shift);
      sum0 = hn::Add(sum0, d0);
      squares0 = hn::MulAdd(d0, d0, squares0);
      abs0 = hn::Add(abs0, hn::Abs(v));
    }
  }

  BlockSums sums;
  sums.shift = static_cast<double>(values[0]);
  sums.sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(sum0, sum1)));
  sums.squares = hn::GetLane(hn::SumOfLanes(dd, hn::Add(squares0, squares1)));
  sums.sum_abs = hn::GetLane(hn::SumOfLanes(dd, hn::Add(abs0, abs1)));
  sums.min = static_cast<double>(hn::GetLane(hn::MinOfLanes(d, min)));
  sums.max = static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, max)));
  sums.smallest = static_cast<double>(hn::GetLane(hn::MinOfLanes(d, smallest)));
  sums.zeros = zeros;
  sums.negatives = negatives;
  sum_rest(values + i, count - i, sums);
  return sums;
}

#endif

// Whole vectors if all values are finite, the usual case even here, and otherwise one by one, without branches.
// (Compress would do it in vectors, but GCC copies its table of 1 kB to the stack each time.)
template <typename T>
std::size_t take_finite_values(const T* HWY_RESTRICT values, std::size_t count, T* HWY_RESTRICT out, NonFinite& rest) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t kept = 0;
  std::size_t nan = 0;
  std::size_t positive = 0;
  for (std::size_t i = 0; i < count; i += lanes) {
    if (i + lanes <= count) {
      const auto v = hn::LoadU(d, values + i);
      if (hn::AllTrue(d, hn::IsFinite(v))) {
        hn::StoreU(v, d, out + kept);
        kept += lanes;
        continue;
      }
    }
    for (std::size_t k = i; k < std::min(i + lanes, count); ++k) {
      const T x = values[k];
      out[kept] = x;
      kept += std::isfinite(x) ? 1U : 0U;
      nan += std::isnan(x) ? 1U : 0U;
      positive += x == std::numeric_limits<T>::infinity() ? 1U : 0U;
    }
  }
  rest.nan = nan;
  rest.positive_infinity = positive;
  rest.negative_infinity = count - kept - nan - positive;
  return kept;
}

// One instruction moves the chosen lanes together there; elsewhere it is a loop over the lanes.
constexpr bool kCompresses = HWY_TARGET <= HWY_AVX3;

// Copies the values that are chosen, times `factor`. Never writes past what is read already, plus one vector at the
// end.
template <class Choose, class ChooseOne>
std::size_t take_values(const float* values, std::size_t count, float* out, const Choose& choose,
                        const ChooseOne& choose_one, float factor) {
  std::size_t kept = 0;
  std::size_t i = 0;
  if constexpr (kCompresses) {
    const hn::ScalableTag<float> d;
    const std::size_t lanes = hn::Lanes(d);
    static_assert(hn::MaxLanes(d) <= kPadding);
    for (; i + lanes <= count; i += lanes) {
      const auto v = hn::LoadU(d, values + i);
      const auto chosen = choose(v);
      hn::StoreU(hn::Compress(hn::Mul(v, hn::Set(d, factor)), chosen), d, out + kept);
      kept += hn::CountTrue(d, chosen);
    }
  }
  for (; i < count; ++i) {
    const float x = values[i];
    out[kept] = x * factor;
    kept += choose_one(x) ? 1U : 0U;
  }
  return kept;
}

// Several edges for each load.
template <std::size_t kEdges, typename T>
void count_below_some(const T* HWY_RESTRICT values, std::size_t count, const T* HWY_RESTRICT edges,
                      std::uint64_t* HWY_RESTRICT counts) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const std::size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(du, 1);
  static_assert(kEdges == 1 || kEdges == 4);
  constexpr std::size_t kSecond = kEdges == 1 ? 0 : 1;  // an edge of its own, or nothing new
  const auto edge0 = hn::Set(d, edges[0]), edge1 = hn::Set(d, edges[kSecond]);
  const auto edge2 = hn::Set(d, edges[2 * kSecond]), edge3 = hn::Set(d, edges[3 * kSecond]);
  auto below0 = hn::Zero(du), below1 = below0, below2 = below0, below3 = below0;
  const auto add = [&](auto v, auto edge, auto below) {
    return hn::IfThenElse(hn::RebindMask(du, hn::Lt(v, edge)), hn::Add(below, one), below);
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, values + i);
    below0 = add(v, edge0, below0);
    if constexpr (kEdges == 4) {
      below1 = add(v, edge1, below1);
      below2 = add(v, edge2, below2);
      below3 = add(v, edge3, below3);
    }
  }
  const auto store = [&](std::size_t at, auto below) {
    counts[at] += hn::GetLane(hn::SumOfLanes(du, below));
    for (std::size_t k = i; k < count; ++k) counts[at] += values[k] < edges[at] ? 1U : 0U;
  };
  store(0, below0);
  if constexpr (kEdges == 4) {
    store(1, below1);
    store(2, below2);
    store(3, below3);
  }
}

template <typename T>
void count_values_below(const T* values, std::size_t count, const T* edges, std::size_t edge_count,
                        std::uint64_t* counts) {
  std::size_t i = 0;
  for (; i + 4 <= edge_count; i += 4) count_below_some<4>(values, count, edges + i, counts + i);
  for (; i < edge_count; ++i) count_below_some<1>(values, count, edges + i, counts + i);
}

}  // namespace

BlockSums sum_floats(const float* values, std::size_t count) {
  return sum_values<float, Smallest::skip>(values, count);
}
BlockSums sum_floats_find_smallest(const float* values, std::size_t count) {
  return sum_values<float, Smallest::find>(values, count);
}
BlockSums sum_doubles(const double* values, std::size_t count) {
  return sum_values<double, Smallest::skip>(values, count);
}
BlockSums sum_doubles_find_smallest(const double* values, std::size_t count) {
  return sum_values<double, Smallest::find>(values, count);
}

std::size_t take_finite_floats(const float* values, std::size_t count, float* out, NonFinite& rest) {
  return take_finite_values(values, count, out, rest);
}
std::size_t take_finite_doubles(const double* values, std::size_t count, double* out, NonFinite& rest) {
  return take_finite_values(values, count, out, rest);
}

std::size_t take_nonzero_floats(const float* values, std::size_t count, float* out) {
  const hn::ScalableTag<float> d;
  return take_values(
      values, count, out, [&](auto v) { return hn::Ne(v, hn::Zero(d)); }, [](float x) { return x != 0; }, 1.0F);
}

std::size_t take_subnormal_floats(const float* values, std::size_t count, float* out) {
  constexpr float kNormal = std::numeric_limits<float>::min();
  constexpr float kScale = 0x1p64F;
  static_assert(kSubnormalScale == 64);
  const hn::ScalableTag<float> d;
  return take_values(
      values, count, out,
      [&](auto v) { return hn::And(hn::Lt(hn::Abs(v), hn::Set(d, kNormal)), hn::Ne(v, hn::Zero(d))); },
      [](float x) { return std::abs(x) < kNormal && x != 0; }, kScale);
}

bool takes_fast() { return kCompresses; }

void count_floats_below(const float* values, std::size_t count, const float* edges, std::size_t edge_count,
                        std::uint64_t* counts) {
  count_values_below(values, count, edges, edge_count, counts);
}
void count_doubles_below(const double* values, std::size_t count, const double* edges, std::size_t edge_count,
                         std::uint64_t* counts) {
  count_values_below(values, count, edges, edge_count, counts);
}

void take_counters_on_target(std::uint32_t* HWY_RESTRICT to, std::uint32_t* HWY_RESTRICT a,
                             std::uint32_t* HWY_RESTRICT b, std::uint32_t* HWY_RESTRICT c, std::size_t count) {
  const hn::CappedTag<std::uint32_t, 16> d;  // 16 values are a whole number of these vectors
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto sum = hn::Add(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), hn::LoadU(d, c + i));
    if (hn::AllTrue(d, hn::Eq(sum, zero))) continue;
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), sum), d, to + i);
    hn::StoreU(zero, d, a + i);
    hn::StoreU(zero, d, b + i);
    hn::StoreU(zero, d, c + i);
  }
}

// With integers, since Highway's conversion treats infinities and NaN as numbers if the CPU has no instruction for it.
void widen_f16_on_target(const std::uint16_t* HWY_RESTRICT bits, std::size_t count, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint16_t, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const auto rebias = hn::Set(di, (127 - 15) << 23);
  const auto subnormal_unit = hn::Set(d, 0x1p-24F);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto word = hn::PromoteTo(di, hn::LoadU(narrow, bits + i));
    const auto magnitude = hn::And(word, hn::Set(di, 0x7fff));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(word, magnitude));
    // The largest exponent means infinity or NaN, so it must become the largest again: 31 + 112 + 112.
    const auto special = hn::VecFromMask(di, hn::Gt(magnitude, hn::Set(di, 0x7bff)));
    const auto normal = hn::Add(hn::Add(hn::ShiftLeft<13>(magnitude), rebias), hn::And(special, rebias));
    const auto subnormal = hn::BitCast(di, hn::Mul(hn::ConvertTo(d, magnitude), subnormal_unit));
    const auto value = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x400)), subnormal, normal);
    hn::StoreU(hn::BitCast(d, hn::Or(value, sign)), d, out + i);
  }
  for (; i < count; ++i) out[i] = tensor::to_float(Float16{bits[i]});
}

void widen_bf16_on_target(const std::uint16_t* HWY_RESTRICT bits, std::size_t count, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> wide;
  const hn::Rebind<std::uint16_t, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto words = hn::PromoteTo(wide, hn::LoadU(narrow, bits + i));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(words)), d, out + i);
  }
  for (; i < count; ++i) out[i] = tensor::to_float(BFloat16{bits[i]});
}

}  // namespace sonde::stats::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sonde::stats {

HWY_EXPORT(sum_floats);
HWY_EXPORT(sum_floats_find_smallest);
HWY_EXPORT(sum_doubles);
HWY_EXPORT(sum_doubles_find_smallest);
HWY_EXPORT(take_finite_floats);
HWY_EXPORT(take_finite_doubles);
HWY_EXPORT(take_nonzero_floats);
HWY_EXPORT(take_subnormal_floats);
HWY_EXPORT(takes_fast);
HWY_EXPORT(count_floats_below);
HWY_EXPORT(count_doubles_below);
HWY_EXPORT(take_counters_on_target);
HWY_EXPORT(widen_f16_on_target);
HWY_EXPORT(widen_bf16_on_target);

BlockSums sum_block(const float* values, std::size_t count, Smallest smallest) noexcept {
  return smallest == Smallest::find ? HWY_DYNAMIC_DISPATCH(sum_floats_find_smallest)(values, count)
                                    : HWY_DYNAMIC_DISPATCH(sum_floats)(values, count);
}

BlockSums sum_block(const double* values, std::size_t count, Smallest smallest) noexcept {
  return smallest == Smallest::find ? HWY_DYNAMIC_DISPATCH(sum_doubles_find_smallest)(values, count)
                                    : HWY_DYNAMIC_DISPATCH(sum_doubles)(values, count);
}

std::size_t take_finite(const float* values, std::size_t count, float* out, NonFinite& rest) noexcept {
  return HWY_DYNAMIC_DISPATCH(take_finite_floats)(values, count, out, rest);
}

std::size_t take_finite(const double* values, std::size_t count, double* out, NonFinite& rest) noexcept {
  return HWY_DYNAMIC_DISPATCH(take_finite_doubles)(values, count, out, rest);
}

std::size_t take_nonzero(const float* values, std::size_t count, float* out) noexcept {
  return HWY_DYNAMIC_DISPATCH(take_nonzero_floats)(values, count, out);
}

std::size_t take_subnormal(const float* values, std::size_t count, float* out) noexcept {
  return HWY_DYNAMIC_DISPATCH(take_subnormal_floats)(values, count, out);
}

bool takes_nonzero_fast() noexcept { return HWY_DYNAMIC_DISPATCH(takes_fast)(); }

void count_below(const float* values, std::size_t count, std::span<const float> edges, std::uint64_t* counts) noexcept {
  HWY_DYNAMIC_DISPATCH(count_floats_below)(values, count, edges.data(), edges.size(), counts);
}

void count_below(const double* values, std::size_t count, std::span<const double> edges,
                 std::uint64_t* counts) noexcept {
  HWY_DYNAMIC_DISPATCH(count_doubles_below)(values, count, edges.data(), edges.size(), counts);
}

void take_counters(std::uint32_t* to, const std::array<std::uint32_t*, 3>& tables, std::size_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(take_counters_on_target)(to, tables[0], tables[1], tables[2], count);
}

void widen_f16(const std::uint16_t* bits, std::size_t count, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(widen_f16_on_target)(bits, count, out);
}

void widen_bf16(const std::uint16_t* bits, std::size_t count, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(widen_bf16_on_target)(bits, count, out);
}

}  // namespace sonde::stats
#endif  // HWY_ONCE
