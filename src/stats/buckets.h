// TensorBoard's buckets of a tensor that is still available.
#pragma once

#include <vector>

#include "base/task_pool.h"
#include "sonde/tensor.h"
#include "stats/derived.h"
#include "stats/summary.h"

namespace sonde::stats {

// Like tensorboard_buckets of derived.h, but also exact for data that are narrow compared with their mean, or few
// integers: if a fine bin at an edge holds more than 2 % of the values, the values are counted in a second pass.
// `summary` and `histogram` are those of the valid view.
std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets);
// The same, with the second pass on the threads of a pool.
std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets, base::TaskPool& pool);

}  // namespace sonde::stats
