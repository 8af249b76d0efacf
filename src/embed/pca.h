// Principal components: the exact ones of all points, from the covariance matrix up to kLargestCovariance features, and
// by iteration on the points themselves above.
#pragma once

#include <cstdint>
#include <vector>

#include "embed/points.h"

namespace sonde::embed {

inline constexpr std::size_t kLargestCovariance = 2048;

struct Pca {
  Matrix layout;                 // the points in the new coordinates
  Matrix components;             // a row for each dimension: a direction of length 1
  std::vector<double> mean;      // of each feature
  std::vector<double> variance;  // along each component, with rows - 1 as the divisor
  double total_variance = 0;     // of all features
};

// `dims` is at most the number of points and of features, which pca() checks.
Result<Pca> pca(const Matrix& points, std::size_t dims, std::uint64_t seed, base::TaskPool& pool,
                const Continue& progress = {});

}  // namespace sonde::embed
