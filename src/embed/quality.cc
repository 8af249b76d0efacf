#include "embed/quality.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "embed/eigen.h"
#include "embed/kernels.h"
#include "embed/neighbors.h"

namespace sonde::embed {
namespace {

// Distances of one point to all, in the metric's order.
void distances_from(const Matrix& points, std::size_t row, Metric metric, std::vector<float>& out) {
  for (std::size_t j = 0; j < points.rows; ++j) {
    out[j] = metric == Metric::cosine
                 ? static_cast<float>(cosine_distance(points.row(row), points.row(j), points.columns))
                 : squared_distance(points.row(row), points.row(j), points.columns);
  }
}

// The sum over the neighbours in the layout of how far beyond `count` each is in the data.
double penalty(const Matrix& points, const Matrix& layout, std::size_t row, std::size_t count, Metric metric,
               std::vector<float>& near, std::vector<float>& far) {
  distances_from(layout, row, Metric::euclidean, near);
  distances_from(points, row, metric, far);
  near[row] = -1;  // the first of all
  std::vector<std::uint32_t> order(points.rows);
  for (std::uint32_t j = 0; j < order.size(); ++j) order[j] = j;
  const auto nearer = [&](std::uint32_t a, std::uint32_t b) {
    return near[a] < near[b] || (near[a] == near[b] && a < b);
  };
  std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(count), nearer);
  double sum = 0;
  for (std::size_t k = 0; k <= count; ++k) {
    const std::uint32_t other = order[k];
    if (other == row) continue;
    std::size_t rank = 1;
    for (std::size_t j = 0; j < points.rows; ++j) {
      rank += j != row && (far[j] < far[other] || (far[j] == far[other] && j < other)) ? 1U : 0U;
    }
    if (rank > count) sum += static_cast<double>(rank - count);
  }
  return sum;
}

}  // namespace

Result<Trustworthiness> trustworthiness(const Matrix& points, const Matrix& layout, std::size_t neighbors,
                                        Metric metric, std::size_t most_rows, base::TaskPool& pool) {
  if (points.rows != layout.rows) {
    return Status{Code::invalid_argument, "the layout has another number of points than the data"};
  }
  if (neighbors == 0 || 2 * neighbors >= points.rows) {
    return Status{Code::invalid_argument, "trustworthiness of " + std::to_string(neighbors) +
                                              " neighbours needs more than twice as many points, but there are " +
                                              std::to_string(points.rows)};
  }
  const std::size_t rows = std::min(std::max<std::size_t>(most_rows, 1), points.rows);
  constexpr std::size_t kRows = 8;
  std::vector<double> sums((rows + kRows - 1) / kRows);
  for_blocks(pool, rows, kRows, [&](std::size_t first, std::size_t last) {
    std::vector<float> near(points.rows);
    std::vector<float> far(points.rows);
    for (std::size_t i = first; i < last; ++i) {
      sums[first / kRows] += penalty(points, layout, i * points.rows / rows, neighbors, metric, near, far);
    }
  });
  double total = 0;
  for (double sum : sums) total += sum;
  const auto n = static_cast<double>(points.rows);
  const auto k = static_cast<double>(neighbors);
  return Trustworthiness{1 - total * 2 / (static_cast<double>(rows) * k * (2 * n - 3 * k - 1)), rows};
}

Status align(Matrix& layout, const Matrix& reference, Scaling scaling) {
  const std::size_t dims = layout.columns;
  if (layout.rows != reference.rows || dims != reference.columns || dims == 0 || dims > 3 || layout.rows == 0) {
    return {Code::invalid_argument,
            "the layouts have different numbers of points or dimensions, so that they cannot be aligned"};
  }
  double mean[3] = {0, 0, 0};
  double target[3] = {0, 0, 0};
  const auto n = static_cast<double>(layout.rows);
  for (std::size_t i = 0; i < layout.rows; ++i) {
    for (std::size_t k = 0; k < dims; ++k) {
      mean[k] += static_cast<double>(layout.row(i)[k]) / n;
      target[k] += static_cast<double>(reference.row(i)[k]) / n;
    }
  }
  std::vector<double> cross(dims * dims);  // M = layout^T reference
  double squares = 0;
  for (std::size_t i = 0; i < layout.rows; ++i) {
    for (std::size_t a = 0; a < dims; ++a) {
      const double x = static_cast<double>(layout.row(i)[a]) - mean[a];
      squares += x * x;
      for (std::size_t b = 0; b < dims; ++b) {
        cross[a * dims + b] += x * (static_cast<double>(reference.row(i)[b]) - target[b]);
      }
    }
  }
  // M = U S V^T from the eigenvectors of M^T M; R = U V^T maximises the agreement.
  std::vector<double> gram(dims * dims);
  for (std::size_t a = 0; a < dims; ++a) {
    for (std::size_t b = 0; b < dims; ++b) {
      for (std::size_t c = 0; c < dims; ++c) gram[a * dims + b] += cross[c * dims + a] * cross[c * dims + b];
    }
  }
  const Eigen right = eigen_of(gram, dims);
  std::vector<std::vector<double>> left;
  double stretch = 0;
  for (std::size_t k = 0; k < dims; ++k) {
    const double* v = &right.vectors[k * dims];
    const double singular = std::sqrt(std::max(0.0, right.values[k]));
    stretch += singular;
    std::vector<double> u(dims);
    for (std::size_t a = 0; a < dims; ++a) {
      for (std::size_t b = 0; b < dims; ++b) u[a] += cross[a * dims + b] * v[b];
    }
    // A direction without extent: any that is orthogonal to the others.
    for (std::size_t basis = 0; basis <= dims; ++basis) {
      for (const std::vector<double>& other : left)
        add_scaled(u.data(), other.data(), -dot(u.data(), other.data(), dims), dims);
      const double length = std::sqrt(dot(u.data(), u.data(), dims));
      if (length > 1e-9 * std::max(singular, 1e-300) && length > 1e-12 * std::sqrt(std::max(0.0, right.values[0]))) {
        for (double& value : u) value /= length;
        break;
      }
      std::ranges::fill(u, 0.0);
      if (basis < dims) u[basis] = 1;
      if (right.values[0] <= 0 && basis == k) break;
    }
    left.push_back(std::move(u));
  }
  const double scale = scaling == Scaling::fit && squares > 0 && stretch > 0 ? stretch / squares : 1;
  for (std::size_t i = 0; i < layout.rows; ++i) {
    double moved[3] = {target[0], target[1], target[2]};
    for (std::size_t k = 0; k < dims; ++k) {
      double along = 0;
      for (std::size_t a = 0; a < dims; ++a) along += (static_cast<double>(layout.row(i)[a]) - mean[a]) * left[k][a];
      for (std::size_t b = 0; b < dims; ++b) moved[b] += scale * along * right.vectors[k * dims + b];
    }
    for (std::size_t b = 0; b < dims; ++b) layout.row(i)[b] = static_cast<float>(moved[b]);
  }
  return Status::success();
}

}  // namespace sonde::embed
