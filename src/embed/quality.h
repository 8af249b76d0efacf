// How good a layout is, and layouts of the same points brought together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "embed/points.h"

namespace sonde::embed {

// Venna and Kaski's trustworthiness, as scikit-learn's: 1 if the `neighbors` nearest points of each point in the layout
// are among the nearest in the data. Over at most `most_rows` points, evenly spread; each is compared with all points.
// `neighbors` is below half of the number of points.
struct Trustworthiness {
  double value = 0;
  std::size_t rows = 0;  // that were looked at
};
Result<Trustworthiness> trustworthiness(const Matrix& points, const Matrix& layout, std::size_t neighbors,
                                        Metric metric, std::size_t most_rows, base::TaskPool& pool);

// Moves, turns and mirrors `layout` (and scales it, if asked) so that its points are as near as possible to those of
// `reference`: the orthogonal Procrustes problem. Both have the same number of points and 1 to 3 dimensions.
enum class Scaling : std::uint8_t { keep, fit };
Status align(Matrix& layout, const Matrix& reference, Scaling scaling);

}  // namespace sonde::embed
