#include "embed/umap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace sonde::embed {
namespace {

constexpr std::size_t kBatch = 512;    // points that move at the same time
constexpr std::size_t kPoints = 64;    // of one task
constexpr std::size_t kNegatives = 5;  // samples that repel, for each edge that attracts
constexpr float kLargestMove = 4;

// The forces as functions of the squared distance, tabled by the upper bits of a float and interpolated: a power takes
// longer than all the rest.
class ForceTable {
 public:
  explicit ForceTable(UmapCurve curve) {
    for (std::size_t i = 0; i < kEntries; ++i) {
      const auto square = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(kLowest + i) << kShift));
      const double power = std::pow(square, curve.b);
      attraction_[i] = static_cast<float>(-2 * curve.a * curve.b * power / (square * (1 + curve.a * power)));
      repulsion_[i] = static_cast<float>(2 * curve.b / ((0.001 + square) * (1 + curve.a * power)));
    }
  }
  float attraction(float square) const { return at(attraction_, square); }
  float repulsion(float square) const { return at(repulsion_, square); }

 private:
  static constexpr int kShift = 23 - 7;  // 128 values for each power of two
  static constexpr std::uint32_t kLowest = std::uint32_t{127 - 30} << 7;
  static constexpr std::size_t kEntries = (std::size_t{30} + 24) << 7;
  using Table = std::array<float, kEntries>;

  static float at(const Table& table, float square) {
    const auto bits = std::bit_cast<std::uint32_t>(square);
    const std::uint32_t cell = std::clamp<std::uint32_t>(bits >> kShift, kLowest, kLowest + kEntries - 2) - kLowest;
    const float part = static_cast<float>(bits & ((1U << kShift) - 1)) * (1.0F / static_cast<float>(1U << kShift));
    return table[cell] + part * (table[cell + 1] - table[cell]);
  }

  Table attraction_;
  Table repulsion_;
};

// The membership of each neighbour: 1 for the nearest one, falling so that all sum to log2(count).
std::vector<float> memberships(const Neighbors& neighbors, base::TaskPool& pool) {
  const std::size_t count = neighbors.count;
  const std::size_t points = neighbors.rows.size() / count;
  double mean = 0;
  for (float distance : neighbors.distances) mean += static_cast<double>(distance);
  mean /= static_cast<double>(neighbors.distances.size());
  std::vector<float> result(points * count);
  const double wanted = std::log2(static_cast<double>(count + 1));  // umap-learn counts the point itself
  for_blocks(pool, points, 256, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const float* distances = neighbors.distances.data() + i * count;
      double nearest = 0;  // that is not a duplicate
      double own_mean = 0;
      for (std::size_t k = count; k-- > 0;) {
        if (distances[k] > 0) nearest = static_cast<double>(distances[k]);
        own_mean += static_cast<double>(distances[k]) / static_cast<double>(count);
      }
      double low = 0;
      double high = std::numeric_limits<double>::infinity();
      double sigma = 1;
      for (int round = 0; round < 64; ++round) {
        double sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
          sum += std::exp(-std::max(0.0, static_cast<double>(distances[k]) - nearest) / sigma);
        }
        if (std::abs(sum - wanted) < 1e-5) break;
        if (sum > wanted) {
          high = sigma;
          sigma = (low + high) / 2;
        } else {
          low = sigma;
          sigma = std::isinf(high) ? sigma * 2 : (low + high) / 2;
        }
      }
      sigma = std::max(sigma, 1e-3 * (nearest > 0 ? own_mean : mean));
      for (std::size_t k = 0; k < count; ++k) {
        const double beyond = std::max(0.0, static_cast<double>(distances[k]) - nearest);
        result[i * count + k] = beyond <= 0 || sigma <= 0 ? 1.0F : static_cast<float>(std::exp(-beyond / sigma));
      }
    }
  });
  return result;
}

// An edge that attracts in some epochs: in a share of them that is its weight.
struct Spring {
  std::uint32_t to;
  float period;  // epochs between two pulls
};

