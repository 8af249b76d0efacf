// What becomes of the probes of a step: gathered until its end, when the policy decides what is kept. Belongs to the
// backend thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
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
#include "record/loss_log.h"
#include "record/loss_report.h"
#include "record/open_steps.h"
#include "record/policy_in_force.h"
#include "record/pool.h"
#include "record/sink_set.h"
#include "record/step_data.h"
#include "record/tag_table.h"
#include "sinks/table_file.h"
#include "sinks/tensor_store.h"

namespace sonde::record {

class Steps {
 public:
  struct Run {
    std::string directory;
    std::string writer;  // as the names of its files have it
    int histogram_buckets = 0;
    bool may_fly = true;  // whether a flight ring may be made: not in a forked child, whose parent has one
  };
  // All must outlive it. Without a budget nothing is limited.
  Steps(Run run, PolicyInForce& policy, TagTable& tags, CounterSet& counters, ErrorQueue& errors, LossLog& losses,
        LossReport& loss_report, SinkSet& sinks, BudgetController* budget);
  ~Steps();

  // Takes the newest policy from the next step on, if it has not yet. The error is about its flight ring, is told and
  // is in the log; recording goes on without.
  Status follow_policy();
  const Status& ring_status() const noexcept { return ring_status_; }  // of the first policy

  void scalar(std::int64_t step, std::uint32_t tag, std::string_view name, double value);
  void begin(const sinks::Stamp& stamp, Pass pass);
  void end(const sinks::Stamp& stamp, Pass pass);
  void probe(const sinks::Stamp& stamp, Payload* payload, const ProbeJob& job);
  // One for which there was no room.
  void lose(const sinks::Stamp& stamp, const ProbeJob& job);
  // False: it is unusable, which is told and counted.
  bool table(const sinks::Stamp& stamp, const TableJob& job);
  // A capture when the step in progress ends, or at once where there is none.
  void trigger(const sinks::Stamp& stamp, const TriggerJob& job);
  // Whether there would be room for it under a budget, where the run takes so many bytes of the disk. Where there is
  // not, it is told as if it had been tried.
  Status check_room(const sinks::Stamp& stamp, const TriggerJob& job, const policy::BudgetKeeper& budget,
                    std::uint64_t taken);

  // Something about the run that is told once, as the callers see to: to the error handler, and as a text in the log.
  void warn(const Status& status);

  // Every round of the backend.
  void poll(double wall_time);
  std::int64_t last_step() const noexcept { return last_step_; }
  BudgetController::Progress progress(double wall_time) const noexcept {
    return {{wall_time, last_step_}, capture_bytes()};
  }
  // Ends the steps in progress and the captures that wait for further ones.
  void finish_pending(double wall_time);
  // What captures that are not written yet will about take of the disk.
  std::uint64_t capture_bytes() const noexcept;
  void wait_for_captures() { flight_.wait(); }  // any thread, after it
  void close(double wall_time);
  // The process ends in order: what the ring holds is no crash's.
  void leave();
  void abandon_ring() noexcept { flight_.abandon(); }

 private:
  // The step in progress, or null; one whose begin was lost begins with this.
  StepData* in_progress(const sinks::Stamp& stamp, Pass pass);
  void note_ring_elsewhere();
  void close_ring();
  bool decides_later(const StepData::Tensor& tensor) const;
  // `held`: the parts of its plan that count; `keep`: what they keep, within the budget.
  void show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep keep,
            const TensorView& view, bool evaluation);
  // Statistics of the rows that the parts which are due ask for.
  void summarize_rows(StepData::Tensor& tensor, const TensorView& view, Keep keep, std::int64_t step);
  // Lets the record of a tensor be that of the rows which the parts that count ask for.
  static void settle_rows(StepData::Tensor& tensor, policy::Parts held, Keep keep);
  static RowSample sample_of(const StepData::Tensor& tensor, policy::Parts held, Keep flag);
  static std::string key_of(const ProbeEntry& probe, std::uint32_t occurrence, bool evaluation, tags::Plugin plugin);
  std::optional<sinks::Tag> tag_of(const StepData::Tensor& tensor, bool evaluation, tags::Plugin plugin);

