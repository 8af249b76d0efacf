#include "record/steps.h"

#include <utility>
#include <vector>

#include "base/clock.h"
#include "record/attempt.h"
#include "record/step_rows.h"
#include "tensor/convert.h"

namespace sonde::record {
namespace {

constexpr std::size_t kManyTensors = 100'000;  // in one step: it has probably been forgotten

}  // namespace

Steps::Steps(const Run& run, PolicyInForce& policy, TagTable& tags, CounterSet& counters, ErrorQueue& errors,
             LossLog& losses, LossReport& loss_report, SinkSet& sinks, BudgetController* budget, base::TaskPool& pool,
             ConditionQueue* conditions)
    : policy_(policy),
      counters_(counters),
      errors_(errors),
      losses_(losses),
      sinks_(sinks),
      budget_(budget),
      gatherer_(run.histogram_buckets, pool),
      artifacts_(run.directory, run.writer, tags, counters, loss_report, sinks),
      captures_(run.directory, run.writer, run.may_fly, policy, counters, errors, sinks, budget),
      warnings_(policy, tags, errors, sinks),
      conditions_(conditions) {
  follow_policy();  // the first ring is there when recording begins
  follow_ring();
}

Steps::~Steps() = default;

void Steps::follow_policy() {
  const std::uint64_t version = policy_.engine_version();
  const bool first = !engine_;
  if (version != engine_version_) {
    std::shared_ptr<policy::Engine> engine = policy_.engine();
    // Without memory for it the plans that are spent are made again with the next step.
    if (engine_) attempt(counters_, [&] { policy_.hand_over(*engine_, *engine); });
    engine_ = std::move(engine);
    engine_version_ = version;
    ring_wanted_ = true;
    ring_status_ = Status::success();
    warnings_.begin();
  }
  if (!ring_wanted_) return;
  Status status = captures_.apply(engine_, first);  // without memory for it: in the next round
  ring_wanted_ = false;
  if (!status.ok()) tell_ring(ring_status_ = std::move(status));
}

void Steps::follow_ring() {
  if (!captures_.awaits_ring()) return;
  std::vector<std::int64_t> in_progress;
  for (const StepData* step : open_.all()) {
    if (!step->pass.evaluation) in_progress.push_back(step->step);
  }
  for (;;) {
    const bool making = captures_.making_ring();
    const std::optional<Status> status = captures_.follow_ring(in_progress);
    if (!status) return;
    if (making && !captures_.making_ring()) ring_status_ = *status;
    if (!status->ok()) tell_ring(*status);
  }
}

void Steps::tell_ring(const Status& status) {
  errors_.push(status);
  // Who has no error handler finds it in the log.
  sinks_.say("sonde/flight", {base::wall_seconds(), captures_.last_step()}, status.message());
}

void Steps::scalar(std::int64_t step, std::uint32_t tag, std::string_view name, double value) {
  if (!captures_.has_ring() && !engine_->has_conditions() && !policy_.has_conditions()) return;
  open_.set_scalar(tag, name, value, step);
}

void Steps::begin(const sinks::Stamp& stamp, Pass pass) {
  if (open_.find(pass, stamp.step) != nullptr) return;
  StepData* const before = pass.id == 0 ? open_.training() : nullptr;
  if (before != nullptr) commit({stamp.wall_time, before->step}, *before);
  open_.begin(pass, stamp.step);
}

void Steps::end(const sinks::Stamp& stamp, Pass pass) {
  if (StepData* step = find(stamp, pass)) commit(stamp, *step);
}

StepData* Steps::find(const sinks::Stamp& stamp, Pass pass) {
  if (StepData* step = open_.find(pass, stamp.step)) return step;
  if (!losses_.take_lost_begin(pass, stamp.step)) return nullptr;
  begin(stamp, pass);
  return open_.find(pass, stamp.step);
}

void Steps::trigger(const sinks::Stamp& stamp, const TriggerJob& job) {
  captures_.trigger(stamp, job, open_.any_but_evaluation());
}

// ---- Tensors as they arrive.

void Steps::probe(const sinks::Stamp& stamp, PayloadPtr payload, const ProbeJob& job) {
  const std::string& name = job.probe->name;
  const sinks::ProbeName probe = {job.probe->id, name, job.probe->options.kind, job.probe->options.inputs};
  StepData* const step = find(stamp, {job.pass, job.evaluation});
  if (step == nullptr) {
    sinks_.reject(stamp, {Code::invalid_argument, "the probe '" + name + "' was recorded after its step had ended"},
                  job.evaluation, &probe);
    return;
  }
  const policy::Level level = policy_.level();
  const auto gathered = gatherer_.add(*step, job, payload->view, level);
  if (!gathered) {
    sinks_.reject(stamp, gathered.error(), job.evaluation, &probe);
    return;
  }
  StepData::Tensor& tensor = **gathered;
  counters_.count_tensor();
  Keep keep = policy::limit(job.plan->keep(job.due), level);
  attempt(counters_, [&] { warn_about(*step, job, payload->view, keep); });
  if (job.computed != nullptr) keep = keep & (Keep::stats | Keep::histogram);
  if (job.plan->flight && !attempt(counters_, [&] { add_to_ring(stamp, *step, tensor, payload->view); })) {
    attempt(counters_, [&] { captures_.miss(stamp.step, name, "out of memory"); });
  }
  if (!has(keep, StepDecider::kElements)) return;
  if (StepDecider::decides_later(tensor)) {
    tensor.payload = std::move(payload);
  } else {
    artifacts_.show(stamp, tensor, keep, std::move(payload), job.evaluation);
  }
}

// What a user may not expect of a tensor.
void Steps::warn_about(const StepData& step, const ProbeJob& job, const TensorView& view, Keep keep) {
  const std::string& name = job.probe->name;
  if (job.computed != nullptr) {
    if (has(keep, StepDecider::kElements)) {
      warn_once("computed " + name,
                {Code::unsupported, "of the probe '" + name +
                                        "' only statistics were recorded: there can be no picture, sound, text or "
                                        "file of its elements, as the policy or its ProbeOptions ask for"});
    }
  } else if (tensor::is_complex(view.dtype) && has(keep, Keep::stats | Keep::histogram)) {
    warn_once("complex " + name,
              {Code::unsupported, "the probe '" + name +
                                      "' has no statistics, since complex numbers have no order: record its real "
                                      "and imaginary parts or its magnitude"});
  }
  if (step.tensors.size() != kManyTensors) return;
  errors_.push({Code::exhausted, "step " + std::to_string(step.step) + " has " + std::to_string(kManyTensors) +
                                     " tensors and is still open: end it, since all of them stay in memory until "
                                     "then"});
}

void Steps::add_to_ring(const sinks::Stamp& stamp, StepData& step, const StepData::Tensor& tensor,
                        const TensorView& view) {
  const ProbeEntry& entry = *tensor.probe;
  if (policy_.level() != policy::Level::full) {
    step.degraded = true;
    return;
  }
  if (view.data == nullptr && view.size() > 0) {
    captures_.miss(stamp.step, key_of(entry, tensor.record.occurrence, step.pass.evaluation, tags::Plugin::histograms),
                   "only its statistics were recorded");
    return;
  }
  if (captures_.add(stamp, step.pass, tensor, view)) return;
  warn_once("ring", {Code::exhausted, "the flight ring has no room for '" + entry.name + "' in step " +
                                          std::to_string(stamp.step) +
                                          ": set a larger [flight] size, or let it keep fewer tensors"});
}

void Steps::lose(const sinks::Stamp& stamp, const ProbeJob& job) {
  StepData* const step = find(stamp, {job.pass, job.evaluation});
  if (step == nullptr) return;
  const std::uint32_t occurrence = step->next_occurrence(job.probe->id);
  if (!job.plan->flight || !captures_.has_ring()) return;
  captures_.lose(stamp, step->pass, key_of(*job.probe, occurrence, job.evaluation, tags::Plugin::histograms),
                 "there was no memory left for it: give the recorder more, or record less often", 1);
}

// ---- The end of a step.

void Steps::commit(const sinks::Stamp& stamp, StepData& step) noexcept {
  const Pass pass = step.pass;
  const bool evaluation = pass.evaluation;
  attempt(counters_, [&] {
    if (budget_ == nullptr) return;
    if (budget_->limits_disk()) wait_for_files();  // they count
    budget_->look_at_disk(captures_.progress(stamp.wall_time));
  });
  const bool looked = attempt(counters_, [&] { decider_.end_step(*engine_, step, evaluation); });
  attempt(counters_, [&] {
    if (engine_->has_newly_spent()) policy_.plan_again(*engine_);
  });
  const policy::Level level = policy_.level();  // the same for all of the step
  Decision decision;
  std::shared_ptr<ConditionQueue::Questions> questions;
  bool deferred = false;
  const bool decided =
      looked && attempt(counters_, [&] {
        if (conditions_ != nullptr) questions = std::make_shared<ConditionQueue::Questions>();
        decision = StepDecider::decide(*engine_, step, evaluation, level, [&](const StepData::Tensor& tensor) {
          if (!questions) return holds(tensor, ConditionQueue::ask(step, tensor));
          questions->tensors.push_back(static_cast<std::size_t>(&tensor - step.tensors.data()));
          return true;
        });
        deferred = !ended_.empty() || (questions && !questions->tensors.empty());
        if (deferred) defer(stamp, step, decision, level, std::move(questions));
      });
  StepData& ended = decided && deferred ? *ended_.back().step : step;
  if (!decided) artifacts_.lose_step(stamp, step, evaluation);
  if (decided && !deferred) artifacts_.write_step(stamp, step, decision, evaluation);
  capture(stamp, ended, level, looked);  // the ring goes on with the next step, also where this one waits
  open_.remove(step);
  if (!decided || !deferred) set_committed(stamp.step, pass);
}

void Steps::defer(const sinks::Stamp& stamp, StepData& step, Decision& decision, policy::Level level,
                  std::shared_ptr<ConditionQueue::Questions> questions) {
  auto waiting = std::make_shared<StepData>();
  if (questions && questions->tensors.empty()) questions = nullptr;
  ended_.push_back({stamp, waiting, std::move(decision), level, questions});
  *waiting = std::exchange(step, {});
  if (!questions) return;
  questions->step = waiting;
  try {
    conditions_->push(std::move(questions));
  } catch (...) {
    step = std::move(*waiting);
    ended_.pop_back();
    throw;
  }
}

void Steps::capture(const sinks::Stamp& stamp, const StepData& step, policy::Level level, bool looked) noexcept {
  attempt(counters_, [&] {
    const std::uint64_t lost = losses_.take_unseen(step.pass, step.step);
    if (lost == 0) return;
    captures_.lose(stamp, step.pass, "tensors",
                   "they were dropped because the buffer was full: record less often, or let calls wait "
                   "(Overflow::wait)",
                   lost);
  });
  attempt(counters_, [&] {
    if (step.degraded || level != policy::Level::full) {
      captures_.miss(stamp.step, "all tensors", "the budget did not allow whole tensors");
    }
  });
  attempt(counters_, [&] { captures_.end_step(stamp, step); });
  if (step.pass.evaluation) return;
  captures_.fire(stamp, looked);
  attempt(counters_, [&] { warnings_.end_step(*engine_, stamp); });
}

void Steps::set_committed(std::int64_t step, Pass pass) noexcept {
  if (pass.evaluation) return;
  const bool noted = attempt(counters_, [&] { written_.push_back({step, pass.id != 0, artifacts_.files_begun()}); });
  if (noted) return commit_written();
  wait_for_files();  // no memory to do it later
  counters_.set_committed(step, pass.id != 0);
}

void Steps::commit_written() noexcept {
  const std::uint64_t files = artifacts_.files_done();
  while (!written_.empty() && written_.front().files <= files) {
    counters_.set_committed(written_.front().step, written_.front().beside_others);
    written_.pop_front();
  }
}

void Steps::wait_for_files() noexcept {
  artifacts_.wait_for_files();
  commit_written();
}

void Steps::write_ended() noexcept {
  while (!ended_.empty()) {
    Ended& ended = ended_.front();
    if (ended.questions && !ended.questions->answered.load(std::memory_order_acquire)) return;
    if (ended.questions) {
      const auto& tensors = ended.questions->tensors;
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const StepData::Tensor& tensor = ended.step->tensors[tensors[i]];
        if (holds(tensor, ended.questions->answers[i])) continue;
        StepDecider::drop_own(tensor, ended.level, tensors[i], ended.decision);
      }
    }
    artifacts_.write_step(ended.stamp, *ended.step, ended.decision, ended.step->pass.evaluation);
    set_committed(ended.stamp.step, ended.step->pass);
    ended_.pop_front();
  }
}

