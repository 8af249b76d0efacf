// Which layers of a model are meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/status.h"

namespace sonde::inspect {

// The layers that any of these names; all if everything is empty.
struct Selection {
  // Each the exact name of a value or of an operation, otherwise a regular expression (RE2) that matches all of either.
  std::vector<std::string> names;
  std::vector<std::int64_t> indices;  // negative ones count from the end
  std::vector<std::string> ops;       // exact types: "Conv"

  bool empty() const noexcept { return names.empty() && indices.empty() && ops.empty(); }
};

// Indices, ascending, each once. The error is one sentence about the first part that selects nothing, with the nearest
// names.
Result<std::vector<std::int64_t>> select_layers(const Description& model, const Selection& selection);

}  // namespace sonde::inspect