  void commit(const sinks::Stamp& stamp, StepData& step);
  void decide(const StepData& step, bool evaluation);
  // The statistics of a tensor into its record. Fails where it has none.
  Status summarize(StepData::Tensor& tensor, const Payload& payload, Keep keep, std::int64_t step);
  void take_computed(StepData::Tensor& tensor, const stats::Computed& computed, Keep keep);
  void add_to_ring(const sinks::Stamp& stamp, StepData& step, const StepData::Tensor& tensor, const Payload& payload);
  policy::Parts held_parts(const StepData::Tensor& tensor, const StepValues& values, bool evaluation);
  bool own_condition_holds(const StepData::Tensor& tensor, const StepValues& values);
  void store(const sinks::Stamp& stamp, const StepData& step, bool evaluation);
  void write_histograms(const sinks::Stamp& stamp, const StepData& step, bool evaluation);
  // `rows`: which ones of the batch they are; empty: the first ones. False: unusable.
  bool append(const sinks::Stamp& stamp, bool evaluation, const std::string& table,
              std::span<const render::Column> columns, std::span<const std::int64_t> rows);
  // `lost`: how many records of the step the files lack. False: unusable.
  bool note_files(const sinks::Stamp& stamp, bool evaluation, const Status& status, std::uint64_t lost);
  // False: there is no room for it on the disk.
  bool capture(const sinks::Stamp& stamp, FlightRecorder::Firing firing);
  // What goes into the ring, for the size of captures to come.
  void count_flown(const ProbeEntry& probe, const TensorView& view);
  void count_flown(const StepData& step, bool evaluation);
  std::uint64_t expected_bytes(const FlightRecorder::Firing& firing) const;
  Status hold_back(const sinks::Stamp& stamp, const FlightRecorder::Firing& firing, const std::string& why);
  void fire(const sinks::Stamp& stamp);
  void fire_manual(const sinks::Stamp& stamp);
  Status take_engine(std::shared_ptr<policy::Engine> engine);
  std::vector<stats::Bucket> buckets(const TensorView& view, const stats::Summary& summary,
                                     const stats::Histogram& histogram) const;
  void log_warnings(const sinks::Stamp& stamp);
  void warn_of_unmatched();
  void warn_of_epochs();
  void warn_of_unknown_scalars(bool at_end);

  const Run run_;
  PolicyInForce& policy_;
  TagTable& tags_;
  CounterSet& counters_;
  ErrorQueue& errors_;
  LossLog& losses_;
  LossReport& loss_report_;
  SinkSet& sinks_;
  BudgetController* const budget_;
  std::shared_ptr<policy::Engine> engine_;
  std::uint64_t engine_version_ = 0;  // of `engine_`, as PolicyInForce counts
  OpenSteps open_;
  FlightRecorder flight_;
  Status ring_status_;
  std::vector<std::string> external_rings_;  // paths of those that there were so far
  sinks::TensorStore store_;
  std::map<std::string, sinks::TableFile> tables_;  // by name
  std::vector<FlightRecorder::Firing> manual_;      // to fire when the step ends
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
  std::int64_t last_step_ = 0;
  std::int64_t steps_ended_ = 0;
  std::set<std::string> warned_;  // of these
  std::string warnings_;          // that the log does not have yet

  // Used again for every step.
  std::vector<policy::TensorFacts> facts_;
  std::vector<std::uint32_t> due_;
  std::vector<policy::Parts> held_;  // by tensor of the step: the parts of its plan that count
  std::vector<Keep> keeps_;          // likewise: what they keep, within the budget
  std::vector<sinks::StepTensor> kept_;
};

}  // namespace sonde::record
