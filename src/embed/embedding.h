// An embedding by any method, with what can be said about its quality: what the command and the server run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "embed/points.h"
#include "embed/tsne.h"

namespace sonde::embed {

inline constexpr std::size_t kTrustedNeighbors = 12;

struct EmbeddingOptions {
  Method method = Method::pca;
  std::size_t dims = 2;
  double perplexity = 30;      // of t-SNE
  std::size_t neighbors = 15;  // of UMAP
  double min_distance = 0.1;   // of UMAP
  std::size_t iterations = 0;  // of t-SNE, epochs of UMAP; 0: 1,000, or by the number of points
  std::uint64_t seed = 1;
  Metric metric = Metric::euclidean;
  const Matrix* start = nullptr;    // a layout of the same points to continue from, and to be aligned with
  std::size_t quality_rows = 2000;  // points that the trustworthiness is computed for; 0: none
};

struct Embedding {
  Matrix layout;
  std::vector<double> explained;  // by PCA: the share of the variance of each dimension
  std::optional<double> kl_divergence;
  std::optional<double> perplexity;  // that t-SNE used
  std::optional<double> trust;       // trustworthiness of kTrustedNeighbors
  std::size_t trust_rows = 0;
  std::size_t iterations = 0;
  double seconds = 0;  // without the quality
};

Result<Embedding> embed_points(const Matrix& points, const EmbeddingOptions& options, base::TaskPool& pool,
                               const Continue& progress = {}, const OnLayout& on_layout = {});

}  // namespace sonde::embed
