// The backend's half of a recorder: opens its files, writes the messages of the recording threads, and maintains the
// files. It knows only the state shared with the front end. Belongs to the backend thread, once the recorder is open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/task_pool.h"
#include "record/budget_controller.h"
#include "record/condition_queue.h"
#include "record/counter_set.h"
#include "record/error_queue.h"
#include "record/loss_log.h"
#include "record/loss_report.h"
#include "record/output.h"
#include "record/policy_in_force.h"
#include "record/run_controller.h"
#include "record/sink_set.h"
#include "record/steps.h"
#include "record/tag_table.h"

namespace sonde::record {

class RunWriter {
 public:
  // All must outlive it.
  RunWriter(const std::string& directory, const RecorderOptions& options, TagTable& tags, CounterSet& counters,
            ErrorQueue& errors, ConditionQueue& conditions, PolicyInForce& policy, LossLog& losses);
  ~RunWriter();

  // The capture that a signal requests.
  static TriggerJob by_signal() { return {.reason = "signal", .before = 5, .after = 0}; }

  // ---- While the recorder is opened, in this order.

  // Reads an existing control file.
  void read_control();
  // Creates the event file, so that an unwritable directory is known at once.
  Status open(Pool& pool, CheckpointUse& checkpoints);

  // ---- The backend thread.

  // The receiver of messages. Opens the files if they are not open, as in a forked child. Null if that failed.
  Output* output() noexcept;
  // Every round: forwards errors and losses of the front end, and flushes when it is due. `now` is monotonic, in ns.
  void poll(std::uint64_t now, double wall_time);
  // Whether steps wait for conditions that the program's threads answer, or the policy for its flight ring, which is
  // being made. Then flush and the others come too early.
  bool waits() const noexcept {
    return open_ && (open_->steps->waits_for_conditions() || open_->steps->captures().making_ring());
  }
  Status flush(double wall_time) noexcept;
  // Ends what is in progress; then, once its captures are written, call finish. `signalled`: a signal requests a
  // capture.
  void finish_pending(double wall_time, bool signalled) noexcept;
  Status finish(double wall_time) noexcept;
  // At the end of the process, without close.
  Status leave(double wall_time, bool signalled) noexcept;

  // Any thread, after finish_pending.
  void wait_for_captures();
  // In a forked child: never touches what belongs to the parent.
  void become_child();

 private:
  // The open parts. Each uses those above it.
  struct Open {
    explicit Open(RunWriter& writer)
        : tasks("sonde-stats",
                writer.options_.threads > 0 ? writer.options_.threads : base::TaskPool::default_threads()),
          sinks(writer.tags_, writer.counters_, writer.errors_, *writer.loss_report_) {}
    base::TaskPool tasks;
    SinkSet sinks;
    std::optional<BudgetController> budget;  // none in a forked child
    std::optional<Steps> steps;
    std::optional<Output> output;
  };
  Status open_files(Pool* pool, CheckpointUse* checkpoints);
  // Gaps in the log.
  void write_losses(double wall_time) noexcept;
  void trigger_by_signal(double wall_time) noexcept;
  // If the backend has to do it.
  void deliver_errors() noexcept;
  // The losses since the last flush; reports the rest of them.
  Status tell_losses() noexcept;
  Dropped dropped() const noexcept;

  const std::string& directory_;
  const RecorderOptions& options_;
  TagTable& tags_;
  CounterSet& counters_;
  ErrorQueue& errors_;
  ConditionQueue& conditions_;
  PolicyInForce& policy_;
  LossLog& losses_;
  std::unique_ptr<LossReport> loss_report_ = std::make_unique<LossReport>();
  std::unique_ptr<Open> open_;
  std::unique_ptr<RunController> controller_;  // none if live control is off
  bool forked_ = false;
  bool failed_ = false;           // the files could not be opened
  std::uint64_t last_look_ = 0;   // ns: last check of the control file and the budget
  std::uint64_t last_flush_ = 0;  // ns
};

}  // namespace sonde::record
