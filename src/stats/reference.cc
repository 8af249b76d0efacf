#include "stats/reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace sonde::stats {

static_assert(std::numeric_limits<long double>::max_exponent > std::numeric_limits<double>::max_exponent,
              "reference_summary needs a long double with a wider exponent than double");

Summary reference_summary(std::span<const double> values) noexcept {
  Summary summary;
  summary.count = values.size();
  long double sum = 0;
  long double sum_abs = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -min;
  for (const double x : values) {
    if (std::isnan(x)) {
      ++summary.nan;
    } else if (std::isinf(x)) {
      ++(x > 0 ? summary.positive_infinity : summary.negative_infinity);
    } else {
      if (x == 0) ++summary.zeros;
      if (x < 0) ++summary.negatives;
      min = std::min(min, x);
      max = std::max(max, x);
      sum += static_cast<long double>(x);
      sum_abs += static_cast<long double>(std::abs(x));
    }
  }
  if (summary.finite() == 0) return summary;
  const long double mean = sum / static_cast<long double>(summary.finite());
  long double m2 = 0;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    const long double d = static_cast<long double>(x) - mean;
    m2 += d * d;
  }
  // Adding zero makes -0 a +0, so that equal data give equal bits.
  summary.min = min + 0.0;
  summary.max = max + 0.0;
  summary.mean = std::clamp(static_cast<double>(mean), min, max);  // the quotient may have been rounded out of it
  summary.m2 = static_cast<double>(m2);
  summary.sum_abs = static_cast<double>(sum_abs);
  return summary;
}

Histogram reference_histogram(std::span<const double> values) {
  std::map<std::int32_t, std::uint64_t> counts;
  for (const double x : values) {
    if (std::isfinite(x)) ++counts[Histogram::key_of(x)];
  }
  std::vector<Histogram::Bin> bins;
  bins.reserve(counts.size());
  for (const auto& [key, count] : counts) bins.push_back({key, count});
  return *Histogram::from_bins(std::move(bins));
}

}  // namespace sonde::stats