void Steps::give_up_conditions() noexcept {
  write_ended();
  for (Ended& ended : ended_) {
    if (!ended.questions || ended.questions->answered.load(std::memory_order_acquire)) continue;
    for (const std::size_t i : ended.questions->tensors) {
      const StepData::Tensor& tensor = ended.step->tensors[i];
      attempt(counters_, [&] {
        sinks_.reject(ended.stamp,
                      {Code::invalid_argument, "the condition of the probe '" + tensor.probe->name +
                                                   "' was not evaluated in step " + std::to_string(ended.stamp.step) +
                                                   ", since the process ended: close the recorder before"},
                      ended.step->pass.evaluation, &tensor.record.probe);
      });
      StepDecider::drop_own(tensor, ended.level, i, ended.decision);
    }
    ended.questions = nullptr;
  }
  write_ended();
}

bool Steps::holds(const StepData::Tensor& tensor, ConditionQueue::Answer answer) noexcept {
  if (answer != ConditionQueue::Answer::threw) return answer == ConditionQueue::Answer::holds;
  attempt(counters_, [&] {
    sinks_.note({Code::invalid_argument, "the condition of the probe '" + tensor.probe->name + "' threw an exception"});
  });
  return false;
}

void Steps::poll(double wall_time) noexcept {
  write_ended();
  artifacts_.poll();
  commit_written();
  attempt(counters_, [&] { follow_ring(); });
  captures_.poll(wall_time);
}

// ---- The end.

void Steps::finish_pending(double wall_time) noexcept {
  while (StepData* step = open_.first()) commit({wall_time, step->step}, *step);
  wait_for_files();
  attempt(counters_, [&] { warnings_.finish(*engine_, {wall_time, captures_.last_step()}); });
  captures_.finish_pending();
}

void Steps::close(double wall_time) noexcept {
  finish_pending(wall_time);
  captures_.wait();
  attempt(counters_, [&] { captures_.close_ring(); });
  poll(wall_time);
}

void Steps::leave() noexcept {
  give_up_conditions();
  wait_for_files();
  captures_.finish_pending();
  captures_.wait();
  attempt(counters_, [&] { captures_.close_ring(); });
}

}  // namespace sonde::record
