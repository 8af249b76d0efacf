#include "record/loss_log.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "record/policy_in_force.h"
#include "record/ring.h"

namespace sonde::record {
namespace {

constexpr std::size_t kLostBegins = 1024;              // remembered: more than this are in progress nowhere
constexpr std::size_t kUnseenSteps = Ring::kCapacity;  // that many steps can be on their way

}  // namespace

RecordCount count_of(const Job& job) noexcept {
  const auto* group = std::get_if<GroupJob>(&job);
  if (group == nullptr) return {.tensors = 1};
  RecordCount count;
  for (const auto& item : group->items) ++(std::holds_alternative<GroupScalar>(item) ? count.scalars : count.tensors);
  return count;
}

void LossLog::lose_scalar(std::int64_t step) noexcept {
  counters_.count_dropped_scalar();
  note(nullptr, false, step);
}

void LossLog::lose_tensor(const ProbeJob* job, std::int64_t step) noexcept {
  counters_.count_dropped_tensor();
  note(job != nullptr ? job->probe : nullptr, job != nullptr && job->evaluation, step);
}

void LossLog::lose(PayloadPtr payload, std::int64_t step) noexcept {
  const auto* probe = std::get_if<ProbeJob>(&payload->job);
  if (probe != nullptr && probe->lost) return;  // only its place: it was counted before
  const RecordCount count = count_of(payload->job);
  counters_.count_dropped(count.scalars, count.tensors);
  note(probe != nullptr ? probe->probe : nullptr, probe != nullptr && probe->evaluation, step);
}

void LossLog::lose_unseen(PayloadPtr payload, std::int64_t step) noexcept {
  if (const auto* probe = std::get_if<ProbeJob>(&payload->job)) {
    const std::scoped_lock lock(mutex_);
    try {
      ++unseen_[{probe->pass, probe->evaluation, step}];
      if (unseen_.size() > kUnseenSteps) unseen_.erase(unseen_.begin());
      any_unseen_.store(true, std::memory_order_relaxed);
    } catch (...) {
      counters_.count_out_of_memory();
    }
  }
  lose(std::move(payload), step);
}

std::uint64_t LossLog::take_unseen(Pass pass, std::int64_t step) {
  if (!any_unseen_.load(std::memory_order_relaxed)) return 0;  // it was set before the end of the step was sent
  const std::scoped_lock lock(mutex_);
  const auto found = unseen_.find({pass.id, pass.evaluation, step});
  if (found == unseen_.end()) return 0;
  const std::uint64_t tensors = found->second;
  unseen_.erase(found);
  any_unseen_.store(!unseen_.empty(), std::memory_order_relaxed);
  return tensors;
}

void LossLog::lose_step_mark(Op op, std::uint32_t pass, std::int64_t step) noexcept {
  counters_.count_dropped_step_mark();
  if (op != Op::step_begin && op != Op::evaluation_begin) return;
  const std::scoped_lock lock(mutex_);
  if (lost_begins_.size() == kLostBegins) lost_begins_.pop_front();
  try {
    lost_begins_.emplace_back(Pass{pass, op == Op::evaluation_begin}, step);
  } catch (...) {
    counters_.count_out_of_memory();
  }
}

bool LossLog::take_lost_begin(Pass pass, std::int64_t step) {
  if (counters_.dropped_step_marks() == 0) return false;
  const std::scoped_lock lock(mutex_);
  const auto at = std::ranges::find(lost_begins_, std::pair(pass, step));
  if (at == lost_begins_.end()) return false;
  lost_begins_.erase(at);
  return true;
}

void LossLog::note(const ProbeEntry* probe, bool evaluation, std::int64_t step) noexcept {
  const std::scoped_lock lock(mutex_);
  any_.store(true, std::memory_order_release);
  for (sinks::Loss& loss : losses_) {
    const bool same_probe = probe == nullptr ? !loss.probe : loss.probe && loss.probe->id == probe->id;
    if (!same_probe || loss.evaluation != evaluation) continue;
    loss.first_step = std::min(loss.first_step, step);
    loss.last_step = std::max(loss.last_step, step);
    ++loss.count;
    return;
  }
  try {
    losses_.emplace_back();
  } catch (...) {  // it is counted, but leaves no gap in the log
    return counters_.count_out_of_memory();
  }
  sinks::Loss& loss = losses_.back();
  if (probe != nullptr) loss.probe = {probe->id, probe->name, probe->options.kind, probe->options.inputs};
  loss.evaluation = evaluation;
  loss.first_step = loss.last_step = step;
  loss.count = 1;
}

std::vector<sinks::Loss> LossLog::take() {
  if (!any_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(mutex_);
  any_.store(false, std::memory_order_relaxed);
  return std::exchange(losses_, {});
}

void LossLog::clear() noexcept {
  losses_.clear();
  lost_begins_.clear();
  unseen_.clear();
  any_unseen_.store(false);
  any_.store(false);
}

}  // namespace sonde::record
