// The statistics in plain scalar code, one value after the other. The kernels are tested against it, and use it for
// blocks of f64 whose sums would overflow a double.
#pragma once

#include <span>

#include "stats/summary.h"

namespace sonde::stats {

// Sums in long double, whose exponents no sum of doubles exceeds: the mean of finite values is always finite, and m2
// and sum_abs are infinite only if they exceed the largest double.
Summary reference_summary(std::span<const double> values) noexcept;

// One bin for each key that occurs among the finite values.
Histogram reference_histogram(std::span<const double> values);

}  // namespace sonde::stats
