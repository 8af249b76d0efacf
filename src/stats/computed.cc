#include "stats/computed.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

namespace sonde {
namespace {

// A mean that was computed in f32 may be slightly outside of its values.
constexpr double kRounding = 1e-5;

Status inconsistent(const std::string& why) {
  return {Code::invalid_argument, "its statistics contradict each other: " + why};
}

std::string number(double value) {
  char text[32];
  const int size = std::snprintf(text, sizeof text, "%.6g", value);
  return {text, static_cast<std::size_t>(size)};
}

bool add(std::uint64_t& sum, std::uint64_t term) noexcept { return !__builtin_add_overflow(sum, term, &sum); }

// The number of finite elements.
Result<std::uint64_t> check_counts(const Statistics& s) {
  const std::int64_t elements = element_count(s.shape);
  if (elements < 0 || static_cast<int>(s.dtype) >= kDTypeCount) {
    return Status(Code::invalid_argument, "its statistics have a shape or an element type that no tensor has");
  }
  if (s.dtype == DType::c64 || s.dtype == DType::c128) {
    return Status(Code::unsupported, "complex numbers have no order, hence no statistics");
  }
  if (static_cast<std::uint64_t>(elements) != s.count) {
    return inconsistent("the shape has " + std::to_string(elements) + " elements, and the count is " +
                        std::to_string(s.count));
  }
  std::uint64_t odd = s.nan;
  if (!add(odd, s.positive_infinity) || !add(odd, s.negative_infinity) || odd > s.count) {
    return inconsistent("there are more NaN and infinities than elements");
  }
  std::uint64_t rest = s.zeros;
  if (!add(rest, s.negatives) || rest > s.count - odd) {
    return inconsistent("there are more zeros and negatives than finite elements");
  }
  return s.count - odd;
}

Status check_values(const Statistics& s, std::uint64_t finite) {
  if (finite == 0) {
    if (std::isnan(s.min) && std::isnan(s.max) && std::isnan(s.mean) && s.m2 == 0 && s.sum_abs == 0) return {};
    return inconsistent("nothing is finite, so min, max and mean are NaN, m2 and sum_abs 0");
  }
  if (!std::isfinite(s.min) || !std::isfinite(s.max) || !std::isfinite(s.mean)) {
    return inconsistent("min, max and mean are over finite values, but one of them is not finite");
  }
  if (s.min > s.max) return inconsistent("min " + number(s.min) + " is above max " + number(s.max));
  const double slack = kRounding * std::max(std::fabs(s.min), std::fabs(s.max));
  if (s.mean < s.min - slack || s.mean > s.max + slack) {
    return inconsistent("mean " + number(s.mean) + " is not between min " + number(s.min) + " and max " +
                        number(s.max));
  }
  // As !(x >= 0), which NaN fails too.
  if (!(s.m2 >= 0) || !(s.sum_abs >= 0)) return inconsistent("m2 and sum_abs are sums of what is never below 0");
  if ((s.min < 0) != (s.negatives > 0)) {
    return inconsistent("min is " + number(s.min) + " and " + std::to_string(s.negatives) + " elements are below 0");
  }
  if (s.zeros > 0 && (s.min > 0 || s.max < 0)) return inconsistent("there are zeros outside of min and max");
  return {};
}

Status check_histogram(const Statistics& s, std::uint64_t finite) {
  if (s.histogram.empty()) return {};
  std::uint64_t total = 0;
  std::uint64_t zeros = 0;
  std::uint64_t negatives = 0;
  for (const HistogramBin& bin : s.histogram) {
    if (std::abs(static_cast<std::int64_t>(bin.key)) > stats::Histogram::kMaxKey) {
      return inconsistent("the histogram has a bin " + std::to_string(bin.key) + ", which the grid does not have");
    }
    if (!add(total, bin.count)) return inconsistent("the histogram has more values than can be counted");
    if (bin.key == 0) zeros += bin.count;
    if (bin.key < 0) negatives += bin.count;
  }
  if (total != finite) {
    return inconsistent("the histogram has " + std::to_string(total) + " values, and " + std::to_string(finite) +
                        " elements are finite");
  }
  if (zeros != s.zeros || negatives != s.negatives) {
    return inconsistent("the histogram has other zeros or negatives than the counts say");
  }
  return {};
}

}  // namespace

Status Statistics::check() const {
  const auto finite = check_counts(*this);
  if (!finite) return finite.error();
  if (Status status = check_values(*this, *finite); !status.ok()) return status;
  return check_histogram(*this, *finite);
}

namespace stats {
namespace {

// The values that both structs hold. The bindings name every field: one that is added to only one of the structs, or
// to both but not here, does not compile.
auto values(const Statistics& statistics) noexcept {
  const auto& [dtype, shape, count, nan, positive_infinity, negative_infinity, zeros, negatives, min, max, mean, m2,
               sum_abs, histogram] = statistics;
  return std::tie(count, nan, positive_infinity, negative_infinity, zeros, negatives, min, max, mean, m2, sum_abs);
}
auto values(Summary& summary) noexcept {
  auto& [count, nan, positive_infinity, negative_infinity, zeros, negatives, min, max, mean, m2, sum_abs] = summary;
  return std::tie(count, nan, positive_infinity, negative_infinity, zeros, negatives, min, max, mean, m2, sum_abs);
}

}  // namespace

Result<Computed> take(const Statistics& statistics) {
  if (Status status = statistics.check(); !status.ok()) return status;
  Computed computed;
  values(computed.summary) = values(statistics);
  if (computed.summary.finite() > 0) {
    computed.summary.mean = std::clamp(statistics.mean, statistics.min, statistics.max);
  }
  if (statistics.histogram.empty()) return computed;
  auto histogram = Histogram::from_bins(statistics.histogram);
  if (!histogram) return histogram.error();
  computed.histogram = std::move(*histogram);
  return computed;
}

}  // namespace stats
}  // namespace sonde
