#include "stats/summary.h"

#include <algorithm>

namespace sonde::stats {

double Summary::stddev() const noexcept {
  const std::uint64_t n = finite();
  return n == 0 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(m2 / static_cast<double>(n));
}

double Summary::l2() const noexcept {
  const std::uint64_t n = finite();
  return n == 0 ? 0 : std::hypot(std::sqrt(m2), std::sqrt(static_cast<double>(n)) * mean);
}

void Summary::merge(const Summary& other) noexcept {
  const std::uint64_t mine = finite();
  const std::uint64_t theirs = other.finite();
  count += other.count;
  nan += other.nan;
  positive_infinity += other.positive_infinity;
  negative_infinity += other.negative_infinity;
  zeros += other.zeros;
  negatives += other.negatives;
  if (theirs == 0) return;
  if (mine == 0) {
    min = other.min;
    max = other.max;
    mean = other.mean;
    m2 = other.m2;
    sum_abs = other.sum_abs;
    return;
  }
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  sum_abs += other.sum_abs;
  const double total = static_cast<double>(mine) + static_cast<double>(theirs);
  const double their_share = static_cast<double>(theirs) / total;
  const double delta = other.mean - mean;
  m2 += other.m2 + delta * delta * (static_cast<double>(mine) * their_share);
  if (std::isfinite(delta)) {
    mean += delta * their_share;
  } else {  // two finite means so far apart that their difference overflows: m2 does as well, the mean must not
    mean = mean * (static_cast<double>(mine) / total) + other.mean * their_share;
  }
  mean = std::clamp(mean, min, max);  // rounding may have taken it out
}

}  // namespace sonde::stats
