// For the tests of this module: points with a known structure, and pools of several sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "embed/points.h"

namespace sonde::embed {

inline Matrix random_points(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Matrix points(rows, columns);
  Random random(seed);
  for (float& value : points.values) value = static_cast<float>(random.normal());
  return points;
}

// Points around `clusters` centres that are far apart; point i belongs to cluster i % clusters.
inline Matrix clustered_points(std::size_t rows, std::size_t columns, std::size_t clusters, std::uint64_t seed) {
  const Matrix centers = random_points(clusters, columns, seed + 1);
  Matrix points = random_points(rows, columns, seed);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) points.row(i)[j] += 6 * centers.row(i % clusters)[j];
  }
  return points;
}

}  // namespace sonde::embed
