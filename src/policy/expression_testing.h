// For tests: the values of a step from real arrays and plain numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "policy/expression.h"
#include "stats/summary.h"

namespace sonde::policy {

// Fill it, evaluate, and clear it for the next step; ids stay.
class Step {
 public:
  Step& scalar(std::string name, double value) {
    scalars_.emplace_back(names_.emplace_back(std::move(name)), value);
    return *this;
  }
  template <class T>
  Step& tensor(std::string name, Kind kind, const std::vector<T>& values, bool negative_infinity_allowed = false) {
    return tensor(std::move(name), kind, *stats::summarize(view(values)), negative_infinity_allowed);
  }
  Step& tensor(std::string name, Kind kind, const stats::Summary& summary, bool negative_infinity_allowed = false) {
    const auto [place, added] = ids_.emplace(std::pair(name, kind), static_cast<std::uint32_t>(ids_.size()));
    tensors_.push_back({.id = place->second,
                        .name = place->first.first,
                        .kind = kind,
                        .summary = &summaries_.emplace_back(summary),
                        .negative_infinity_allowed = negative_infinity_allowed});
    return *this;
  }
  void clear() {
    names_.clear();
    scalars_.clear();
    tensors_.clear();
    summaries_.clear();
  }
  StepFacts facts(std::int64_t step) const { return {.step = step, .scalars = scalars_, .tensors = tensors_}; }
  bool holds(Expression& expression, std::int64_t step = 0) const { return expression.evaluate(facts(step)); }

 private:
  std::deque<std::string> names_;
  std::deque<stats::Summary> summaries_;
  std::map<std::pair<std::string, Kind>, std::uint32_t> ids_;
  std::vector<std::pair<std::string_view, double>> scalars_;
  std::vector<TensorFacts> tensors_;
};

}  // namespace sonde::policy
