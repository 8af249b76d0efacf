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

void find_bucket_edges(const Summary& summary, const Histogram& histogram, std::size_t buckets,
                       std::vector<BucketEdge>& edges) {
  edges.resize(buckets - 1);
  // As std::lerp does it, which also works where max - min is more than a double holds, without its branches.
  const double min = summary.min;
  const double max = summary.max;
  const bool across_zero = min <= 0 && max >= 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double t = static_cast<double>(i + 1) / static_cast<double>(buckets);
    edges[i].value = across_zero ? t * max + (1 - t) * min : std::min(min + t * (max - min), max);
  }
  auto bin = histogram.bins().begin();
  const auto end = histogram.bins().end();
  std::uint64_t below = 0;  // values of the bins that are passed
  for (BucketEdge& edge : edges) {
    const std::int32_t key = Histogram::key_of(edge.value);
    for (; bin != end && bin->key < key; ++bin) below += bin->count;
    edge.below = static_cast<double>(below);
    edge.in_its_bin = 0;
    if (bin == end || bin->key != key) continue;
    const Range range = range_of(summary, key);
    if (edge.value <= range.low) continue;
    edge.in_its_bin = bin->count;
    // range.high is above range.low: the edge is at most range.high.
    edge.below += static_cast<double>(bin->count) * ((edge.value - range.low) / (range.high - range.low));
  }
}

std::vector<Bucket> buckets_between(const Summary& summary, std::uint64_t total, std::span<const BucketEdge> edges) {
  std::vector<Bucket> result(edges.size() + 1);
  double left = summary.min;
  double below = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double next = std::max(below, edges[i].below);
    result[i] = {left, edges[i].value, next - below};
    left = edges[i].value;
    below = next;
  }
  result.back() = {left, summary.max, std::max(0.0, static_cast<double>(total) - below)};
  return result;
}

std::vector<Bucket> tensorboard_buckets(const Summary& summary, const Histogram& histogram, int buckets) {
  if (summary.finite() == 0 || histogram.bins().empty()) return {};
  const std::uint64_t total = histogram.total();
  if (summary.min == summary.max) return {{summary.min, summary.max, static_cast<double>(total)}};
  std::vector<BucketEdge> edges;
  find_bucket_edges(summary, histogram, static_cast<std::size_t>(std::max(buckets, 1)), edges);
  return buckets_between(summary, total, edges);
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
