#include "record/step_captures.h"

#include <algorithm>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "record/attempt.h"
#include "record/disk_use.h"
#include "tensor/copy.h"
#include "tensor_files/external_rings.h"

namespace sonde::record {
namespace {

constexpr std::size_t kStepsFlown = 10'000;  // whose sizes are remembered
// Bytes that a capture has about itself, about each step, tensor and scalar, without their names.
constexpr std::uint64_t kDescription = 1024;
constexpr std::uint64_t kStepDescription = 256;
constexpr std::uint64_t kTensorDescription = 256;
constexpr std::uint64_t kScalarDescription = 32;

FlightRecorder::Firing firing_of(const TriggerJob& job) {
  return {.cause = CaptureInfo::Cause::manual, .reason = job.reason, .before = job.before, .after = job.after};
}

// The key under which the log reports captures that were not started: manual ones may have any reason.
std::string told_as(const FlightRecorder::Firing& firing) {
  return firing.cause == CaptureInfo::Cause::manual ? std::string() : firing.reason;
}

}  // namespace

StepCaptures::StepCaptures(const std::string& directory, const std::string& writer, bool may_fly, PolicyInForce& policy,
                           CounterSet& counters, ErrorQueue& errors, SinkSet& sinks, BudgetController* budget)
    : directory_(directory),
      writer_(writer),
      may_fly_(may_fly),
      policy_(policy),
      counters_(counters),
      errors_(errors),
      sinks_(sinks),
      budget_(budget),
      flight_(directory, writer, counters.tally()) {}

// ---- The ring.

Status StepCaptures::apply(std::shared_ptr<policy::Engine> engine, bool at_once) {
  engine_ = std::move(engine);
  if (!may_fly_) {
    flight_.forgo("the flight ring belongs to the parent process: a forked process has none");
    if (!engine_->wants_flight()) return Status::success();
    return {Code::unsupported, "this process records without a flight ring, since it was forked from one that has it"};
  }
  flight_.apply(*engine_, at_once);
  policy_.set_has_ring(flight_.has_ring());
  return Status::success();
}

std::optional<Status> StepCaptures::follow_ring(std::span<const std::int64_t> in_progress) {
  std::optional<Status> status = flight_.follow_ring(in_progress);
  if (!status) return status;
  policy_.set_has_ring(flight_.has_ring());
  attempt(counters_, [&] { note_ring_elsewhere(); });
  return status;
}

// The next start of the job may have another policy, and would not look for it there.
void StepCaptures::note_ring_elsewhere() {
  if (!flight_.has_ring() || engine_->policy().flight.directory.empty()) return;
  const auto path = base::real_path(flight_.ring()->path());
  if (!path || std::ranges::count(external_rings_, *path) > 0) return;
  external_rings_.push_back(*path);
  Status status = tensor_files::note_external_rings(directory_, writer_, external_rings_);
  if (!status.ok()) errors_.push(std::move(status));
}

void StepCaptures::close_ring() {
  const Status closed = flight_.close();
  sinks_.note(closed);
  if (!closed.ok() || external_rings_.empty()) return;
  external_rings_.clear();
  sinks_.note(tensor_files::note_external_rings(directory_, writer_, {}));
}

bool StepCaptures::add(const sinks::Stamp& stamp, Pass pass, const StepData::Tensor& tensor, const TensorView& view) {
  const ProbeEntry& probe = *tensor.probe;
  const bool kept =
      flight_.add(stamp, pass, {probe.name, probe.options.kind, tensor.record.occurrence, probe.options.inputs, view});
  if (kept && flight_.has_ring()) count_flown(probe, view);
  return kept;
}

void StepCaptures::end_step(const sinks::Stamp& stamp, const StepData& step) {
  sinks_.note(flight_.end_step(stamp, step.pass, step.scalars));
  count_flown(step, step.pass.evaluation);
}

// ---- Captures.

void StepCaptures::trigger(const sinks::Stamp& stamp, const TriggerJob& job, bool in_progress) {
  manual_.push_back(firing_of(job));
  if (!in_progress) fire_manual({stamp.wall_time, last_step_});
}

Status StepCaptures::check_room(const sinks::Stamp& stamp, const TriggerJob& job, const policy::BudgetKeeper& budget,
                                std::uint64_t taken) {
  const FlightRecorder::Firing firing = firing_of(job);
  const std::string why = budget.lacks_disk(taken, expected_bytes(firing));
  return why.empty() ? Status::success() : hold_back(stamp, firing, why);
}

void StepCaptures::fire(const sinks::Stamp& stamp, bool asked) noexcept {
  const bool all = attempt(counters_, [&] {
    if (!asked) return;
    for (const policy::Trigger* trigger : engine_->fired()) {
      bool begun = false;
      const bool tried = attempt(counters_, [&] {
        begun = capture(stamp, {.reason = trigger->name(),
                                .when = trigger->condition().text(),
                                .values = trigger->condition().values(),
                                .before = trigger->policy().before,
                                .after = trigger->policy().after});
      });
      if (!tried) lose_capture(stamp);
      if (!begun) engine_->capture_ended(trigger->name(), stamp.step, false);
    }
  });
  if (!all) lose_capture(stamp);
  fire_manual(stamp);
  last_step_ = stamp.step;
}

void StepCaptures::fire_manual(const sinks::Stamp& stamp) noexcept {
  for (FlightRecorder::Firing& firing : manual_) (void)capture(stamp, std::move(firing));  // reports its own errors
  manual_.clear();
}

bool StepCaptures::capture(const sinks::Stamp& stamp, FlightRecorder::Firing firing) noexcept {
  bool begun = false;
  const bool tried = attempt(counters_, [&] {
    const std::uint64_t bytes = expected_bytes(firing);
    const std::string why = budget_ != nullptr ? budget_->lacks_disk(progress(stamp.wall_time), bytes) : std::string();
    if (!why.empty()) return (void)hold_back(stamp, firing, why);
    held_back_.erase(told_as(firing));
    flight_.fire(stamp, std::move(firing), bytes);
    pending_bytes_ += bytes;
    begun = true;
  });
  if (!tried) lose_capture(stamp);
  return begun;
}

void StepCaptures::lose_capture(const sinks::Stamp& stamp) noexcept {
  counters_.tally().write_errors.fetch_add(1, std::memory_order_relaxed);
  counters_.tally().lose({stamp.step, stamp.step, 1, "out of memory"});  // short enough to need none
  sinks_.note({Code::exhausted, "out of memory"});
}

void StepCaptures::count_flown(const ProbeEntry& probe, const TensorView& view) {
  flown_now_.bytes += tensor::byte_size(view);
  flown_now_.described += kTensorDescription + 3 * probe.name.size();
  for (const std::string& input : probe.options.inputs) flown_now_.described += input.size() + 3;
}

void StepCaptures::count_flown(const StepData& step, bool evaluation) {
  flown_now_.described += kStepDescription;
  for (const auto& [name, value] : step.scalars) flown_now_.described += kScalarDescription + name.size();
  if (evaluation) return;
  flown_.push_back(std::exchange(flown_now_, {}));
  if (flown_.size() > kStepsFlown) flown_.pop_front();
}

// As many of the last steps as the ring can have, and those to come as large as the last one; with these it may grow to
// twice the ring.
std::uint64_t StepCaptures::expected_bytes(const FlightRecorder::Firing& firing) const {
  if (!flight_.has_ring() || flown_.empty()) return kDescription;
  std::uint64_t room = flight_.ring()->bytes();
  std::uint64_t bytes = kDescription;
  std::uint64_t steps = static_cast<std::uint64_t>(std::max<std::int64_t>(firing.before, 0)) + 1;
  steps = std::min({steps, flight_.ring()->ended(), std::uint64_t{flown_.size()}});
  if (const std::int64_t most = engine_->policy().flight.steps; most > 0) {
    steps = std::min(steps, static_cast<std::uint64_t>(most));
  }
  for (auto step = flown_.rbegin(); steps > 0 && step->bytes <= room; ++step, --steps) {
    room -= step->bytes;
    bytes += step->bytes + step->described;
  }
  const Flown& last = flown_.back();
  const auto after = static_cast<std::uint64_t>(std::max<std::int64_t>(firing.after, 0));
  return bytes + (last.bytes > 0
                      ? std::min(after, (room + flight_.ring()->bytes()) / last.bytes) * (last.bytes + last.described)
                      : 0);
}

// Once for each trigger, until it has room again or the level is another one; of what somebody asked for by hand each
// time.
Status StepCaptures::hold_back(const sinks::Stamp& stamp, const FlightRecorder::Firing& firing,
                               const std::string& why) {
  if (const policy::Level level = policy_.level(); held_back_at_ != level) {
    held_back_at_ = level;
    held_back_.clear();
  }
  Status status = {Code::exhausted, "the capture '" + firing.reason + "' of step " + std::to_string(stamp.step) +
                                        " was not saved: " + why + "; set a larger [budget] disk, capture fewer " +
                                        "steps, or remove old captures"};
  const bool news = held_back_.insert(told_as(firing)).second;
  if (news || firing.cause == CaptureInfo::Cause::manual) errors_.push(status);
  if (news) sinks_.give_up(stamp, status.message());
  return status;
}

void StepCaptures::poll(double wall_time) noexcept {
  counters_.set_flight_dropped(flight_.dropped());  // also what a ring that is closed had dropped
  while (const std::unique_ptr<CaptureWriter::Capture> written = flight_.take_written()) {
    pending_bytes_ -= written->bytes;
    const CaptureInfo& info = written->info;
    if (info.cause == CaptureInfo::Cause::trigger) {
      engine_->capture_ended(info.reason, info.step, written->status.ok());
    }
    if (written->status.ok()) counters_.count_capture();
    const bool told = attempt(counters_, [&] { tell(*written, wall_time); });
    if (!told && !written->status.ok()) sinks_.note({Code::exhausted, "out of memory"});  // short: needs none
  }
}

void StepCaptures::tell(const CaptureWriter::Capture& written, double wall_time) {
  const CaptureInfo& info = written.info;
  const std::string step = std::to_string(info.step);
  if (!written.status.ok()) {
    return errors_.push({written.status.code(), "the capture '" + info.reason + "' of step " + step +
                                                    " was not saved: " + written.status.message()});
  }
  counters_.tally().bytes_written.fetch_add(bytes_below(written.path), std::memory_order_relaxed);
  sinks_.say("sonde/captures", {wall_time, info.step}, "`" + written.path + "`: " + info.reason + " at step " + step);
}

}  // namespace sonde::record
