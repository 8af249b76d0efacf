// Exact nearest neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "embed/points.h"

namespace sonde::embed {

// `count` neighbours of each point, nearest first; of two at the same distance, the lower row first. A point is not its
// own neighbour, but a duplicate of it is. Distances are those of the metric: Euclidean, or 1 - cosine.
struct Neighbors {
  std::size_t count = 0;
  std::vector<std::uint32_t> rows;
  std::vector<float> distances;
};

// `count` is below the number of points. All distances by products of blocks, then the chosen ones again exactly.
Result<Neighbors> nearest_neighbors(const Matrix& points, std::size_t count, Metric metric, base::TaskPool& pool,
                                    const Continue& progress = {});

// The neighbours of one point.
Neighbors neighbors_of(const Matrix& points, std::size_t row, std::size_t count, Metric metric, base::TaskPool& pool);

// 1 - cosine; 1 if one of them is zero.
double cosine_distance(const float* a, const float* b, std::size_t count) noexcept;

}  // namespace sonde::embed
