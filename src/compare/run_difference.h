// Two runs: the first step, and in it the first tensor, at which their statistics part.
#pragma once

#include "base/task_pool.h"
#include "compare/difference.h"
#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::compare {

// Compares the statistics of every tensor at every step that both runs recorded, in order of execution, and whole
// tensors where both kept them. A statistic may be off by the tolerance of the tensor's type times the root mean square
// of B's tensor; with limits of the user, by atol + rtol * |b|. Fails if the runs have no tensor in common.
Result<Difference> compare_runs(const Run& a, const Run& b, const Options& options, base::TaskPool& pool);

}  // namespace sonde::compare
