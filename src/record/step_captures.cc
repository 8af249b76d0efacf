// Captures of the steps: when one is begun, what it will take of the disk, and what became of it.
#include <algorithm>
#include <utility>

#include "base/file.h"
#include "record/disk_use.h"
#include "record/steps.h"
#include "tensor/copy.h"

namespace sonde::record {
namespace {

constexpr std::size_t kStepsFlown = 10'000;  // of which the sizes are remembered
// Bytes that a capture has about itself, about each step, tensor and scalar, without their names.
constexpr std::uint64_t kDescription = 1024;
constexpr std::uint64_t kStepDescription = 256;
constexpr std::uint64_t kTensorDescription = 256;
constexpr std::uint64_t kScalarDescription = 32;

FlightRecorder::Firing firing_of(const TriggerJob& job) {
  return {.cause = CaptureInfo::Cause::manual, .reason = job.reason, .before = job.before, .after = job.after};
}

// By which the log tells of captures that were held back: those that are asked for by hand may have any reason.
std::string told_as(const FlightRecorder::Firing& firing) {
  return firing.cause == CaptureInfo::Cause::manual ? std::string() : firing.reason;
}

}  // namespace

void Steps::trigger(const sinks::Stamp& stamp, const TriggerJob& job) {
  manual_.push_back(firing_of(job));
  if (!open_.any_but_evaluation()) fire_manual({stamp.wall_time, last_step_});
}

Status Steps::check_room(const sinks::Stamp& stamp, const TriggerJob& job, const policy::BudgetKeeper& budget,
                         std::uint64_t taken) {
  const FlightRecorder::Firing firing = firing_of(job);
  const std::string why = budget.lacks_disk(taken, expected_bytes(firing));
  return why.empty() ? Status::success() : hold_back(stamp, firing, why);
}

void Steps::fire(const sinks::Stamp& stamp) {
  for (const policy::Trigger* trigger : engine_->fired()) {
    const bool begun = capture(stamp, {.reason = trigger->name(),
                                       .when = trigger->condition().text(),
                                       .values = trigger->condition().values(),
                                       .before = trigger->policy().before,
                                       .after = trigger->policy().after});
    if (!begun) engine_->capture_ended(trigger->name(), stamp.step, false);
  }
  fire_manual(stamp);
}

void Steps::fire_manual(const sinks::Stamp& stamp) {
  for (FlightRecorder::Firing& firing : manual_) (void)capture(stamp, std::move(firing));  // told by itself
  manual_.clear();
}

bool Steps::capture(const sinks::Stamp& stamp, FlightRecorder::Firing firing) {
  const std::uint64_t bytes = expected_bytes(firing);
  const std::string why = budget_ != nullptr ? budget_->lacks_disk(progress(stamp.wall_time), bytes) : std::string();
  if (!why.empty()) {
    (void)hold_back(stamp, firing, why);
    return false;
  }
  held_back_.erase(told_as(firing));
  begun_.push_back({firing.cause, firing.reason, bytes});
  sinks_.note(flight_.fire(stamp, std::move(firing)));
  return true;
}

void Steps::count_flown(const ProbeEntry& probe, const TensorView& view) {
  flown_now_.bytes += byte_size(view);
  flown_now_.described += kTensorDescription + 3 * probe.name.size();
  for (const std::string& input : probe.options.inputs) flown_now_.described += input.size() + 3;
}

void Steps::count_flown(const StepData& step, bool evaluation) {
  flown_now_.described += kStepDescription;
  for (const auto& [name, value] : step.scalars) flown_now_.described += kScalarDescription + name.size();
  if (evaluation) return;
  flown_.push_back(std::exchange(flown_now_, {}));
  if (flown_.size() > kStepsFlown) flown_.pop_front();
}

// As many of the last steps as the ring can have, and those to come as large as the last one; with these it may grow to
// twice the ring.
std::uint64_t Steps::expected_bytes(const FlightRecorder::Firing& firing) const {
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
Status Steps::hold_back(const sinks::Stamp& stamp, const FlightRecorder::Firing& firing, const std::string& why) {
  if (const policy::Level level = policy_.level(); held_back_at_ != level) {
    held_back_at_ = level;
    held_back_.clear();
  }
  Status status = {Code::exhausted, "the capture '" + firing.reason + "' of step " + std::to_string(stamp.step) +
                                        " was not saved: " + why + "; set a larger [budget] disk, let it have fewer " +
                                        "steps, or remove captures that nobody needs"};
  const bool news = held_back_.insert(told_as(firing)).second;
  if (news || firing.cause == CaptureInfo::Cause::manual) errors_.push(status);
  if (news) sinks_.give_up(stamp, status.message());
  return status;
}

std::uint64_t Steps::capture_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Begun& begun : begun_) bytes += begun.bytes;
  return bytes;
}

void Steps::poll(double wall_time) {
  counters_.set_flight_dropped(flight_.dropped());  // also what a ring that is closed had dropped
  for (const auto& outcome : flight_.take_outcomes()) {
    if (outcome.cause == CaptureInfo::Cause::trigger)
      engine_->capture_ended(outcome.reason, outcome.step, outcome.path.ok());
    const auto begun = std::ranges::find_if(begun_, [&](const Begun& capture) {
      return capture.cause == outcome.cause && capture.reason == outcome.reason;
    });
    if (begun != begun_.end()) begun_.erase(begun);
    if (!outcome.path) {
      errors_.push({outcome.path.error().code(), "the capture '" + outcome.reason + "' of step " +
                                                     std::to_string(outcome.step) +
                                                     " was not saved: " + outcome.path.error().message()});
      continue;
    }
    counters_.count_capture();
    counters_.tally().bytes_written.fetch_add(bytes_below(*outcome.path), std::memory_order_relaxed);
    sinks_.say("sonde/captures", {wall_time, outcome.step},
               "`" + *outcome.path + "`: " + outcome.reason + " at step " + std::to_string(outcome.step));
  }
}

}  // namespace sonde::record
