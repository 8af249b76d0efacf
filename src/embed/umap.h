// UMAP (McInnes, Healy and Melville 2018). The optimiser moves points in batches, each from the positions before its
// batch: the same layout for a seed with any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "embed/points.h"
#include "embed/tsne.h"

namespace sonde::embed {

struct UmapOptions {
  std::size_t dims = 2;  // or 3
  std::size_t neighbors = 15;
  double min_distance = 0.1;
  std::size_t epochs = 0;  // 0: 500 up to 10,000 points, 200 above
  std::uint64_t seed = 1;
  Metric metric = Metric::euclidean;
  const Matrix* start = nullptr;  // a layout to continue from; null: principal components
};

struct Umap {
  Matrix layout;
  std::size_t epochs = 0;
  std::size_t neighbors = 0;  // fewer than asked for if there are few points
};

Result<Umap> umap(const Matrix& points, const UmapOptions& options, base::TaskPool& pool, const Continue& progress = {},
                  const OnLayout& on_layout = {});

// The curve 1 / (1 + a d^(2 b)) that is 1 up to `min_distance` and then falls with a scale of 1, by least squares.
struct UmapCurve {
  double a = 1;
  double b = 1;
};
UmapCurve fit_curve(double min_distance);

}  // namespace sonde::embed
