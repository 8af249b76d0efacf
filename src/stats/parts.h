// Statistics of a large tensor, by several threads.
//
// The tensor is split into parts whose size depends only on its shape; their summaries are merged in order. So the
// result is the same, to the bit, for any number of threads. Tensors of one part are summarised in one pass. Counts,
// min, max and the histogram are those of one pass; mean, m2 and sum_abs are within the bounds of summary.h.
#pragma once

#include <cstdint>
#include <vector>

#include "base/task_pool.h"
#include "sonde/tensor.h"
#include "stats/summary.h"

namespace sonde::stats {

// Elements of a part: a megabyte of f32, which takes some hundred microseconds, many times the cost of waking a thread
// and merging two histograms.
constexpr std::int64_t kPartElements = std::int64_t{1} << 18;

// The parts of a valid view in row-major order; the view itself if it is not larger than one. A dense view is split
// into pieces of kPartElements, others along their first axis that is longer than 1.
std::vector<TensorView> parts_of(const TensorView& view);

// Like summarize; `histogram` may be null.
Result<Summary> summarize(const TensorView& view, Histogram* histogram, TaskPool& pool);

}  // namespace sonde::stats
