// Dense row-major floats. Images are [count, height, width, channels].
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace digits {

using Shape = std::vector<std::size_t>;

struct Tensor {
  Tensor() = default;
  explicit Tensor(Shape sizes) { reshape(std::move(sizes)); }

  // All zero afterwards.
  void reshape(Shape sizes) {
    std::size_t count = 1;
    for (std::size_t size : sizes) count *= size;
    shape = std::move(sizes);
    values.assign(count, 0.0f);
  }
  std::size_t size() const { return values.size(); }

  Shape shape;
  std::vector<float> values;
};

// The i-th run of values along the last axis: the channels of a pixel, the weights that leave one input of a layer.
inline std::span<float> row(Tensor& tensor, std::size_t i) {
  return std::span(tensor.values).subspan(i * tensor.shape.back(), tensor.shape.back());
}
inline std::span<const float> row(const Tensor& tensor, std::size_t i) {
  return std::span(tensor.values).subspan(i * tensor.shape.back(), tensor.shape.back());
}

}  // namespace digits
