// The backend's half of a recorder: opens its files, gives them what comes from the recording threads, and looks after
// them. Knows nothing of the front end but what both share. Belongs to the backend thread, once the recorder is open.
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

  // The capture that a signal asks for.
  static TriggerJob by_signal() { return {.reason = "signal", .before = 5, .after = 0}; }

  // ---- While the recorder is opened, in this order.

  // Takes a control file that is there already.
  void read_control();
  // Makes the event file, so that a directory that cannot be written is known at once.
  Status open(Pool& pool, CheckpointUse& checkpoints);

  // ---- The backend thread.

  // What takes messages. Opens the files where they are not open, as in a forked child. Null where that failed.
  Output* output() noexcept;
  // Every round: passes on what the front end had to say, and flushes when it is time. `now` is monotonic, in ns.
  void poll(std::uint64_t now, double wall_time);
  // Whether steps wait for conditions that the program's threads answer. Then flush and the others come too early.
  bool waits_for_conditions() const noexcept { return open_ && open_->steps->waits_for_conditions(); }
  Status flush(double wall_time);
  // Ends what is in progress; then, once its captures are written, finish. `signalled`: a signal asks for a capture.
  Status finish_pending(double wall_time, bool signalled);
  Status finish(double wall_time);
  // At the end of the process, without close.
  Status leave(double wall_time, bool signalled);

  // Any thread, after finish_pending.
  void wait_for_captures();
  // In a forked child: what was the parent's is left alone, for ever.
  void become_child();

 private:
  // What is open. Each uses those above it.
  struct Open {
    explicit Open(RunWriter& writer)
        : tasks("sonde-stats", writer.options_.threads > 0 ? writer.options_.threads : TaskPool::default_threads()),
          sinks(writer.tags_, writer.counters_, writer.errors_, *writer.loss_report_) {}
    TaskPool tasks;
    SinkSet sinks;
    std::optional<BudgetController> budget;  // none in a forked child
    std::optional<Steps> steps;
    std::optional<Output> output;
  };
  Status open_files(Pool* pool, CheckpointUse* checkpoints);
  // Gaps in the log.
  void write_losses(double wall_time);
  // Where that is the backend's to do.
  void deliver_errors() noexcept;
  // What was lost since the last flush; tells the rest of it.
  Status tell_losses();
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
  std::unique_ptr<RunController> controller_;  // none where the run is not controlled
  bool forked_ = false;
  bool failed_ = false;           // the files could not be opened
  std::uint64_t last_look_ = 0;   // ns: at the control file and the budget
  std::uint64_t last_flush_ = 0;  // ns
};

}  // namespace sonde::record
