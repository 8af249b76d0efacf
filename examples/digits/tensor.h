// Dense row-major floats. Images are [count, height, width, channels].
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace digits {

using Shape = std::vector<std::size_t>;

// Floats that can be lent: as long as somebody holds their memory, `assign` leaves it alone and takes other memory.
// That is what lets a recorder look at a tensor while the next step is computed, without a copy. A few memories take
// turns, as many as were lent at a time, so that nothing is allocated at every step.
class Values {
 public:
  Values() = default;
  Values(std::initializer_list<float> values) { copy(std::span(values.begin(), values.size())); }
  Values(const Values& other) { copy(other); }
  Values& operator=(const Values& other) {
    if (this != &other) copy(other);
    return *this;
  }

  void assign(std::size_t count, float value) {
    renew();
    memory_->assign(count, value);
  }
  // Whoever holds it sees the values as they are now, if they are written only after the next assign.
  std::shared_ptr<const void> lend() const { return memory_; }

  std::size_t size() const { return memory_->size(); }
  float* data() { return memory_->data(); }
  const float* data() const { return memory_->data(); }
  float* begin() { return data(); }
  float* end() { return data() + size(); }
  const float* begin() const { return data(); }
  const float* end() const { return data() + size(); }
  float& operator[](std::size_t i) { return (*memory_)[i]; }
  float operator[](std::size_t i) const { return (*memory_)[i]; }
  bool operator==(const Values& other) const { return std::ranges::equal(*this, other); }

 private:
  using Memory = std::vector<float>;

  void renew() {
    if (memory_.use_count() == 1) return;
    const auto free = std::ranges::find_if(spares_, [](const auto& spare) { return spare.use_count() == 1; });
    if (free != spares_.end()) {
      std::swap(memory_, *free);
    } else {
      spares_.push_back(std::exchange(memory_, std::make_shared<Memory>()));
    }
  }
  void copy(std::span<const float> values) {
    renew();
    memory_->assign(values.begin(), values.end());
  }

  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  std::vector<std::shared_ptr<Memory>> spares_;
};

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
  Values values;
};

// The i-th run of values along the last axis: the channels of a pixel, the weights that leave one input of a layer.
inline std::span<float> row(Tensor& tensor, std::size_t i) {
  return std::span(tensor.values).subspan(i * tensor.shape.back(), tensor.shape.back());
}
inline std::span<const float> row(const Tensor& tensor, std::size_t i) {
  return std::span(tensor.values).subspan(i * tensor.shape.back(), tensor.shape.back());
}

}  // namespace digits
