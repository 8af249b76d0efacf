#include "embed/embedding.h"

#include "base/clock.h"
#include "embed/pca.h"
#include "embed/quality.h"
#include "embed/umap.h"

namespace sonde::embed {
namespace {

Status run_pca(const Matrix& points, const EmbeddingOptions& options, base::TaskPool& pool, const Continue& progress,
               Embedding& result) {
  Matrix directions;
  if (options.metric == Metric::cosine) {
    directions = points;
    normalize_rows(directions, pool);
  }
  const Matrix& used = options.metric == Metric::cosine ? directions : points;
  Result<Pca> found = pca(used, options.dims, options.seed, pool, progress);
  if (!found) return found.error();
  result.layout = std::move(found->layout);
  for (double variance : found->variance) {
    result.explained.push_back(found->total_variance > 0 ? variance / found->total_variance : 0);
  }
  result.iterations = 1;
  return Status::success();
}

Status run_tsne(const Matrix& points, const EmbeddingOptions& options, base::TaskPool& pool, const Continue& progress,
                const OnLayout& on_layout, Embedding& result) {
  TsneOptions chosen;
  chosen.dims = options.dims;
  chosen.perplexity = options.perplexity;
  if (options.iterations > 0) chosen.iterations = options.iterations;
  chosen.seed = options.seed;
  chosen.metric = options.metric;
  chosen.start = options.start;
  Result<Tsne> found = tsne(points, chosen, pool, progress, on_layout);
  if (!found) return found.error();
  result.layout = std::move(found->layout);
  result.kl_divergence = found->kl_divergence;
  result.perplexity = found->perplexity;
  result.iterations = chosen.iterations;
  return Status::success();
}

Status run_umap(const Matrix& points, const EmbeddingOptions& options, base::TaskPool& pool, const Continue& progress,
                const OnLayout& on_layout, Embedding& result) {
  UmapOptions chosen;
  chosen.dims = options.dims;
  chosen.neighbors = options.neighbors;
  chosen.min_distance = options.min_distance;
  chosen.epochs = options.iterations;
  chosen.seed = options.seed;
  chosen.metric = options.metric;
  chosen.start = options.start;
  Result<Umap> found = umap(points, chosen, pool, progress, on_layout);
  if (!found) return found.error();
  result.layout = std::move(found->layout);
  result.iterations = found->epochs;
  return Status::success();
}

}  // namespace

Result<Embedding> embed_points(const Matrix& points, const EmbeddingOptions& options, base::TaskPool& pool,
                               const Continue& progress, const OnLayout& on_layout) {
  Embedding result;
  const std::uint64_t begin = base::monotonic_nanoseconds();
  Status status = options.method == Method::pca    ? run_pca(points, options, pool, progress, result)
                  : options.method == Method::tsne ? run_tsne(points, options, pool, progress, on_layout, result)
                                                   : run_umap(points, options, pool, progress, on_layout, result);
  if (!status) return status;
  // Maps of PCA differ in scale if the data does; those of the others are only turned.
  if (options.start != nullptr && options.dims <= 3) {
    if (status = align(result.layout, *options.start, Scaling::keep); !status) return status;
  }
  result.seconds = static_cast<double>(base::monotonic_nanoseconds() - begin) * 1e-9;
  if (options.quality_rows > 0 && points.rows > 2 * kTrustedNeighbors) {
    const Result<Trustworthiness> trust =
        trustworthiness(points, result.layout, kTrustedNeighbors, options.metric, options.quality_rows, pool);
    if (!trust) return trust.error();
    result.trust = trust->value;
    result.trust_rows = trust->rows;
  }
  return result;
}

}  // namespace sonde::embed
