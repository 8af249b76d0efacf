#include "embed/tsne.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "embed/kernels.h"
#include "embed/mesh.h"

namespace sonde::embed {
namespace {

constexpr std::size_t kPoints = 256;        // of one task
constexpr std::size_t kExactBelow = 2'000;  // the mesh does not pay for fewer
constexpr double kExaggeration = 12;

// The layout as columns, with what gradient descent remembers about each coordinate.
class Descent {
 public:
  Descent(const SparseRows& joint, const Matrix& start, base::TaskPool& pool)
      : joint_(joint), pool_(pool), count_(start.rows), dims_(start.columns), mesh_(pool) {
    for (std::size_t axis = 0; axis < dims_; ++axis) {
      y_[axis].resize(count_);
      push_[axis].resize(count_);
      speed_[axis].assign(count_, 0);
      gain_[axis].assign(count_, 1);
      for (std::size_t i = 0; i < count_; ++i) y_[axis][i] = start.row(i)[axis];
    }
  }

  void step(double exaggeration, double momentum, double rate) {
    const double normalizer = repel();
    std::vector<double> sums((count_ + kPoints - 1) / kPoints * dims_);
    const float* y[kMostDims];
    columns(y);
    for_blocks(pool_, count_, kPoints, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t begin = joint_.begin[i];
        float pull[kMostDims];
        attract(y, dims_, i, joint_.columns.data() + begin, joint_.weights.data() + begin, joint_.begin[i + 1] - begin,
                pull);
        for (std::size_t axis = 0; axis < dims_; ++axis) {
          const float gradient = 4 * (static_cast<float>(exaggeration) * pull[axis] -
                                      static_cast<float>(static_cast<double>(push_[axis][i]) / normalizer));
          sums[first / kPoints * dims_ + axis] += static_cast<double>(move(axis, i, gradient, momentum, rate));
        }
      }
    });
    recenter(sums);
  }

  // The divergence of the layout's probabilities from the joint ones.
  double divergence() {
    const double normalizer = repel();
    std::vector<double> sums((count_ + kPoints - 1) / kPoints);
    for_blocks(pool_, count_, kPoints, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        for (std::size_t e = joint_.begin[i]; e < joint_.begin[i + 1]; ++e) {
          const auto p = static_cast<double>(joint_.weights[e]);
          if (p <= 0) continue;
          double squares = 1;
          for (std::size_t axis = 0; axis < dims_; ++axis) {
            const auto along = static_cast<double>(y_[axis][i] - y_[axis][joint_.columns[e]]);
            squares += along * along;
          }
          sums[first / kPoints] += p * std::log(p * normalizer * squares);
        }
      }
    });
    double total = 0;
    for (double sum : sums) total += sum;
    return total;
  }

  Matrix layout() const {
    Matrix result(count_, dims_);
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t axis = 0; axis < dims_; ++axis) result.row(i)[axis] = y_[axis][i];
    }
    return result;
  }

 private:
  void columns(const float** y) const {
    for (std::size_t axis = 0; axis < dims_; ++axis) y[axis] = y_[axis].data();
  }

  bool fits_mesh() const {
    if (dims_ != 2 || count_ < kExactBelow) return false;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto [low, high] = std::ranges::minmax(y_[axis]);
      if (!(high - low < RepulsionMesh::kLargestExtent)) return false;
    }
    return true;
  }

  // Into push_; returns the sum of q.
  double repel() {
    const float* y[kMostDims];
    columns(y);
    if (fits_mesh()) {
      float* const push[2] = {push_[0].data(), push_[1].data()};
      return mesh_.repel(y, count_, push);
    }
    std::vector<double> sums((count_ + kPoints - 1) / kPoints);
    for_blocks(pool_, count_, kPoints, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        float force[kMostDims];
        sums[first / kPoints] += embed::repel(y, dims_, count_, i, force);
        for (std::size_t axis = 0; axis < dims_; ++axis) push_[axis][i] = force[axis];
      }
    });
    double total = 0;
    for (double sum : sums) total += sum;
    return total;
  }

  // The new coordinates are applied by recenter(), since other points still need the old ones.
  float move(std::size_t axis, std::size_t i, float gradient, double momentum, double rate) {
    float& gain = gain_[axis][i];
    float& speed = speed_[axis][i];
    gain = (gradient > 0) == (speed > 0) ? std::max(gain * 0.8F, 0.01F) : gain + 0.2F;
    speed = static_cast<float>(momentum) * speed - static_cast<float>(rate) * gain * gradient;
    return speed + y_[axis][i];
  }

  void recenter(const std::vector<double>& sums) {
    for (std::size_t axis = 0; axis < dims_; ++axis) {
      double mean = 0;
      for (std::size_t block = axis; block < sums.size(); block += dims_) mean += sums[block];
      const auto shift = static_cast<float>(mean / static_cast<double>(count_));
      for (std::size_t i = 0; i < count_; ++i) y_[axis][i] += speed_[axis][i] - shift;
    }
  }

  const SparseRows& joint_;
  base::TaskPool& pool_;
  std::size_t count_;
  std::size_t dims_;
  RepulsionMesh mesh_;
  std::vector<float> y_[kMostDims];
  std::vector<float> push_[kMostDims];
  std::vector<float> speed_[kMostDims];
  std::vector<float> gain_[kMostDims];
};

