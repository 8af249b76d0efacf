// Gathers a step: the statistics of its tensors as they arrive. Knows no files.
// Belongs to the backend thread, which shares the statistics of large tensors with the threads of a pool.
#pragma once

#include <cstdint>
#include <vector>

#include "base/task_pool.h"
#include "policy/budget.h"
#include "record/step_data.h"
#include "sonde/status.h"

namespace sonde::record {

class StepGatherer {
 public:
  // The pool must outlive it.
  StepGatherer(int histogram_buckets, base::TaskPool& pool) noexcept
      : histogram_buckets_(histogram_buckets), pool_(pool) {}

  // Adds a tensor to its step, with the statistics that the due parts of its plan need, within the budget; or with
  // those that the program has computed. If it has none, the error says why, and it is not part of the step.
  Result<StepData::Tensor*> add(StepData& step, const ProbeJob& job, const TensorView& view, policy::Level level) const;

 private:
  Result<stats::Summary> summarize(const TensorView& view, stats::Histogram* histogram) const;
  std::vector<stats::Bucket> buckets(const TensorView& view, const stats::Summary& summary,
                                     const stats::Histogram& histogram) const;
  Status summarize_all(StepData::Tensor& tensor, const TensorView& view, Keep keep, std::int64_t step) const;
  // Statistics of the rows that the due parts need.
  void summarize_rows(StepData::Tensor& tensor, const TensorView& view, Keep keep, std::int64_t step) const;

  const int histogram_buckets_;
  base::TaskPool& pool_;
};

}  // namespace sonde::record
