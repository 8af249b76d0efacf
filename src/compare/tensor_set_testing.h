// Tensors in memory as a set, for tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compare/tensor_set.h"

namespace sonde::compare {

class MemorySet final : public TensorSet {
 public:
  enum class Role : std::uint8_t { files, ordered_files, model };
  explicit MemorySet(Role role = Role::files) : role_(role) {}

  MemorySet& add(Entry entry, std::vector<float> values, Shape shape = {}) {
    entry.dtype = DType::f32;
    entry.shape = shape.rank() == 0 ? Shape{static_cast<std::int64_t>(values.size())} : shape;
    entries_.push_back(std::move(entry));
    values_.push_back(std::make_shared<std::vector<float>>(std::move(values)));
    return *this;
  }
  MemorySet& add(std::string name, std::vector<float> values, Shape shape = {}) {
    return add(Entry{.name = std::move(name), .dtype = {}, .shape = {}}, std::move(values), shape);
  }

  std::string kind() const override { return "memory"; }
  const std::vector<Entry>& entries() const noexcept override { return entries_; }
  bool in_order_of_execution() const noexcept override { return role_ != Role::files; }
  bool is_model() const noexcept override { return role_ == Role::model; }
  std::vector<std::string> model_inputs() const override {
    return is_model() ? std::vector<std::string>{"x"} : std::vector<std::string>{};
  }
  Result<Loaded> load(std::size_t index) override {
    return Loaded{view(values_[index]->data(), DType::f32, *entries_[index].shape), values_[index]};
  }

 private:
  Role role_;
  std::vector<Entry> entries_;
  std::vector<std::shared_ptr<std::vector<float>>> values_;
};

}  // namespace sonde::compare
