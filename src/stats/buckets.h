// TensorBoard's buckets of a tensor that is still at hand.
#pragma once

#include <vector>

#include "base/task_pool.h"
#include "sonde/tensor.h"
#include "stats/derived.h"
#include "stats/summary.h"

namespace sonde::stats {

// As tensorboard_buckets of derived.h, but right also for data that are narrow beside their mean, or few integers:
// where one of the fine bins that an edge falls into holds more than a fiftieth of the values, the values are counted
// in a second pass. `summary` and `histogram` are those of the valid view.
std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets);
// The same, the second pass by the threads of a pool.
std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets, TaskPool& pool);

}  // namespace sonde::stats
