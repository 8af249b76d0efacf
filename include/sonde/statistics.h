// Statistics of a tensor that the program has computed itself: on a device, or merged over ranks. Probe::record takes
// them instead of the tensor.
//
//   sonde::Statistics found = {.shape = {4096, 4096}, .count = 4096 * 4096, ...};
//   out.record(step, found);
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde {

// One bin of the log-linear grid of all histograms, which makes them mergeable: one bin for zero, and for either sign
// 16 bins per octave, from 2^-1074 to 2^1024.
struct HistogramBin {
  std::int32_t key = 0;  // histogram_key of the values in it
  std::uint64_t count = 0;
  friend bool operator==(const HistogramBin&, const HistogramBin&) = default;
};

// The bin of a finite value: 0 for zero; for x > 0 with the exponent e = floor(log2 x) and m the top four bits of its
// mantissa 1 + (e + 1074) * 16 + m; for -x the negative of that.
inline std::int32_t histogram_key(double value) noexcept {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  const std::int32_t key = 1 + (exponent - 1 + 1074) * 16 + static_cast<std::int32_t>((fraction * 2 - 1) * 16);
  return value < 0 ? -key : key;
}

// Counts are over all elements; min, max, mean, m2 and sum_abs over the finite ones.
struct Statistics {
  DType dtype = DType::f32;
  Shape shape = {0};  // with `count` elements
  std::uint64_t count = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_infinity = 0;
  std::uint64_t negative_infinity = 0;
  std::uint64_t zeros = 0;                                // of either sign
  std::uint64_t negatives = 0;                            // finite and below zero
  double min = std::numeric_limits<double>::quiet_NaN();  // NaN if nothing is finite, like max and mean
  double max = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
  double m2 = 0;  // sum of (x - mean)^2
  double sum_abs = 0;
  std::vector<HistogramBin> histogram = {};  // of the finite values, in any order; empty: none

  // Checks that a tensor can have these statistics; the error is one sentence about the first contradiction.
  // Probe::record calls it.
#if !defined(SONDE_DISABLED)
  SONDE_API Status check() const;
#else
  [[gnu::always_inline]] Status check() const { return {}; }  // checks nothing, as in Policy::check
#endif
};

}  // namespace sonde
