#include "sinks/stats_file.h"

#include <algorithm>
#include <utility>

namespace sonde::sinks {
namespace {

// Whether it is one of many, as when a disk is full, or a tensor cannot be used.
bool is_one_of_many(const stats_record::Gap& gap) {
  using stats_record::GapReason;
  return gap.reason == GapReason::write_error || gap.reason == GapReason::rejected;
}

bool can_merge(const stats_record::Gap& a, const stats_record::Gap& b) {
  return is_one_of_many(a) && a.reason == b.reason && a.id == b.id && a.evaluation == b.evaluation;
}

void merge(stats_record::Gap& into, const stats_record::Gap& gap) {
  into.first_step = std::min(into.first_step, gap.first_step);
  into.last_step = std::max(into.last_step, gap.last_step);
  into.count += gap.count;
  if (into.id != gap.id) into.id.reset();
}

}  // namespace

StatsFile::StatsFile(std::string path, stats_record::Header header, Tally& tally)
    : file_(std::move(path), tally), tally_(tally), header_(std::move(header)) {}

// The header goes with the first records.
template <class Append>
auto StatsFile::whole(Append&& append) {
  try {
    return file_.whole(append);
  } catch (...) {
    if (file_.end() == 0) begun_ = false;
    throw;
  }
}

void StatsFile::begin() {
  if (std::exchange(begun_, true)) return;
  stats_record::put_header(file_.buffer(), header_);
}

void StatsFile::repeat_if_needed() {
  if (!file_.must_repeat()) return;
  for (std::optional<Defined>& probe : defined_) {
    if (probe) probe->said = false;
  }
  if (file_.end() == 0) begun_ = false;  // the header was lost
}

// The form stays that of the first definition, since steps in the file rely on it.
void StatsFile::define(const ProbeName& probe, const stats_record::Form& form) {
  if (defined_.size() <= probe.id) defined_.resize(probe.id + 1);
  std::optional<Defined>& defined = defined_[probe.id];
  if (!defined) defined = Defined{form};
  if (std::exchange(defined->said, true)) return;
  stats_record::put_definition(file_.buffer(), {.id = probe.id,
                                                .kind = probe.kind,
                                                .form = defined->form,
                                                .name = std::string(probe.name),
                                                .inputs = {probe.inputs.begin(), probe.inputs.end()}});
}

Status StatsFile::end_step(const StepEnd& step) {
  return whole([&] { return append(step); });
}

Status StatsFile::append(const StepEnd& step) {
  repeat_if_needed();
  begin();
  for (const StepTensor& tensor : step.tensors) define(tensor.probe, {tensor.dtype, tensor.shape});
  stats_record::StepWriter writer(file_.buffer(), step.stamp.step, step.stamp.wall_time, step.evaluation);
  for (const StepTensor& tensor : step.tensors) {
    const stats_record::Form form = {tensor.dtype, tensor.shape};
    const bool as_defined = form == defined_[tensor.probe.id]->form;
    writer.add({.id = tensor.probe.id, .occurrence = tensor.occurrence, .form = as_defined ? nullptr : &form},
               tensor.summary, tensor.histogram ? &*tensor.histogram : nullptr);
  }
  writer.end();
  return checked(file_.appended(step.stamp.step));
}

Status StatsFile::lose(const Loss& loss) {
  if (loss.probe) {
    whole([&] {
      repeat_if_needed();
      begin();
      define(*loss.probe, {});
    });
  }
  add_gap({.id = loss.probe ? std::optional(loss.probe->id) : std::nullopt,
           .evaluation = loss.evaluation,
           .first_step = loss.first_step,
           .last_step = loss.last_step,
           .count = loss.count,
           .reason = loss.reason,
           .detail = loss.detail});
  return Status::success();
}

void StatsFile::add_gap(stats_record::Gap gap) {
  const auto mergeable = [&](const PendingGap& pending) {
    if (pending.end) return false;
    return gaps_.size() < kMostGaps ? can_merge(pending.gap, gap) : pending.gap.reason == gap.reason;
  };
  const auto last = std::find_if(gaps_.rbegin(), gaps_.rend(), mergeable);
  if (last != gaps_.rend()) return merge(last->gap, gap);
  gaps_.push_back({std::move(gap), std::nullopt});
}

void StatsFile::put_gaps(bool all) noexcept {
  try {
    for (LostRecords& lost : tally_.take_lost()) {
      add_gap({.first_step = lost.first_step,
               .last_step = lost.last_step,
               .count = lost.count,
               .reason = stats_record::GapReason::write_error,
               .detail = std::move(lost.detail)});
    }
    for (PendingGap& pending : gaps_) {
      if (!pending.end) put_gap(pending, all);
    }
  } catch (...) {  // what is in gaps_ comes later
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
  }
}

void StatsFile::put_gap(PendingGap& pending, bool all) {
  std::uint64_t& told = told_[{pending.gap.reason, pending.gap.id}];
  if (!all && is_one_of_many(pending.gap) && pending.gap.count < told) return;
  whole([&] {
    repeat_if_needed();
    begin();
    stats_record::put_gap(file_.buffer(), pending.gap);
  });
  told += pending.gap.count;
  pending.end = file_.end();
}

// Gaps that are in the file now are forgotten; those that were lost with the buffer are put there again.
Status StatsFile::checked(Status status) {
  std::erase_if(gaps_, [&](const PendingGap& pending) { return pending.end && *pending.end <= file_.written(); });
  if (losses_ != file_.losses()) {
    losses_ = file_.losses();
    for (PendingGap& pending : gaps_) pending.end.reset();
  }
  return status;
}

Status StatsFile::flush() {
  put_gaps(false);
  return checked(file_.flush());
}

Status StatsFile::close() {
  put_gaps(true);
  return file_.close();
}

}  // namespace sonde::sinks