template <std::size_t kDims>
class Optimizer {
 public:
  Optimizer(const SparseRows& graph, const Matrix& start, const UmapOptions& options, std::size_t epochs,
            base::TaskPool& pool)
      : pool_(pool),
        count_(start.rows),
        epochs_(epochs),
        seed_(options.seed),
        forces_(fit_curve(options.min_distance)),
        y_(start.values) {
    const float heaviest = graph.weights.empty() ? 1 : std::ranges::max(graph.weights);
    begin_.push_back(0);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
        // Edges that would pull less than once are left out, as in umap-learn.
        if (graph.weights[e] * static_cast<float>(epochs) < heaviest) continue;
        springs_.push_back({graph.columns[e], heaviest / graph.weights[e]});
      }
      begin_.push_back(springs_.size());
    }
    for (const Spring& spring : springs_) next_.push_back(spring.period);
  }

  void epoch(std::size_t number) {
    const float alpha = 1 - static_cast<float>(number) / static_cast<float>(epochs_);
    const std::size_t batches = (count_ + kBatch - 1) / kBatch;
    std::vector<float> moved(kBatch * kDims);
    for (std::size_t batch = 0; batch < batches; ++batch) {
      // Points of a batch are far apart in the data's order, which often groups similar ones.
      const std::size_t in_batch = (count_ - batch + batches - 1) / batches;
      for_blocks(pool_, in_batch, kPoints, [&](std::size_t first, std::size_t last) {
        for (std::size_t b = first; b < last; ++b) {
          move(batch + b * batches, static_cast<float>(number), alpha, moved.data() + b * kDims);
        }
      });
      for (std::size_t b = 0; b < in_batch; ++b) {
        for (std::size_t axis = 0; axis < kDims; ++axis) {
          y_[(batch + b * batches) * kDims + axis] = moved[b * kDims + axis];
        }
      }
    }
  }

  Matrix layout() const {
    Matrix result(count_, kDims);
    result.values = y_;
    return result;
  }

 private:
  // All pulls and pushes of one point in this epoch, one after the other. The edge of a pair exists at both ends and
  // pulls at the same time, so each end moves twice as far instead of moving the other.
  void move(std::size_t i, float number, float alpha, float* out) {
    float at[kDims];
    std::copy_n(y_.data() + i * kDims, kDims, at);
    Random random(seed_ ^ ((static_cast<std::uint64_t>(number) << 32 | i) * 0x9e3779b97f4a7c15U));
    for (std::size_t e = begin_[i]; e < begin_[i + 1]; ++e) {
      if (next_[e] > number) continue;
      next_[e] += springs_[e].period;
      pull(at, springs_[e].to, 2 * alpha);
      for (std::size_t k = 0; k < kNegatives; ++k) {
        const std::uint32_t other = random.below(static_cast<std::uint32_t>(count_));
        if (other != i) push(at, other, alpha);
      }
    }
    std::copy_n(at, kDims, out);
  }

  float difference(const float* at, std::uint32_t other, float* apart) const {
    float square = 0;
    for (std::size_t axis = 0; axis < kDims; ++axis) {
      apart[axis] = at[axis] - y_[std::size_t{other} * kDims + axis];
      square += apart[axis] * apart[axis];
    }
    return square;
  }
  static void step(float* at, const float* apart, float force, float alpha) {
    for (std::size_t axis = 0; axis < kDims; ++axis) {
      at[axis] += alpha * std::clamp(force * apart[axis], -kLargestMove, kLargestMove);
    }
  }
  void pull(float* at, std::uint32_t other, float alpha) const {
    float apart[kDims];
    const float square = difference(at, other, apart);
    if (square > 0) step(at, apart, forces_.attraction(square), alpha);
  }
  void push(float* at, std::uint32_t other, float alpha) const {
    float apart[kDims];
    const float square = difference(at, other, apart);
    if (square > 0) step(at, apart, forces_.repulsion(square), alpha);
  }

  base::TaskPool& pool_;
  std::size_t count_;
  std::size_t epochs_;
  std::uint64_t seed_;
  ForceTable forces_;
  std::vector<float> y_;
  std::vector<std::size_t> begin_;
  std::vector<Spring> springs_;
  std::vector<float> next_;  // the epoch of each spring's next pull
};

template <std::size_t kDims>
Result<Matrix> optimize(const SparseRows& graph, const Matrix& start, const UmapOptions& options, std::size_t epochs,
                        base::TaskPool& pool, const Continue& progress, const OnLayout& on_layout) {
  Optimizer<kDims> optimizer(graph, start, options, epochs, pool);
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    optimizer.epoch(epoch);
    if (!goes_on(progress, "UMAP", epoch + 1, epochs)) return cancelled();
    if (on_layout && (epoch + 1) % 10 == 0 && !on_layout(optimizer.layout(), epoch + 1)) return cancelled();
  }
  return optimizer.layout();
}

// So that its largest coordinate is 10, as umap-learn starts.
void scale_to_ten(Matrix& layout) {
  float largest = 0;
  for (float value : layout.values) largest = std::max(largest, std::abs(value));
  if (largest == 0) return;
  for (float& value : layout.values) value *= 10 / largest;
}

}  // namespace

