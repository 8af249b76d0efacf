// The steps of a recorder, from their first tensor to their commit: other classes gather, decide and write them.
// Belongs to the backend thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/task_pool.h"
#include "policy/engine.h"
#include "record/artifact_writer.h"
#include "record/budget_controller.h"
#include "record/condition_queue.h"
#include "record/counter_set.h"
#include "record/error_queue.h"
#include "record/loss_log.h"
#include "record/loss_report.h"
#include "record/open_steps.h"
#include "record/policy_in_force.h"
#include "record/policy_warnings.h"
#include "record/pool.h"
#include "record/sink_set.h"
#include "record/step_captures.h"
#include "record/step_decider.h"
#include "record/step_gatherer.h"
#include "record/tag_table.h"

namespace sonde::record {

class Steps {
 public:
  struct Run {
    std::string directory;
    std::string writer;  // part of the names of its files
    int histogram_buckets = 0;
    bool may_fly = true;  // whether a flight ring may be created: not in a forked child, whose parent has one
  };
  // All must outlive it. Without a budget nothing is limited; without a queue conditions are evaluated at once.
  Steps(const Run& run, PolicyInForce& policy, TagTable& tags, CounterSet& counters, ErrorQueue& errors,
        LossLog& losses, LossReport& loss_report, SinkSet& sinks, BudgetController* budget, base::TaskPool& pool,
        ConditionQueue* conditions);
  ~Steps();

  // Takes the newest policy from the next step on, if it has not yet. Its flight ring is made meanwhile.
  void follow_policy();
  // Whether the flight ring that the policy wants is there, or cannot be had; and why not, which is told and is in the
  // log: recording goes on without it.
  bool ring_settled() const noexcept { return !ring_wanted_ && !captures_.making_ring(); }
  const Status& ring_status() const noexcept { return ring_status_; }

  void scalar(std::int64_t step, std::uint32_t tag, std::string_view name, double value);
  void begin(const sinks::Stamp& stamp, Pass pass);
  void end(const sinks::Stamp& stamp, Pass pass);
  void probe(const sinks::Stamp& stamp, PayloadPtr payload, const ProbeJob& job);
  // A tensor for which the buffer was full.
  void lose(const sinks::Stamp& stamp, const ProbeJob& job);
  // The payload has a TableJob.
  void table(const sinks::Stamp& stamp, PayloadPtr payload) { artifacts_.table(stamp, std::move(payload)); }
  // Pictures that were recorded by name.
  void pictures(const sinks::Stamp& stamp, ArtifactWriter::Pictures pictures) {
    artifacts_.pictures(stamp, std::move(pictures));
  }
  // Requests a capture when the current step ends, or at once if there is none.
  void trigger(const sinks::Stamp& stamp, const TriggerJob& job);
  // Reports something about the run the first time that `what` occurs: to the error handler, and in the log.
  void warn_once(const std::string& what, const Status& status) { warnings_.warn_once(what, status); }
  StepCaptures& captures() noexcept { return captures_; }
  const StepCaptures& captures() const noexcept { return captures_; }

  // Every round of the backend.
  void poll(double wall_time) noexcept;
  // Whether ended steps wait for their conditions.
  bool waits_for_conditions() const noexcept { return !ended_.empty(); }
  // Returns when all files of written steps are complete.
  void wait_for_files() noexcept;
  // Ends the steps in progress and the captures that wait for further ones.
  void finish_pending(double wall_time) noexcept;
  void close(double wall_time) noexcept;
  // The process ends normally: the ring does not count as one of a crash.
  void leave() noexcept;

 private:
  // A step that has ended but is not written, because its conditions or those of an earlier step wait.
  struct Ended {
    sinks::Stamp stamp;
    std::shared_ptr<StepData> step;
    Decision decision;  // assuming that all code conditions are true
    policy::Level level = {};
    std::shared_ptr<ConditionQueue::Questions> questions;  // or null
  };
  // A step in progress, or null; if its begin was lost, this begins it.
  StepData* find(const sinks::Stamp& stamp, Pass pass);
  // In parts: where memory runs out for one of them the others are done, and what it costs is counted.
  void commit(const sinks::Stamp& stamp, StepData& step) noexcept;
  // Lets the step wait for its conditions in code, and for earlier ones that do.
  void defer(const sinks::Stamp& stamp, StepData& step, Decision& decision, policy::Level level,
             std::shared_ptr<ConditionQueue::Questions> questions);
  void warn_about(const StepData& step, const ProbeJob& job, const TensorView& view, Keep keep);
  void add_to_ring(const sinks::Stamp& stamp, StepData& step, const StepData::Tensor& tensor, const TensorView& view);
  // What a step means for ring and captures. `looked`: its triggers were asked.
  void capture(const sinks::Stamp& stamp, const StepData& step, policy::Level level, bool looked) noexcept;
  // Takes a flight ring that is made.
  void follow_ring();
  void tell_ring(const Status& status);
  // It counts as committed when its files, and those of all earlier steps, are written.
  void set_committed(std::int64_t step, Pass pass) noexcept;
  // Writes the steps whose conditions are answered.
  void write_ended() noexcept;
  // Nobody is left to answer: gives up waiting.
  void give_up_conditions() noexcept;
  void commit_written() noexcept;
  bool holds(const StepData::Tensor& tensor, ConditionQueue::Answer answer) noexcept;

  PolicyInForce& policy_;
  CounterSet& counters_;
  ErrorQueue& errors_;
  LossLog& losses_;
  SinkSet& sinks_;
  BudgetController* const budget_;
  std::shared_ptr<policy::Engine> engine_;
  std::uint64_t engine_version_ = 0;  // of `engine_`, in the numbering of PolicyInForce
  OpenSteps open_;
  StepGatherer gatherer_;
  StepDecider decider_;
  ArtifactWriter artifacts_;
  StepCaptures captures_;
  PolicyWarnings warnings_;
  ConditionQueue* const conditions_;  // or null
  std::deque<Ended> ended_;           // in order
  struct Written {
    std::int64_t step = 0;
    bool beside_others = false;  // a pass
    std::uint64_t files = 0;     // batches that must be written before it counts
  };
  std::deque<Written> written_;  // in order: steps with unwritten files
  bool ring_wanted_ = false;     // the policy's ring has not been asked for
  Status ring_status_;
};

}  // namespace sonde::record
