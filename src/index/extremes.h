// The smallest and the largest of up to 256 numbers, and their positions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sonde::index {

// Of the finite values; the first of equal ones counts. Undefined, except `any`, if there are none.
struct Extremes {
  double min = 0;
  double max = 0;
  std::uint8_t min_at = 0;
  std::uint8_t max_at = 0;
  bool any = false;
};

// Several at a time, as below, since each operation waits for the previous one.
inline constexpr std::size_t kLanes = 8;

inline bool all_finite(const double* values, std::size_t count) noexcept {
  double nothing[kLanes] = {};  // a number minus itself is 0, unless it is not finite
  const std::size_t even = count - count % kLanes;
  for (std::size_t i = 0; i < even; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) nothing[lane] += values[i + lane] - values[i + lane];
  }
  for (std::size_t i = even; i < count; ++i) nothing[0] += values[i] - values[i];
  for (std::size_t lane = 1; lane < kLanes; ++lane) nothing[0] += nothing[lane];
  return nothing[0] == 0;
}

// For finite values only, and at least one.
inline Extremes extremes_of_finite(const double* values, std::size_t count) noexcept {
  double low[kLanes];
  double high[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) low[lane] = high[lane] = values[0];
  const std::size_t even = count - count % kLanes;
  for (std::size_t i = 0; i < even; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
    }
  }
  for (std::size_t i = even; i < count; ++i) {
    low[0] = std::min(low[0], values[i]);
    high[0] = std::max(high[0], values[i]);
  }
  Extremes found = {.any = true};
  found.min = *std::min_element(low, low + kLanes);
  found.max = *std::max_element(high, high + kLanes);
  found.min_at = static_cast<std::uint8_t>(std::find(values, values + count, found.min) - values);
  found.max_at = static_cast<std::uint8_t>(std::find(values, values + count, found.max) - values);
  return found;
}

inline Extremes extremes_of(const double* values, std::size_t count) noexcept {
  if (count > 0 && all_finite(values, count)) return extremes_of_finite(values, count);
  Extremes found;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[i];
    if (!std::isfinite(value)) continue;
    if (!found.any || value < found.min) {
      found.min = value;
      found.min_at = static_cast<std::uint8_t>(i);
    }
    if (!found.any || value > found.max) {
      found.max = value;
      found.max_at = static_cast<std::uint8_t>(i);
    }
    found.any = true;
  }
  return found;
}

}  // namespace sonde::index
