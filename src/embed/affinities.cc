// The graphs of t-SNE and UMAP, and where their layouts start.
#include <algorithm>
#include <cmath>
#include <limits>

#include "embed/kernels.h"
#include "embed/pca.h"
#include "embed/tsne.h"

namespace sonde::embed {
namespace {

// The probabilities of one point's neighbours, whose entropy is log(perplexity).
void calibrate(const float* distances, std::size_t count, double perplexity, float* out) {
  constexpr int kRounds = 100;
  const double wanted = std::log(perplexity);
  const double nearest = static_cast<double>(distances[0]) * static_cast<double>(distances[0]);
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  // 1 / the mean square distance beyond the nearest: the scale of the data.
  double mean = 0;
  for (std::size_t k = 0; k < count; ++k) {
    mean += static_cast<double>(distances[k]) * static_cast<double>(distances[k]) - nearest;
  }
  double beta = mean > 0 ? static_cast<double>(count) / mean : 1;
  std::vector<double> weight(count);
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0;
    double moment = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double square = static_cast<double>(distances[k]) * static_cast<double>(distances[k]) - nearest;
      weight[k] = std::exp(-beta * square);
      sum += weight[k];
      moment += weight[k] * square;
    }
    const double entropy = std::log(sum) + beta * moment / sum;
    for (std::size_t k = 0; k < count; ++k) out[k] = static_cast<float>(weight[k] / sum);
    if (std::abs(entropy - wanted) < 1e-5) return;
    if (entropy > wanted) {
      low = beta;
      beta = std::isinf(high) ? beta * 2 : (beta + high) / 2;
    } else {
      high = beta;
      beta = (beta + low) / 2;
    }
  }
}

}  // namespace

SparseRows symmetric_rows(const Neighbors& neighbors, const std::vector<float>& weights, Union how,
                          std::size_t multiple) {
  const std::size_t count = neighbors.count;
  const std::size_t points = neighbors.rows.size() / count;
  struct Edge {
    std::uint32_t to;
    float weight;
  };
  // Each edge twice, once for each end; then equal ones are merged.
  std::vector<std::size_t> begin(points + 1);
  for (std::size_t i = 0; i < points; ++i) begin[i + 1] += count;
  for (std::uint32_t to : neighbors.rows) ++begin[to + 1];
  for (std::size_t i = 0; i < points; ++i) begin[i + 1] += begin[i];
  std::vector<Edge> edges(begin[points]);
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < points; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t to = neighbors.rows[i * count + k];
      const float weight = weights[i * count + k];
      edges[next[i]++] = {to, weight};
      edges[next[to]++] = {static_cast<std::uint32_t>(i), weight};
    }
  }
  SparseRows result;
  result.begin.reserve(points + 1);
  result.begin.push_back(0);
  for (std::size_t i = 0; i < points; ++i) {
    const auto first = edges.begin() + static_cast<std::ptrdiff_t>(begin[i]);
    const auto last = edges.begin() + static_cast<std::ptrdiff_t>(begin[i + 1]);
    std::sort(first, last, [](const Edge& a, const Edge& b) { return a.to < b.to; });
    for (auto at = first; at != last;) {
      float weight = at->weight;
      auto twin = at + 1;
      if (twin != last && twin->to == at->to) {
        weight = how == Union::sum ? weight + twin->weight : weight + twin->weight - weight * twin->weight;
        ++twin;
      }
      result.columns.push_back(at->to);
      result.weights.push_back(weight);
      at = twin;
    }
    while (result.columns.size() % multiple != 0) {
      result.columns.push_back(static_cast<std::uint32_t>(i));
      result.weights.push_back(0);
    }
    result.begin.push_back(result.columns.size());
  }
  return result;
}

SparseRows joint_probabilities(const Neighbors& neighbors, double perplexity, base::TaskPool& pool) {
  const std::size_t count = neighbors.count;
  const std::size_t points = neighbors.rows.size() / count;
  std::vector<float> conditional(points * count);
  for_blocks(pool, points, 256, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      calibrate(neighbors.distances.data() + i * count, count, perplexity, conditional.data() + i * count);
    }
  });
  SparseRows joint = symmetric_rows(neighbors, conditional, Union::sum, kEdgeBlock);
  const auto scale = static_cast<float>(1 / (2 * static_cast<double>(points)));
  for (float& weight : joint.weights) weight *= scale;
  return joint;
}

Result<Matrix> start_layout(const Matrix& points, std::size_t dims, double spread, std::uint64_t seed,
                            base::TaskPool& pool) {
  const std::size_t possible = std::min({dims, points.rows, points.columns});
  Result<Pca> found = pca(points, possible, seed, pool);
  if (!found) return found.error();
  Matrix start(points.rows, dims);
  const double deviation = std::sqrt(found->variance[0]);
  const double scale = deviation > 0 ? spread / deviation : 0;
  Random random(seed);
  for (std::size_t i = 0; i < points.rows; ++i) {
    for (std::size_t k = 0; k < dims; ++k) {
      // A little noise tells duplicates apart, and fills dimensions that the data does not have.
      const double placed = k < possible ? scale * static_cast<double>(found->layout.row(i)[k]) : 0;
      start.row(i)[k] = static_cast<float>(placed + random.normal() * spread * 0.01);
    }
  }
  return start;
}

}  // namespace sonde::embed
