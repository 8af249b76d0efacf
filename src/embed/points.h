// The points of an embedding, and what every method of this module shares: the numbers as floats, the metric, progress
// and cancelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/task_pool.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::embed {

// A dense row-major matrix.
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values;

  Matrix() = default;
  Matrix(std::size_t row_count, std::size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count) {}
  float* row(std::size_t at) noexcept { return values.data() + at * columns; }
  const float* row(std::size_t at) const noexcept { return values.data() + at * columns; }
};

enum class Metric : std::uint8_t { euclidean, cosine };
std::string_view to_string(Metric metric) noexcept;

enum class Method : std::uint8_t { pca, tsne, umap };
std::string_view to_string(Method method) noexcept;

// The rows of a tensor as points: the first axis counts them, the other axes are their features. Fails with one
// sentence about `name` if there are no points or no features, or if a value is not finite, which names the first such
// row.
Result<Matrix> points_of(const TensorView& tensor, std::string_view name);

// Checks what points_of checks of its values.
Status check_finite(const Matrix& points, std::string_view name);

std::vector<double> column_means(const Matrix& points, base::TaskPool& pool);
// Subtracts the mean of each column, which improves the precision of products.
void center(Matrix& points, base::TaskPool& pool);
// Gives each row the length 1; rows of zeros stay.
void normalize_rows(Matrix& points, base::TaskPool& pool);

// Told about progress; returns whether to go on. Empty: always.
using Continue = std::function<bool(std::string_view stage, std::size_t done, std::size_t total)>;
inline bool goes_on(const Continue& progress, std::string_view stage, std::size_t done, std::size_t total) {
  return !progress || progress(stage, done, total);
}
inline Status cancelled() { return {Code::closed, "the embedding was cancelled"}; }

// Deterministic random numbers: the same for a seed on every machine and with any number of threads.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }
  // Below `limit`, which is below 2^32.
  std::uint32_t below(std::uint32_t limit) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32);
  }
  double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() noexcept;

 private:
  std::uint64_t state_;
};

// Splits `count` into blocks of `size`, and calls body(first, last) for each on the pool. The blocks do not depend on
// the number of threads, so that sums per block are the same with any.
void for_blocks(base::TaskPool& pool, std::size_t count, std::size_t size,
                const std::function<void(std::size_t first, std::size_t last)>& body);

}  // namespace sonde::embed