Status check(const Matrix& points, const TsneOptions& options) {
  if (options.dims != 2 && options.dims != 3) {
    return {Code::invalid_argument, "t-SNE makes 2 or 3 dimensions, not " + std::to_string(options.dims)};
  }
  if (points.rows < 4) {
    return {Code::invalid_argument,
            "t-SNE needs at least 4 points, but there are " + std::to_string(points.rows) + ": use PCA"};
  }
  if (!(options.perplexity >= 1) || !std::isfinite(options.perplexity)) {
    return {Code::invalid_argument, "the perplexity must be a number of at least 1"};
  }
  if (options.start != nullptr && (options.start->rows != points.rows || options.start->columns != options.dims)) {
    return {Code::invalid_argument, "the layout to start from has another number of points or dimensions"};
  }
  return Status::success();
}

}  // namespace

Result<Tsne> tsne(const Matrix& points, const TsneOptions& options, base::TaskPool& pool, const Continue& progress,
                  const OnLayout& on_layout) {
  if (Status status = check(points, options); !status) return status;
  Tsne result;
  result.perplexity = std::min(options.perplexity, static_cast<double>(points.rows - 1) / 3);
  const auto wanted = static_cast<std::size_t>(3 * result.perplexity);
  const Result<Neighbors> neighbors =
      nearest_neighbors(points, std::clamp<std::size_t>(wanted, 1, points.rows - 1), options.metric, pool, progress);
  if (!neighbors) return neighbors.error();
  const SparseRows joint = joint_probabilities(*neighbors, result.perplexity, pool);
  Matrix start;
  if (options.start != nullptr) {
    start = *options.start;
  } else {
    Result<Matrix> made = start_layout(points, options.dims, 1e-4, options.seed, pool);
    if (!made) return made.error();
    start = *std::move(made);
  }
  Descent descent(joint, start, pool);
  const std::size_t exaggerated = options.start != nullptr ? 0 : std::min(options.exaggerated, options.iterations / 4);
  const double rate = std::max(static_cast<double>(points.rows) / kExaggeration / 4, 50.0);
  for (std::size_t iteration = 0; iteration < options.iterations; ++iteration) {
    const bool early = iteration < exaggerated;
    descent.step(early ? kExaggeration : 1, early ? 0.5 : 0.8, rate);
    if (!goes_on(progress, "t-SNE", iteration + 1, options.iterations)) return cancelled();
    if (on_layout && (iteration + 1) % 10 == 0 && !on_layout(descent.layout(), iteration + 1)) return cancelled();
  }
  result.kl_divergence = descent.divergence();
  result.layout = descent.layout();
  return result;
}

}  // namespace sonde::embed
