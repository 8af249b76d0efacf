// The flight ring and the captures of a recorder's steps: when one starts, its expected size, and its outcome. Belongs
// to the backend thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
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
  // All must outlive it. `may_fly`: whether a ring may be created. Without a budget nothing is limited.
  StepCaptures(const std::string& directory, const std::string& writer, bool may_fly, PolicyInForce& policy,
               CounterSet& counters, ErrorQueue& errors, SinkSet& sinks, BudgetController* budget);

  // Another policy. Its ring, where it wants another one, comes later; see FlightRecorder. The error: it cannot have
  // one.
  Status apply(std::shared_ptr<policy::Engine> engine, bool at_once);
  bool making_ring() const noexcept { return flight_.making_ring(); }
  bool awaits_ring() const noexcept { return flight_.awaits_ring(); }
  std::optional<Status> follow_ring(std::span<const std::int64_t> in_progress);
  bool has_ring() const noexcept { return flight_.has_ring(); }

  // ---- A step.

  // False: there is a ring, but the tensor does not fit.
  bool add(const sinks::Stamp& stamp, Pass pass, const StepData::Tensor& tensor, const TensorView& view);
  // Notes something of the current step that the ring does not get. Captures of the step say so.
  void miss(std::int64_t step, std::string what, std::string_view reason) {
    flight_.miss(step, std::move(what), reason);
  }
  void lose(const sinks::Stamp& stamp, Pass pass, std::string what, std::string_view reason, std::uint64_t count) {
    flight_.lose(stamp, pass, std::move(what), reason, count);
  }
  void end_step(const sinks::Stamp& stamp, const StepData& step);
  // After a training step: the captures that callers ask for and, where they were `asked`, its triggers.
  void fire(const sinks::Stamp& stamp, bool asked) noexcept;
  std::int64_t last_step() const noexcept { return last_step_; }  // training

  // ---- By hand.

  // Requests a capture when the current step ends, or at once if there is none.
  void trigger(const sinks::Stamp& stamp, const TriggerJob& job, bool in_progress);
  // Whether a budget has room for it, if the run takes this many bytes of the disk. If not, it is reported as if it had
  // been tried.
  Status check_room(const sinks::Stamp& stamp, const TriggerJob& job, const policy::BudgetKeeper& budget,
                    std::uint64_t taken);

  // ---- Captures that are written.

  // Every round of the backend.
  void poll(double wall_time) noexcept;
  // The approximate disk space of captures that are not written yet.
  std::uint64_t bytes() const noexcept { return pending_bytes_; }
  BudgetController::Progress progress(double wall_time) const noexcept { return {{wall_time, last_step_}, bytes()}; }
  // Passes captures that wait for further steps to their writer.
  void finish_pending() noexcept { flight_.finish_pending(); }
  void wait() { flight_.wait(); }  // any thread, after it
  // After both: removes the ring.
  void close_ring();
  void abandon_ring() noexcept { flight_.abandon(); }

 private:
  // False: there is no room for it on the disk, or no memory.
  bool capture(const sinks::Stamp& stamp, FlightRecorder::Firing firing) noexcept;
  void fire_manual(const sinks::Stamp& stamp) noexcept;
  void lose_capture(const sinks::Stamp& stamp) noexcept;
  void tell(const CaptureWriter::Capture& written, double wall_time);
  void note_ring_elsewhere();
  // Counts the data in the ring, to estimate the size of future captures.
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
  std::vector<std::string> external_rings_;     // paths of all so far
  std::vector<FlightRecorder::Firing> manual_;  // fire when the step ends
  // The data that went into the ring with a training step, and the passes before it.
  struct Flown {
    std::uint64_t bytes = 0;      // of elements
    std::uint64_t described = 0;  // approximate size of their description in a capture
  };
  Flown flown_now_;
  std::deque<Flown> flown_;          // the last training steps
  std::uint64_t pending_bytes_ = 0;  // of captures that are not written yet
  std::set<std::string> held_back_;  // already reported in the log
  policy::Level held_back_at_ = {};  // the level at that time
};

}  // namespace sonde::record
