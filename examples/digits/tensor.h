// Dense row-major floats. Images are [count, height, width, channels].
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace digits {

using Shape = std::vector<std::size_t>;

// Floats that can be lent: as long as somebody holds their memory, whatever gives them new values takes other memory.
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

  // Room for so many values, which are anything: for what is written next, all of it.
  void renew(std::size_t count) {
    step_aside();
    memory_->resize(count);
  }
  // The values so far, to compute the next ones from, each before it is written: those go elsewhere while it is lent.
  std::span<const float> advance() {
    const std::span<const float> before(*this);
    renew(before.size());
    return before;
  }
  void assign(std::size_t count, float value) {
    step_aside();
    memory_->assign(count, value);
  }
  // A holder sees the values as they are now, if they are written only after the next call above.
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

  void step_aside() {
    if (memory_.use_count() == 1) return;
    const auto free = std::ranges::find_if(spares_, [](const auto& spare) { return spare.use_count() == 1; });
    if (free != spares_.end()) {
      std::swap(memory_, *free);
    } else {
      spares_.push_back(std::exchange(memory_, std::make_shared<Memory>()));
    }
  }
  void copy(std::span<const float> values) {
    step_aside();
    memory_->assign(values.begin(), values.end());
  }

  std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  std::vector<std::shared_ptr<Memory>> spares_;
};

struct Tensor {
  Tensor() = default;
  explicit Tensor(Shape sizes) { clear(std::move(sizes)); }

  // Of this shape, with values that are anything: for a layer that writes all of them.
  void reshape(Shape sizes) {
    shape = std::move(sizes);
    values.renew(count(shape));
  }
  // Of this shape, all zero.
  void clear(Shape sizes) {
    shape = std::move(sizes);
    values.assign(count(shape), 0.0f);
  }
  static std::size_t count(const Shape& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, std::multiplies());
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
