// For tests and fuzzers: data that are hard to summarise, and a check of summaries.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "stats/summary.h"

namespace sonde::stats {

// Within the bounds of summary.h. NaN is near NaN only, infinity near itself only.
inline bool near(double got, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  return got == expected || std::abs(got - expected) <= tolerance;
}

// The difference, or empty. `expected` comes from the reference.
inline std::string difference(const Summary& got, const Summary& expected) {
  std::string text;
  const auto compare = [&](const char* name, auto a, auto b, bool same) {
    if (same) return;
    std::ostringstream out;
    out.precision(17);
    out << name << " is " << a << " and should be " << b << "; ";
    text += out.str();
  };
  const auto exact = [&](const char* name, auto a, auto b) {
    compare(name, a, b, near(static_cast<double>(a), static_cast<double>(b), 0));
  };
  exact("count", got.count, expected.count);
  exact("nan", got.nan, expected.nan);
  exact("positive_infinity", got.positive_infinity, expected.positive_infinity);
  exact("negative_infinity", got.negative_infinity, expected.negative_infinity);
  exact("zeros", got.zeros, expected.zeros);
  exact("negatives", got.negatives, expected.negatives);
  exact("min", got.min, expected.min);
  exact("max", got.max, expected.max);
  compare("min", got.min, 0.0, got.min != 0 || !std::signbit(got.min));
  compare("max", got.max, 0.0, got.max != 0 || !std::signbit(got.max));
  const double largest = std::max(std::abs(expected.min), std::abs(expected.max));
  const double deviation = expected.stddev();
  const double m2_bound = (1e-9 + (deviation > 0 ? 1e-11 * (largest / deviation) : 0)) * expected.m2;
  // Deviations whose squares are not normal doubles are lost.
  const double lost = static_cast<double>(expected.count) * std::numeric_limits<double>::min() * 4;
  compare("mean", got.mean, expected.mean, near(got.mean, expected.mean, 1e-11 * largest + 1e-319));
  compare("m2", got.m2, expected.m2, near(got.m2, expected.m2, m2_bound + lost));
  compare("sum_abs", got.sum_abs, expected.sum_abs, near(got.sum_abs, expected.sum_abs, 1e-11 * expected.sum_abs));
  return text;
}

// Every class of floating-point numbers, their limits, any bits at all.
template <class T>
std::vector<T> adversarial(std::mt19937_64& random, std::size_t count) {
  using Limits = std::numeric_limits<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const T special[] = {T{0},
                       -T{0},
                       Limits::quiet_NaN(),
                       std::bit_cast<T>(std::bit_cast<Bits>(Limits::infinity()) | 1),  // a signalling NaN
                       std::bit_cast<T>(~Bits{0}),                                     // a NaN full of payload
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::min(),
                       -Limits::min(),
                       Limits::denorm_min(),
                       -Limits::denorm_min(),
                       std::nextafter(Limits::min(), T{0}),
                       Limits::max(),
                       Limits::lowest(),
                       T(0x1p-126),
                       std::nextafter(T(0x1p-126), T{0}),
                       std::nextafter(T(0x1p127), Limits::infinity()),
                       T{1},
                       T{-1},
                       std::nextafter(T{1}, T{0})};
  std::normal_distribution<T> normal(T{1}, T{2});
  std::vector<T> values(count);
  const auto kinds = random() % 4;  // of this vector: from well-behaved to anything
  for (T& value : values) {
    switch (random() % (kinds + 1)) {
      case 0: value = normal(random); break;
      case 1: value = normal(random) * std::exp2(static_cast<T>(random() % 40) - T{20}); break;
      case 2: value = special[random() % std::size(special)]; break;
      default: value = std::bit_cast<T>(static_cast<Bits>(random())); break;
    }
  }
  return values;
}

}  // namespace sonde::stats
