// One open recorder, as its handles see it: the calls of recording threads, all safe from any thread. They share with
// the backend the counters, the error queue, the policy in force, the losses and the tags; RunWriter processes their
// messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/condition_queue.h"
#include "record/counter_set.h"
#include "record/disk_use.h"
#include "record/error_queue.h"
#include "record/loss_log.h"
#include "record/message.h"
#include "record/policy_in_force.h"
#include "record/pool.h"
#include "record/tag_table.h"
#include "sonde/recorder.h"

namespace sonde::record {

class RunWriter;

class Channel {
 public:
  // Creates the directory and the event file, and registers with the backend.
  static Result<std::shared_ptr<Channel>> open(std::string_view directory, const RecorderOptions& options);
  ~Channel();

  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }
  const std::string& directory() const noexcept { return directory_; }
  const RecorderOptions& options() const noexcept { return options_; }
  CounterSet& counters() noexcept { return counters_; }
  PolicyInForce& policy() noexcept { return policy_; }
  LossLog& losses() noexcept { return losses_; }
  ErrorQueue& errors() noexcept { return errors_; }
  CheckpointUse& checkpoints() noexcept { return checkpoints_; }
  TagTable& tags() noexcept { return tags_; }

  void scalar(std::uint32_t tag, double value, std::int64_t step) noexcept;
  const ProbeEntry* probe(std::string_view name, const ProbeOptions& options);
  bool wants(const policy::Plan& plan, policy::Parts due) const noexcept {
    return is_open() && policy_.wants(plan, due);
  }
  void begin_step(Pass pass, std::int64_t step) noexcept;
  void end_step(Pass pass, std::int64_t step) noexcept;
  // A new id for a pass, unique among the open ones.
  std::uint32_t next_pass() noexcept;
  // Requests a capture if its signal came since the last check.
  void look_at_signal() noexcept;

  // The id for a value of this plugin; empty, and counted, if the recorder is closed or the name unusable.
  std::optional<std::uint32_t> tag(std::string_view name, tags::Plugin plugin);
  // A payload without a tensor.
  PayloadPtr stage(Job job);
  // A payload with a copy of the tensor or of some of its rows, or sharing it. Null, and counted, if it is invalid or
  // the buffer is full.
  PayloadPtr stage(Job job, TensorArg&& tensor, std::int64_t step, const RowSample& sample = {});
  void send(PayloadPtr payload, std::int64_t step) noexcept;
  // Counts something unusable, and reports it to the error handler.
  void reject(Status status) noexcept;

  // Runs the waiting error handler calls and conditions, if they run on the program's threads. True if there were any.
  // `also_begun`: also conditions that another thread has started, for a caller that waits.
  bool run_callbacks(bool also_begun) noexcept;
  bool has_callbacks() const noexcept { return calls_back_ && (!errors_.empty() || !conditions_.empty()); }

  Status flush() noexcept;
  Status close() noexcept;

  // ---- For the backend.

  std::uint32_t id() const noexcept { return id_; }
  RunWriter& writer() noexcept { return *writer_; }
  void reclaim() noexcept { pool_->reclaim(); }
  // Whether the signal for a capture came since the last check. Only one of several callers gets it.
  bool take_signal() noexcept;

  // ---- Around fork().
  void lock_for_fork();
  void unlock_after_fork();
  void become_child();

 private:
  friend class Backend;
  Channel(std::string directory, const RecorderOptions& options);
  PayloadPtr stage_untimed(Job& job, TensorArg& tensor, std::int64_t step, const RowSample& sample);
  void refuse_shape(const Job& job, std::string_view why);
  void recover_rings();
  void drop(ProbeJob job, std::int64_t step) noexcept;

  const std::string directory_;
  const RecorderOptions options_;
  std::uint32_t id_ = 0;
  const bool calls_back_;  // Callbacks::on_caller
  std::atomic<bool> open_{true};
  std::atomic<std::uint64_t> signals_;  // already seen
  bool forked_ = false;
  std::atomic<std::uint32_t> passes_{0};

  CounterSet counters_;
  ErrorQueue errors_;
  ConditionQueue conditions_;
  PolicyInForce policy_;
  LossLog losses_;
  CheckpointUse checkpoints_;
  TagTable tags_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<RunWriter> writer_;  // the backend's, once the channel is registered
};

}  // namespace sonde::record
