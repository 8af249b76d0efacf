// Two models compared for several inputs: of each tensor the input at which it is off most.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/difference.h"

namespace sonde::compare {

class OverInputs {
 public:
  // All comparisons have the same rows: Options::matches is `matches()` from the second one on.
  void add(const std::string& input, Difference difference);
  std::vector<Match> matches() const;

  // The merged comparison so far. A single input leaves no trace in it.
  const Difference& merged() const noexcept { return merged_; }
  // The input that the values of the first difference belong to; none: nothing differs.
  std::optional<std::size_t> input_of_first() const;
  // Adds what was found about the culprit for this input.
  void set_culprit(std::size_t input, const Difference& found);

 private:
  Difference merged_;
  std::vector<std::string> names_;
};

}  // namespace sonde::compare
