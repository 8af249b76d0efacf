#include "embed/points.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tensor/convert.h"
#include "tensor/copy.h"

namespace sonde::embed {
namespace {

constexpr std::size_t kBlock = 512;

std::string in_quotes(std::string_view name) { return std::string(1, '\'').append(name).append(1, '\''); }

}  // namespace

std::string_view to_string(Metric metric) noexcept { return metric == Metric::cosine ? "cosine" : "euclidean"; }

std::string_view to_string(Method method) noexcept {
  switch (method) {
    case Method::pca: return "pca";
    case Method::tsne: return "tsne";
    case Method::umap: return "umap";
  }
  return "pca";
}

double Random::normal() noexcept {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

Result<Matrix> points_of(const TensorView& tensor, std::string_view name) {
  if (!tensor.valid()) return Status{Code::invalid_argument, in_quotes(name) + " is not a valid tensor"};
  if (tensor::is_complex(tensor.dtype)) {
    return Status{Code::invalid_argument, in_quotes(name) + " has complex numbers, which cannot be embedded"};
  }
  if (tensor.shape.rank() < 2) {
    return Status{Code::invalid_argument, in_quotes(name) + " has " + std::to_string(tensor.shape.rank()) +
                                              " axes, but points need two: one row for each point"};
  }
  const auto rows = static_cast<std::size_t>(tensor.shape[0]);
  if (rows == 0) return Status{Code::invalid_argument, in_quotes(name) + " has no rows, so there are no points"};
  const auto count = static_cast<std::size_t>(tensor.size());
  if (count == 0)
    return Status{Code::invalid_argument, in_quotes(name) + " has no columns, so points have no features"};
  if (rows > UINT32_MAX) return Status{Code::unsupported, in_quotes(name) + " has more than 2^32 points"};
  Matrix points(rows, count / rows);
  float* out = points.values.data();
  const std::size_t size = size_of(tensor.dtype);
  tensor::for_each_run(tensor, [&](const std::byte* at, std::int64_t run, std::int64_t stride) {
    for (std::int64_t i = 0; i < run; ++i) {
      const std::byte* element = at + i * stride * static_cast<std::int64_t>(size);
      *out++ = static_cast<float>(tensor::element_as_double(element, tensor.dtype));
    }
  });
  if (Status status = check_finite(points, name); !status) return status;
  return points;
}

Status check_finite(const Matrix& points, std::string_view name) {
  std::size_t bad = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < points.rows; ++i) {
    const float* row = points.row(i);
    float sum = 0;  // of zeros, unless a value is not finite
    for (std::size_t j = 0; j < points.columns; ++j) sum += row[j] * 0.0F;
    if (sum == 0) continue;
    if (bad++ == 0) first = i;
  }
  if (bad == 0) return Status::success();
  return {Code::invalid_argument, in_quotes(name) + " has NaN or infinite values in " + std::to_string(bad) + " of " +
                                      std::to_string(points.rows) + " rows, the first is row " + std::to_string(first) +
                                      ": remove these rows"};
}

void for_blocks(base::TaskPool& pool, std::size_t count, std::size_t size,
                const std::function<void(std::size_t first, std::size_t last)>& body) {
  pool.run((count + size - 1) / size,
           [&](std::size_t block) { body(block * size, std::min(count, (block + 1) * size)); });
}

std::vector<double> column_means(const Matrix& points, base::TaskPool& pool) {
  const std::size_t columns = points.columns;
  const std::size_t blocks = (points.rows + kBlock - 1) / kBlock;
  std::vector<double> sums(blocks * columns);
  for_blocks(pool, points.rows, kBlock, [&](std::size_t first, std::size_t last) {
    double* sum = sums.data() + first / kBlock * columns;
    for (std::size_t i = first; i < last; ++i) {
      const float* row = points.row(i);
      for (std::size_t j = 0; j < columns; ++j) sum[j] += static_cast<double>(row[j]);
    }
  });
  std::vector<double> mean(columns);
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t j = 0; j < columns; ++j) mean[j] += sums[block * columns + j];
  }
  for (double& value : mean) value /= static_cast<double>(points.rows);
  return mean;
}

void center(Matrix& points, base::TaskPool& pool) {
  const std::vector<double> mean = column_means(points, pool);
  for_blocks(pool, points.rows, kBlock, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      float* row = points.row(i);
      for (std::size_t j = 0; j < points.columns; ++j) row[j] -= static_cast<float>(mean[j]);
    }
  });
}

void normalize_rows(Matrix& points, base::TaskPool& pool) {
  for_blocks(pool, points.rows, kBlock, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      float* row = points.row(i);
      double squares = 0;
      for (std::size_t j = 0; j < points.columns; ++j)
        squares += static_cast<double>(row[j]) * static_cast<double>(row[j]);
      if (squares == 0) continue;
      const auto scale = static_cast<float>(1 / std::sqrt(squares));
      for (std::size_t j = 0; j < points.columns; ++j) row[j] *= scale;
    }
  });
}

}  // namespace sonde::embed
