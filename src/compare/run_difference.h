// Two runs: the first step, and in it the first tensor, at which their statistics part.
#pragma once

#include <cstddef>
#include <optional>

#include "base/task_pool.h"
#include "compare/difference.h"
#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::compare {

// Compares the statistics of every tensor at every step that both runs recorded, in order of execution, and whole
// tensors where both kept them. A statistic may be off by the tolerance of the tensor's type times the root mean square
// of B's tensor; with limits of the user, by atol + rtol * |b|. Fails if the runs have no tensor in common.
Result<Difference> compare_runs(const Run& a, const Run& b, const Options& options, base::TaskPool& pool);

// The first row of that comparison that differs, without whole tensors; only of pairs with one name, and without
// reading what is later than a difference that was found.
struct FirstParting {
  std::size_t compared = 0;  // pairs of tensors
  std::optional<Row> row;    // with its `parting`; none: all statistics agree within the tolerances
};
Result<FirstParting> find_parting(const Run& a, const Run& b, const Tolerances& tolerances);

}  // namespace sonde::compare
