#include "embed/pca.h"

#include <algorithm>
#include <string>
#include <utility>

#include "embed/eigen.h"
#include "embed/kernels.h"
#include "embed/packed.h"

namespace sonde::embed {
namespace {

constexpr std::size_t kRows = 512;  // of points in one task

// The sum of (x - mean) (x - mean)^T over the points, as doubles; both triangles.
std::vector<double> scatter_matrix(const Matrix& points, const std::vector<float>& mean, base::TaskPool& pool) {
  const std::size_t features = points.columns;
  const std::size_t width = panel_width();
  const std::size_t panels = (features + width - 1) / width;
  const std::size_t padded = panels * width;
  const std::size_t block = std::max<std::size_t>(1, 128 / width);  // panels in one task
  const std::size_t blocks = (panels + block - 1) / block;
  std::vector<std::pair<std::size_t, std::size_t>> tiles;  // of the upper triangle
  for (std::size_t i = 0; i < blocks; ++i) {
    for (std::size_t j = i; j < blocks; ++j) tiles.emplace_back(i, j);
  }
  std::vector<float> packed(padded * kDepth);
  std::vector<float> sums(padded * padded);
  for (std::size_t first = 0; first < points.rows; first += kDepth) {
    const std::size_t depth = std::min(kDepth, points.rows - first);
    pool.run(panels, [&](std::size_t panel) {
      const std::size_t begin = panel * width;
      const std::size_t count = std::min(width, features - begin);
      float* to = packed.data() + panel * depth * width;
      for (std::size_t k = 0; k < depth; ++k, to += width) {
        const float* from = points.row(first + k) + begin;
        for (std::size_t j = 0; j < count; ++j) to[j] = from[j] - mean[begin + j];
        std::fill(to + count, to + width, 0.0F);
      }
    });
    pool.run(tiles.size(), [&](std::size_t tile) {
      const auto [i, j] = tiles[tile];
      const ProductRange range = {depth, i * block * width, std::min(panels, (i + 1) * block) * width, j * block,
                                  std::min(panels, (j + 1) * block)};
      multiply(packed.data(), packed.data(), range, sums.data() + range.first * padded + j * block * width, padded,
               first > 0);
    });
  }
  std::vector<double> scatter(features * features);
  for (std::size_t i = 0; i < features; ++i) {
    for (std::size_t j = i; j < features; ++j) {
      scatter[i * features + j] = scatter[j * features + i] = static_cast<double>(sums[i * padded + j]);
    }
  }
  return scatter;
}

// out = X^T (X in), without the scatter matrix: for many features.
void apply_points(const Matrix& points, base::TaskPool& pool, const double* in, std::size_t count, double* out) {
  const std::size_t features = points.columns;
  std::vector<float> directions(in, in + count * features);
  const std::size_t tasks = std::min<std::size_t>(16, (points.rows + kRows - 1) / kRows);
  std::vector<double> sums(tasks * count * features);
  pool.run(tasks, [&](std::size_t task) {
    std::vector<float> part(count * features);
    double* sum = sums.data() + task * count * features;
    const std::size_t last = points.rows * (task + 1) / tasks;
    std::size_t in_part = 0;
    const auto flush = [&] {
      for (std::size_t i = 0; i < part.size(); ++i) sum[i] += static_cast<double>(std::exchange(part[i], 0.0F));
      in_part = 0;
    };
    for (std::size_t i = points.rows * task / tasks; i < last; ++i) {
      for (std::size_t c = 0; c < count; ++c) {
        const float* direction = directions.data() + c * features;
        add_scaled(part.data() + c * features, points.row(i), dot(points.row(i), direction, features), features);
      }
      if (++in_part == 256) flush();
    }
    flush();
  });
  std::fill_n(out, count * features, 0.0);
  for (std::size_t task = 0; task < tasks; ++task)
    add_scaled(out, sums.data() + task * count * features, 1.0, count * features);
}

double total_squares(const Matrix& points, base::TaskPool& pool) {
  std::vector<double> sums((points.rows + kRows - 1) / kRows);
  for_blocks(pool, points.rows, kRows, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      sums[first / kRows] += static_cast<double>(dot(points.row(i), points.row(i), points.columns));
    }
  });
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

}  // namespace

Result<Pca> pca(const Matrix& points, std::size_t dims, std::uint64_t seed, base::TaskPool& pool,
                const Continue& progress) {
  if (points.rows < 2) {
    return Status{Code::invalid_argument, "there is 1 point, but principal components need at least 2"};
  }
  if (dims == 0 || dims > std::min(points.rows, points.columns)) {
    return Status{Code::invalid_argument, std::to_string(dims) + " dimensions are not possible: the data has " +
                                              std::to_string(points.rows) + " points of " +
                                              std::to_string(points.columns) + " features; ask for at most " +
                                              std::to_string(std::min(points.rows, points.columns))};
  }
  if (!goes_on(progress, "pca", 0, 3)) return cancelled();
  Pca result;
  result.mean = column_means(points, pool);
  const std::vector<float> mean(result.mean.begin(), result.mean.end());
  const std::size_t features = points.columns;
  const double divisor = static_cast<double>(points.rows - 1);
  Eigen found;
  if (features <= kLargestCovariance) {
    const std::vector<double> scatter = scatter_matrix(points, mean, pool);
    for (std::size_t i = 0; i < features; ++i) result.total_variance += scatter[i * features + i] / divisor;
    if (!goes_on(progress, "pca", 1, 3)) return cancelled();
    found = largest_eigen(
        [&](const double* in, std::size_t count, double* out) {
          pool.run(count, [&](std::size_t c) {
            for (std::size_t i = 0; i < features; ++i) {
              out[c * features + i] = dot(scatter.data() + i * features, in + c * features, features);
            }
          });
        },
        features, dims, seed);
  } else {
    Matrix centered = points;
    center(centered, pool);
    result.total_variance = total_squares(centered, pool) / divisor;
    found = largest_eigen(
        [&](const double* in, std::size_t count, double* out) { apply_points(centered, pool, in, count, out); },
        features, dims, seed);
  }
  if (!goes_on(progress, "pca", 2, 3)) return cancelled();
  result.components = Matrix(dims, features);
  for (std::size_t i = 0; i < dims * features; ++i) result.components.values[i] = static_cast<float>(found.vectors[i]);
  for (std::size_t k = 0; k < dims; ++k) result.variance.push_back(std::max(0.0, found.values[k]) / divisor);
  result.layout = Matrix(points.rows, dims);
  for_blocks(pool, points.rows, kRows, [&](std::size_t first, std::size_t last) {
    std::vector<float> centered(features);
    for (std::size_t i = first; i < last; ++i) {
      for (std::size_t j = 0; j < features; ++j) centered[j] = points.row(i)[j] - mean[j];
      for (std::size_t k = 0; k < dims; ++k) {
        result.layout.row(i)[k] = dot(centered.data(), result.components.row(k), features);
      }
    }
  });
  goes_on(progress, "pca", 3, 3);
  return result;
}

}  // namespace sonde::embed
