#include "stats/derived.h"

#include <algorithm>
#include <array>
#include <bit>

namespace sonde::stats {
namespace {

// The neighbour of a double that is not zero; of an infinity the largest finite one.
double towards_zero(double value) noexcept { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) - 1); }

// The values of a bin are from low to high, both included: within the bin, and within the extremes of the data.
struct Range {
  double low;
  double high;
};
Range range_of(const Summary& summary, std::int32_t key) noexcept {
  double low = Histogram::lower(key);
  double high = Histogram::upper(key);
  // The edge further from zero is not in the bin.
  if (key > 0) high = towards_zero(high);
  if (key < 0) low = towards_zero(low);
  return {std::clamp(low, summary.min, summary.max), std::clamp(high, summary.min, summary.max)};
}

// What a magnitude becomes when it is rounded to a target, in ascending order.
enum class Outcome : std::uint8_t { zero, vanishes, subnormal, normal, overflows };
constexpr std::size_t kOutcomes = 5;

struct Limits {
  double vanishes;          // up to here: half the smallest subnormal, which ties to zero
  double normal;            // from here on: half a step below the smallest normal number, which ties to that number
  double overflows;         // half a step above the largest number
  bool overflows_at_limit;  // whether that tie itself goes up
};
constexpr Limits limits_of(Target target) noexcept {
  switch (target) {
    case Target::f16: return {0x1p-25, 0x1p-14 - 0x1p-25, 65520, true};
    case Target::bf16: return {0x1p-134, 0x1p-126 - 0x1p-134, 0x1p128 - 0x1p119, true};
    case Target::f8_e4m3: return {0x1p-10, 0x1p-6 - 0x1p-10, 464, false};
    case Target::f8_e5m2: break;
  }
  return {0x1p-17, 0x1p-14 - 0x1p-17, 61440, true};
}

Outcome outcome_of(double magnitude, const Limits& limits) noexcept {
  if (magnitude == 0) return Outcome::zero;
  if (magnitude <= limits.vanishes) return Outcome::vanishes;
  if (magnitude < limits.normal) return Outcome::subnormal;
  if (magnitude < limits.overflows || (magnitude == limits.overflows && !limits.overflows_at_limit))
    return Outcome::normal;
  return Outcome::overflows;
}

}  // namespace

double percentile(const Summary& summary, const Histogram& histogram, double q) noexcept {
  const std::uint64_t total = histogram.total();
  if (total == 0 || summary.finite() == 0 || std::isnan(q)) return std::numeric_limits<double>::quiet_NaN();
  if (q <= 0) return summary.min;
  if (q >= 1) return summary.max;
  // The value of this rank, counted from one, is looked for.
  const double rank = std::max(1.0, std::ceil(q * static_cast<double>(total)));
  double below = 0;
  for (const Histogram::Bin& bin : histogram.bins()) {
    const auto count = static_cast<double>(bin.count);
    if (below + count < rank) {
      below += count;
      continue;
    }
    const Range range = range_of(summary, bin.key);
    return std::lerp(range.low, range.high, (rank - below - 0.5) / count);
  }
  return summary.max;
}

std::vector<Bucket> tensorboard_buckets(const Summary& summary, const Histogram& histogram, int buckets) {
  if (summary.finite() == 0 || histogram.bins().empty()) return {};
  const auto total = static_cast<double>(histogram.total());
  if (summary.min == summary.max) return {{summary.min, summary.max, total}};
  const auto size = static_cast<std::size_t>(std::max(buckets, 1));
  std::vector<Bucket> result(size);
  for (std::size_t i = 0; i < size; ++i) {
    // lerp, since max - min may be more than a double holds.
    result[i].left = i == 0 ? summary.min : result[i - 1].right;
    result[i].right = std::lerp(summary.min, summary.max, static_cast<double>(i + 1) / static_cast<double>(size));
  }
  auto bin = histogram.bins().begin();
  const auto end = histogram.bins().end();
  for (std::size_t i = 0; bin != end;) {
    const std::int32_t edge = i + 1 < size ? Histogram::key_of(result[i].right) : Histogram::kMaxKey + 1;
    std::uint64_t whole = 0;  // of the fine bins on this side of the bucket's edge: nearly all
    for (; bin != end && bin->key < edge; ++bin) whole += bin->count;
    result[i].count += static_cast<double>(whole);
    if (bin == end) break;
    const Range range = range_of(summary, bin->key);
    if (result[i].right <= range.low) {
      ++i;
      continue;
    }
    // The edge falls into this bin, perhaps with further ones: each bucket that it reaches gets a share.
    auto rest = static_cast<double>(bin->count);
    for (; i + 1 < size && result[i].right <= range.high; ++i) {
      const double width = result[i].right - std::max(result[i].left, range.low);
      const double share = static_cast<double>(bin->count) * (width / (range.high - range.low));
      result[i].count += share;
      rest -= share;
    }
    result[i].count += std::max(0.0, rest);
    ++bin;
  }
  return result;
}

CastRisk cast_risk(const Summary& summary, const Histogram& histogram, Target target) noexcept {
  const auto total = static_cast<double>(histogram.total());
  if (total == 0) return {};
  const Limits limits = limits_of(target);
  std::array<Share, kOutcomes> counts{};
  for (const Histogram::Bin& bin : histogram.bins()) {
    const Range range = range_of(summary, bin.key);
    const auto a = static_cast<std::size_t>(outcome_of(std::abs(range.low), limits));
    const auto b = static_cast<std::size_t>(outcome_of(std::abs(range.high), limits));
    const auto count = static_cast<double>(bin.count);
    if (a == b) counts[a].low += count;
    for (std::size_t outcome = std::min(a, b); outcome <= std::max(a, b); ++outcome) counts[outcome].high += count;
  }
  const auto share = [&](Outcome outcome) {
    const Share& all = counts[static_cast<std::size_t>(outcome)];
    return Share{all.low / total, all.high / total};
  };
  return {.overflow = share(Outcome::overflows),
          .underflow = share(Outcome::vanishes),
          .subnormal = share(Outcome::subnormal)};
}

}  // namespace sonde::stats
