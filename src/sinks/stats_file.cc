#include "sinks/stats_file.h"

#include <utility>

namespace sonde::sinks {

StatsFile::StatsFile(std::string path, stats_record::Header header, Tally& tally)
    : file_(std::move(path), tally), header_(std::move(header)) {}

void StatsFile::begin() {
  if (std::exchange(begun_, true)) return;
  stats_record::put_header(file_.buffer(), header_);
}

void StatsFile::define(const ProbeName& probe, const stats_record::Form& form) {
  if (defined_.size() <= probe.id) defined_.resize(probe.id + 1);
  if (defined_[probe.id]) return;
  defined_[probe.id] = form;
  stats_record::put_definition(file_.buffer(), {.id = probe.id,
                                                .kind = probe.kind,
                                                .form = form,
                                                .name = std::string(probe.name),
                                                .inputs = {probe.inputs.begin(), probe.inputs.end()}});
}

Status StatsFile::end_step(const StepEnd& step) {
  begin();
  for (const StepTensor& tensor : step.tensors) define(tensor.probe, {tensor.dtype, tensor.shape});
  stats_record::StepWriter writer(file_.buffer(), step.stamp.step, step.stamp.wall_time, step.evaluation);
  for (const StepTensor& tensor : step.tensors) {
    const stats_record::Form form = {tensor.dtype, tensor.shape};
    const bool as_defined = form == *defined_[tensor.probe.id];
    writer.add({.id = tensor.probe.id, .occurrence = tensor.occurrence, .form = as_defined ? nullptr : &form},
               tensor.summary, tensor.histogram ? &*tensor.histogram : nullptr);
  }
  writer.end();
  return file_.appended();
}

Status StatsFile::lose(const Loss& loss) {
  begin();
  if (loss.probe) define(*loss.probe, {});
  stats_record::put_gap(file_.buffer(), {.id = loss.probe ? std::optional(loss.probe->id) : std::nullopt,
                                         .evaluation = loss.evaluation,
                                         .first_step = loss.first_step,
                                         .last_step = loss.last_step,
                                         .count = loss.count,
                                         .reason = loss.reason,
                                         .detail = loss.detail});
  return file_.appended();
}

}  // namespace sonde::sinks
