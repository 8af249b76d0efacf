// t-SNE (van der Maaten and Hinton 2008), with the settings that scikit-learn and openTSNE use: neighbours up to three
// times the perplexity, early exaggeration of 12, learning rate by the number of points, start from the principal
// components.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "embed/neighbors.h"
#include "embed/points.h"

namespace sonde::embed {

struct TsneOptions {
  std::size_t dims = 2;  // or 3
  double perplexity = 30;
  std::size_t iterations = 1000;
  std::size_t exaggerated = 250;  // of them; none if a start is given
  std::uint64_t seed = 1;
  Metric metric = Metric::euclidean;
  const Matrix* start = nullptr;  // a layout to continue from; null: principal components
};

struct Tsne {
  Matrix layout;
  double kl_divergence = 0;
  double perplexity = 0;  // smaller than asked for if there are few points
};

// Sees a layout now and then; returns whether to go on.
using OnLayout = std::function<bool(const Matrix& layout, std::size_t iteration)>;

Result<Tsne> tsne(const Matrix& points, const TsneOptions& options, base::TaskPool& pool, const Continue& progress = {},
                  const OnLayout& on_layout = {});

// The rows of a symmetric sparse matrix; rows end in entries of weight 0, so that all have a multiple of kEdgeBlock.
struct SparseRows {
  std::vector<std::size_t> begin;  // of each row, and the end of the last
  std::vector<std::uint32_t> columns;
  std::vector<float> weights;
};
// (P + P^T) / (2 n) of the conditional probabilities P with this perplexity.
SparseRows joint_probabilities(const Neighbors& neighbors, double perplexity, base::TaskPool& pool);

// A + A^T - A * A^T (element by element) with a fuzzy union, or A + A^T, of the directed edges of `neighbors`, whose
// weights are given. Rows have ascending columns.
enum class Union : std::uint8_t { sum, fuzzy };
SparseRows symmetric_rows(const Neighbors& neighbors, const std::vector<float>& weights, Union how,
                          std::size_t multiple);

// Coordinates to start from: principal components, scaled to a standard deviation of `spread` along the first.
Result<Matrix> start_layout(const Matrix& points, std::size_t dims, double spread, std::uint64_t seed,
                            base::TaskPool& pool);

}  // namespace sonde::embed
