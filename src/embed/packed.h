// Matrices in the layout that multiply() of kernels.h takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "embed/kernels.h"
#include "embed/points.h"

namespace sonde::embed {

inline constexpr std::size_t kDepth = 256;  // of one product, so that its operands fit into the cache

// Points as columns: the features are cut into slices of at most kDepth, each a packed matrix.
class PackedPoints {
 public:
  PackedPoints(const Matrix& points, base::TaskPool& pool);

  std::size_t panels() const noexcept { return panels_; }
  std::size_t slices() const noexcept { return (features_ + kDepth - 1) / kDepth; }
  std::size_t depth(std::size_t slice) const noexcept { return std::min(kDepth, features_ - slice * kDepth); }
  const float* slice(std::size_t at) const noexcept { return values_.data() + at * kDepth * panels_ * width_; }
  std::size_t width() const noexcept { return width_; }

  // The dot products of the points first..last with those of the panels, as multiply() stores them.
  void products(std::size_t first, std::size_t last, std::size_t first_panel, std::size_t last_panel, float* out,
                std::size_t stride) const noexcept;

 private:
  std::size_t features_;
  std::size_t width_;
  std::size_t panels_;
  std::vector<float> values_;
};

}  // namespace sonde::embed
