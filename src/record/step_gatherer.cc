#include "record/step_gatherer.h"

#include <algorithm>
#include <utility>

#include "record/step_rows.h"
#include "stats/buckets.h"
#include "stats/computed.h"
#include "stats/parts.h"
#include "tensor/convert.h"

namespace sonde::record {
namespace {

// The real and imaginary parts of a complex tensor, beside each other: complex numbers have no order and leave no
// statistics, but conditions may ask whether all of their parts are finite.
TensorView as_real(const TensorView& view) noexcept {
  TensorView parts = view;
  parts.dtype = view.dtype == DType::c64 ? DType::f32 : DType::f64;
  for (int axis = 0; axis < view.shape.rank(); ++axis) parts.strides[axis] *= 2;
  parts.shape.push_back(2);
  parts.strides.push_back(1);
  return parts;
}

// Whether a due part keeps this of the whole recorded tensor.
bool wants_all(const StepData::Tensor& tensor, const Shape& shape, Keep flag) noexcept {
  if (tensor.plan->sample.rows > 0) return true;  // all that came are the rows
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (policy::has_part(tensor.due, i) && has(parts[i].keep, flag) && takes_all(parts[i].sample, shape)) return true;
  }
  return false;
}

}  // namespace

Result<StepData::Tensor*> StepGatherer::add(StepData& step, const ProbeJob& job, const TensorView& view,
                                            policy::Level level) const {
  const ProbeEntry& entry = *job.probe;
  StepData::Tensor tensor;
  tensor.probe = &entry;
  tensor.plan = job.plan;
  tensor.due = job.due;
  auto& record = tensor.record;
  record.probe = {entry.id, entry.name, entry.options.kind, entry.options.inputs};
  record.dtype = view.dtype;
  record.shape = view.shape;
  const Keep keep = policy::limit(job.plan->keep(job.due), level);
  if (job.computed != nullptr) {
    record.summary = job.computed->summary;
    if (has(keep, Keep::histogram) && job.computed->histogram) {
      record.histogram = job.computed->histogram;
      tensor.buckets = stats::tensorboard_buckets(record.summary, *record.histogram, histogram_buckets_);
    }
  } else if (Status status = summarize_all(tensor, view, keep, step.step); !status.ok()) {
    return Status(status.code(), "the probe '" + entry.name + "' was not recorded: " + status.message());
  }
  record.occurrence = step.next_occurrence(entry.id);
  step.tensors.push_back(std::move(tensor));
  return &step.tensors.back();
}

Status StepGatherer::summarize_all(StepData::Tensor& tensor, const TensorView& view, Keep keep,
                                   std::int64_t step) const {
  auto& record = tensor.record;
  const bool complex = tensor::is_complex(view.dtype);
  if (!complex) summarize_rows(tensor, view, keep, step);
  const bool histogram = !complex && has(keep, Keep::histogram) && wants_all(tensor, view.shape, Keep::histogram);
  if (histogram) record.histogram.emplace();
  const auto summary = summarize(complex ? as_real(view) : view, histogram ? &*record.histogram : nullptr);
  if (!summary) return summary.error();
  record.summary = *summary;
  if (histogram) tensor.buckets = buckets(view, record.summary, *record.histogram);
  return Status::success();
}

Result<stats::Summary> StepGatherer::summarize(const TensorView& view, stats::Histogram* histogram) const {
  return stats::summarize(view, histogram, pool_);
}

std::vector<stats::Bucket> StepGatherer::buckets(const TensorView& view, const stats::Summary& summary,
                                                 const stats::Histogram& histogram) const {
  return stats::tensorboard_buckets(view, summary, histogram, histogram_buckets_, pool_);
}

void StepGatherer::summarize_rows(StepData::Tensor& tensor, const TensorView& view, Keep keep,
                                  std::int64_t step) const {
  if (tensor.plan->sample.rows > 0) return;  // the caller's thread took them already
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Keep kept = parts[i].keep & keep;
    if (!policy::has_part(tensor.due, i) || !has(kept, Keep::stats | Keep::histogram)) continue;
    if (takes_all(parts[i].sample, view.shape)) continue;
    auto same = std::ranges::find(tensor.of_rows, parts[i].sample, &StepData::OfRows::sample);
    if (same == tensor.of_rows.end()) same = tensor.of_rows.insert(same, {.sample = parts[i].sample});
    same->with_histogram |= has(kept, Keep::histogram);
  }
  for (StepData::OfRows& some : tensor.of_rows) {
    Tensor buffer;
    std::vector<std::int64_t> numbers;
    const TensorView rows = sampled(view, some.sample, step, buffer, numbers);
    if (some.with_histogram) some.histogram.emplace();
    const auto summary = summarize(rows, some.with_histogram ? &*some.histogram : nullptr);
    some.shape = rows.shape;
    if (!summary) continue;  // the same error as for the whole tensor, which reports it
    some.summary = *summary;
    if (some.histogram) some.buckets = buckets(rows, some.summary, *some.histogram);
  }
}

}  // namespace sonde::record
