// The statistics of a tensor after one pass over it, in a form that can be merged: over the parts of a tensor, its
// copies on several ranks, or its values over many steps.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sonde/statistics.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::stats {

// Counts are over all elements; min, max, mean, m2, sum_abs over the finite ones. Merging is exact for counts, min and
// max; mean and m2 follow Chan's formula, since raw power sums lose everything on data with a large mean.
//
// Accuracy of mean, m2 and sum_abs, for summaries of up to 2^24 values in up to 10,000 merged parts, with M the
// largest magnitude among them: mean within 1e-11 * M, or within 1e-319 where doubles have no more digits; m2 within
// (1e-9 + 1e-11 * M / stddev) of itself, hence 1e-6 for a mean of 100,000 deviations; sum_abs within 1e-11 of itself.
// Sums of squares are doubles: m2 is infinite where it would exceed 1.8e308 (deviations above 1e154), and deviations
// below 1e-154 vanish in it. Only f64 data reach either.
// The mean of finite values is always finite, neither below min nor above max.
struct Summary {
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

  std::uint64_t finite() const noexcept { return count - nan - positive_infinity - negative_infinity; }
  double stddev() const noexcept;  // of the population; NaN if nothing is finite
  double l2() const noexcept;      // sqrt of the sum of squares; 0 if nothing is finite
  void merge(const Summary& other) noexcept;
};

// A log-linear histogram over the real values, with the bins and keys of sonde/statistics.h. Keys order bins as
// numbers. The grid does not depend on the dtype, so all histograms merge, exactly.
class Histogram {
 public:
  static constexpr std::uint32_t kGrid = 1;  // names the grid in files
  // Keys go from -kMaxKey to kMaxKey.
  static constexpr std::int32_t kMaxKey = (1024 + 1074) * 16;

  using Bin = HistogramBin;

  Histogram() = default;
  // Bins in any order; equal keys are added, empty bins removed. Keys outside the grid are an error.
  static Result<Histogram> from_bins(std::vector<Bin> bins);
  // Bins of the grid by ascending key, none empty.
  static Histogram from_ordered_bins(std::vector<Bin> bins) noexcept;

  std::span<const Bin> bins() const noexcept { return bins_; }  // by ascending key, none empty
  std::uint64_t total() const noexcept;                         // finite values
  void merge(const Histogram& other);
  void merge(Histogram&& other);
  friend bool operator==(const Histogram&, const Histogram&) = default;

  static std::int32_t key_of(double value) noexcept;  // of a finite value
  // The values x with key_of(x) == key are those in [lower, upper) for positive keys, (lower, upper] for negative ones.
  static double lower(std::int32_t key) noexcept;
  static double upper(std::int32_t key) noexcept;

 private:
  std::vector<Bin> bins_;
};

// One pass over a view, strided or not, of any real dtype. Fails for an invalid or a complex view. An empty view is not
// an error.
Result<Summary> summarize(const TensorView& view);
// The same, and adds the values to `histogram`.
Result<Summary> summarize(const TensorView& view, Histogram& histogram);

}  // namespace sonde::stats
