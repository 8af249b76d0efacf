#include "embed/packed.h"

namespace sonde::embed {

PackedPoints::PackedPoints(const Matrix& points, base::TaskPool& pool)
    : features_(points.columns),
      width_(panel_width()),
      panels_((points.rows + width_ - 1) / width_),
      values_(panels_ * width_ * points.columns) {
  pool.run(panels_, [&](std::size_t panel) {
    const std::size_t first = panel * width_;
    const std::size_t count = std::min(width_, points.rows - first);
    for (std::size_t part = 0; part < slices(); ++part) {
      float* to = values_.data() + part * kDepth * panels_ * width_ + panel * depth(part) * width_;
      for (std::size_t i = 0; i < count; ++i) {
        const float* from = points.row(first + i) + part * kDepth;
        for (std::size_t k = 0; k < depth(part); ++k) to[k * width_ + i] = from[k];
      }
    }
  });
}

void PackedPoints::products(std::size_t first, std::size_t last, std::size_t first_panel, std::size_t last_panel,
                            float* out, std::size_t stride) const noexcept {
  for (std::size_t part = 0; part < slices(); ++part) {
    multiply(slice(part), slice(part), {depth(part), first, last, first_panel, last_panel}, out, stride, part > 0);
  }
}

}  // namespace sonde::embed