UmapCurve fit_curve(double min_distance) {
  // Levenberg-Marquardt on 300 points up to a distance of 3, which is what umap-learn's curve_fit minimises.
  constexpr int kSamples = 300;
  double a = 1.5;
  double b = 0.9;
  double damping = 1e-3;
  const auto evaluate = [&](double at_a, double at_b, double* gradient, double* matrix) {
    double cost = 0;
    if (gradient != nullptr) std::fill_n(gradient, 2, 0.0);
    if (matrix != nullptr) std::fill_n(matrix, 3, 0.0);
    for (int i = 0; i < kSamples; ++i) {
      const double x = 3.0 * i / (kSamples - 1);
      const double wanted = x < min_distance ? 1 : std::exp(-(x - min_distance));
      const double power = x > 0 ? std::pow(x, 2 * at_b) : 0;
      const double curve = 1 / (1 + at_a * power);
      const double error = curve - wanted;
      cost += error * error;
      if (gradient == nullptr) continue;
      const double by_a = -power * curve * curve;
      const double by_b = x > 0 ? by_a * at_a * 2 * std::log(x) : 0;
      gradient[0] += by_a * error;
      gradient[1] += by_b * error;
      matrix[0] += by_a * by_a;
      matrix[1] += by_a * by_b;
      matrix[2] += by_b * by_b;
    }
    return cost;
  };
  for (int round = 0; round < 200; ++round) {
    double gradient[2];
    double matrix[3];
    const double cost = evaluate(a, b, gradient, matrix);
    const double m00 = matrix[0] * (1 + damping);
    const double m11 = matrix[2] * (1 + damping);
    const double determinant = m00 * m11 - matrix[1] * matrix[1];
    const double step_a = (m11 * gradient[0] - matrix[1] * gradient[1]) / determinant;
    const double step_b = (m00 * gradient[1] - matrix[1] * gradient[0]) / determinant;
    if (evaluate(a - step_a, b - step_b, nullptr, nullptr) < cost) {
      a -= step_a;
      b -= step_b;
      damping = std::max(damping / 10, 1e-12);
      if (std::abs(step_a) + std::abs(step_b) < 1e-12) break;
    } else {
      damping *= 10;
      if (damping > 1e12) break;
    }
  }
  return {a, b};
}

Result<Umap> umap(const Matrix& points, const UmapOptions& options, base::TaskPool& pool, const Continue& progress,
                  const OnLayout& on_layout) {
  if (options.dims != 2 && options.dims != 3) {
    return Status{Code::invalid_argument, "UMAP makes 2 or 3 dimensions here, not " + std::to_string(options.dims)};
  }
  if (points.rows < 4) {
    return Status{Code::invalid_argument,
                  "UMAP needs at least 4 points, but there are " + std::to_string(points.rows) + ": use PCA"};
  }
  if (options.neighbors < 2) return Status{Code::invalid_argument, "UMAP needs at least 2 neighbours"};
  if (!(options.min_distance >= 0 && options.min_distance < 3)) {
    return Status{Code::invalid_argument, "the minimum distance of UMAP must be from 0 to below 3"};
  }
  if (options.start != nullptr && (options.start->rows != points.rows || options.start->columns != options.dims)) {
    return Status{Code::invalid_argument, "the layout to start from has another number of points or dimensions"};
  }
  Umap result;
  result.epochs = options.epochs > 0 ? options.epochs : points.rows <= 10'000 ? 500 : 200;
  // umap-learn counts the point itself as one of its neighbours.
  result.neighbors = std::min(options.neighbors, points.rows - 1);
  const Result<Neighbors> neighbors =
      nearest_neighbors(points, std::max<std::size_t>(1, result.neighbors - 1), options.metric, pool, progress);
  if (!neighbors) return neighbors.error();
  const SparseRows graph = symmetric_rows(*neighbors, memberships(*neighbors, pool), Union::fuzzy, 1);
  Matrix start;
  if (options.start != nullptr) {
    start = *options.start;
  } else {
    Result<Matrix> made = start_layout(points, options.dims, 1, options.seed, pool);
    if (!made) return made.error();
    start = *std::move(made);
    scale_to_ten(start);
  }
  Result<Matrix> layout = options.dims == 3
                              ? optimize<3>(graph, start, options, result.epochs, pool, progress, on_layout)
                              : optimize<2>(graph, start, options, result.epochs, pool, progress, on_layout);
  if (!layout) return layout.error();
  result.layout = *std::move(layout);
  return result;
}

}  // namespace sonde::embed
