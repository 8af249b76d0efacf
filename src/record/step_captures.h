// The flight ring and the captures of a recorder's steps: when one is begun, what it will take of the disk, and what
// became of it. Belongs to the backend thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "policy/budget.h"
#include "policy/engine.h"
#include "record/budget_controller.h"
#include "record/counter_set.h"
#include "record/error_queue.h"
#include "record/flight_recorder.h"
#include "record/policy_in_force.h"
#include "record/pool.h"
#include "record/sink_set.h"
#include "record/step_data.h"

namespace sonde::record {

class StepCaptures {
 public:
  // All must outlive it. `may_fly`: whether a ring may be made. Without a budget nothing is limited.
  StepCaptures(const std::string& directory, const std::string& writer, bool may_fly, PolicyInForce& policy,
               CounterSet& counters, ErrorQueue& errors, SinkSet& sinks, BudgetController* budget);

  // Another policy. The error is about its ring; recording goes on without. `in_progress`: the steps that have begun.
  Status apply(std::shared_ptr<policy::Engine> engine, std::span<const std::int64_t> in_progress);
  bool has_ring() const noexcept { return flight_.has_ring(); }

  // ---- A step.

  // False: there is a ring, but no room in it.
  bool add(const sinks::Stamp& stamp, Pass pass, const StepData::Tensor& tensor, const TensorView& view);
  // Something of the step in progress that the ring does not get. Captures with the step say so.
  void miss(std::int64_t step, std::string what, std::string_view reason) {
    flight_.miss(step, std::move(what), reason);
  }
  void end_step(const sinks::Stamp& stamp, const StepData& step);
  // After a training step: the captures that its triggers and callers ask for.
  void fire(const sinks::Stamp& stamp);
  std::int64_t last_step() const noexcept { return last_step_; }  // training

  // ---- By hand.

  // A capture when the step in progress ends, or at once where there is none.
  void trigger(const sinks::Stamp& stamp, const TriggerJob& job, bool in_progress);
  // Whether there would be room for it under a budget, where the run takes so many bytes of the disk. Where there is
  // not, it is told as if it had been tried.
  Status check_room(const sinks::Stamp& stamp, const TriggerJob& job, const policy::BudgetKeeper& budget,
                    std::uint64_t taken);

  // ---- Captures that are written.

  // Every round of the backend.
  void poll(double wall_time);
  // What those that are not written yet will about take of the disk.
  std::uint64_t bytes() const noexcept;
  BudgetController::Progress progress(double wall_time) const noexcept { return {{wall_time, last_step_}, bytes()}; }
  // Hands those that wait for further steps to their writer.
  void finish_pending();
  void wait() { flight_.wait(); }  // any thread, after it
  // After both: removes the ring.
  void close_ring();
  void abandon_ring() noexcept { flight_.abandon(); }

 private:
  // False: there is no room for it on the disk.
  bool capture(const sinks::Stamp& stamp, FlightRecorder::Firing firing);
  void fire_manual(const sinks::Stamp& stamp);
  void note_ring_elsewhere();
  // What goes into the ring, for the size of captures to come.
  void count_flown(const ProbeEntry& probe, const TensorView& view);
  void count_flown(const StepData& step, bool evaluation);
  std::uint64_t expected_bytes(const FlightRecorder::Firing& firing) const;
  Status hold_back(const sinks::Stamp& stamp, const FlightRecorder::Firing& firing, const std::string& why);

  const std::string directory_;
  const std::string writer_;
  const bool may_fly_;
  PolicyInForce& policy_;
  CounterSet& counters_;
  ErrorQueue& errors_;
  SinkSet& sinks_;
  BudgetController* const budget_;
  std::shared_ptr<policy::Engine> engine_;
  FlightRecorder flight_;
  std::int64_t last_step_ = 0;
  std::vector<std::string> external_rings_;     // paths of those that there were so far
  std::vector<FlightRecorder::Firing> manual_;  // to fire when the step ends
  // What went into the ring with a training step, and the passes before it.
  struct Flown {
    std::uint64_t bytes = 0;      // of elements
    std::uint64_t described = 0;  // what a capture says of them, about
  };
  Flown flown_now_;
  std::deque<Flown> flown_;  // the last training steps
  struct Begun {
    CaptureInfo::Cause cause;
    std::string reason;
    std::uint64_t bytes;  // expected
  };
  std::vector<Begun> begun_;         // captures that are not written yet
  std::set<std::string> held_back_;  // of these the log says so already
  policy::Level held_back_at_ = {};  // when it said so
};

}  // namespace sonde::record
