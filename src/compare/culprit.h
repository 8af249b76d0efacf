// The operation that causes the difference of two models, and not one that only passes it on.
//
// In one runtime: the first operation whose inputs agree to the bit and whose output does not. Across runtimes no
// inputs agree to the bit; there the operations of B whose outputs differ are computed again from A's inputs, all in
// one model, and the largest local error decides.
#pragma once

#include "base/task_pool.h"
#include "compare/difference.h"
#include "compare/model_set.h"

namespace sonde::compare {

// Sets the culprit of a difference, or says why it is not known.
void find_culprit(ModelSet& a, ModelSet& b, base::TaskPool& pool, Difference& difference);

// The same for sets that name the inputs of their tensors, such as captures, and cannot be computed again.
void find_culprit(const TensorSet& a, Difference& difference);

}  // namespace sonde::compare
