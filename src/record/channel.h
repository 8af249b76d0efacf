// One open recorder: what its handles share, and the way into the backend. Front-end calls are safe from any thread;
// the output belongs to the backend thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/budget.h"
#include "policy/control_file.h"
#include "policy/engine.h"
#include "record/loss_report.h"
#include "record/message.h"
#include "record/pool.h"
#include "record/tag_table.h"
#include "sinks/record_file.h"
#include "sinks/values.h"
#include "sonde/recorder.h"

namespace sonde::record {

class Output;
class RunController;

// A probe; its address is what handles hold.
struct ProbeEntry {
  std::uint32_t id = 0;
  std::string name;
  ProbeOptions options;
  bool crowded_told = false;                       // guarded by the channel
  bool other_options_told = false;                 // likewise
  bool bad_shape_told = false;                     // likewise
  std::atomic<const policy::Plan*> plan{nullptr};  // never null once handed out
};

class Channel {
 public:
  // Makes the directory and the event file, and joins the backend.
  static Result<std::shared_ptr<Channel>> open(std::string_view directory, const RecorderOptions& options);
  ~Channel();

  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }
  const std::string& directory() const noexcept { return directory_; }
  const RecorderOptions& options() const noexcept { return options_; }
  TagTable& tags() noexcept { return tags_; }
  std::int64_t committed_step() const noexcept { return committed_step_.load(std::memory_order_acquire); }
  Counters counters() const noexcept;

  // ---- Front end.

  void scalar(std::uint32_t tag, double value, std::int64_t step) noexcept;
  const ProbeEntry* probe(std::string_view name, const ProbeOptions& options);
  // What the policy says of a probe in this step: the parts of its plan that are due.
  policy::Parts due(const policy::Plan& plan, std::int64_t step, bool evaluation) const noexcept;
  bool wants(const policy::Plan& plan, policy::Parts due) const noexcept;
  void begin_epoch(std::int64_t number) noexcept;
  void begin_step(std::int64_t step, bool evaluation) noexcept;
  void end_step(std::int64_t step, bool evaluation) noexcept;
  // A capture where the signal for one came since the last look. From any thread.
  void look_at_signal() noexcept;
  std::int64_t next_evaluation() noexcept { return evaluations_.fetch_add(1, std::memory_order_relaxed); }

  // The id for a value of this plugin; nothing, and counted, where the recorder is closed or the name unusable.
  std::optional<std::uint32_t> tag(std::string_view name, tags::Plugin plugin);
  // A payload without tensor.
  Payload* stage(Job job);
  // A payload with a copy of the tensor or of some of its rows, or a share in it. Null, and counted, where it is
  // invalid or there is no room.
  Payload* stage(Job job, TensorArg&& tensor, std::int64_t step, const RowSample& sample = {});
  void send(Payload* payload, std::int64_t step) noexcept;
  // Counts something unusable, and tells the error handler.
  void reject(Status status) noexcept;
  // Tells the error handler, from any thread.
  void tell(Status status) noexcept;

  // The program's own policy; what a control file says stays on top of it.
  Status set_policy(const Policy& policy);
  // The last one given counts. Any thread may hold it on.
  std::shared_ptr<policy::Engine> engine();
  // Lets one engine go on where another one stands.
  void hand_over(policy::Engine& from, policy::Engine& to);
  // Makes all plans of an engine anew, without the watches that have come to their end.
  void plan_anew(policy::Engine& engine);
  std::uint64_t engine_version() const noexcept { return engine_version_.load(std::memory_order_acquire); }

  Status flush() noexcept;
  Status close() noexcept;

  // ---- Backend.

  std::uint32_t id() const noexcept { return id_; }
  // Opens the files where they are not open, as in a forked child. Null where that failed.
  Output* output() noexcept;
  // Every round: passes on what the front end had to say, and flushes when it is time. `now` is monotonic, in ns.
  void poll(std::uint64_t now, double wall_time);
  Status flush_output(double wall_time);
  // Ends what is in progress; then, once its captures are written, finish.
  Status finish_pending(double wall_time);
  Status finish(double wall_time);
  // At the end of the process, without close.
  Status leave(double wall_time);
  void report(const Status& status) noexcept;
  void lose(Payload* payload, std::int64_t step) noexcept;
  // The begin of a step did not arrive, though it was sent: what follows of the step begins it. Once for each. Backend.
  bool take_lost_begin(std::int64_t step, bool evaluation);
  void set_committed(std::int64_t step) noexcept { committed_step_.store(step, std::memory_order_release); }
  void count_scalar() noexcept {
    scalars_.store(scalars_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void count_tensor() noexcept {
    tensors_.store(tensors_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void count_capture() noexcept {
    captures_.store(captures_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void set_flight_dropped(std::uint64_t count) noexcept { flight_dropped_.store(count, std::memory_order_relaxed); }
  std::vector<std::pair<std::string, Kind>> probes();

  // Somebody changes the running job, or takes it back.
  Status set_control(std::optional<policy::ControlFile> control);
  // The budget that would be in force with it.
  BudgetPolicy budget_with(const policy::ControlFile& control);
  // Has the output go by the newest policy, if it does not yet. The error is about its flight ring, and is told by
  // itself. Backend.
  Status follow_engine();

  policy::Level level() const noexcept { return level_.load(std::memory_order_relaxed); }
  void set_level(policy::Level level) noexcept { level_.store(level, std::memory_order_relaxed); }
  void set_budget(const Policy& policy);
  void look_at_disk(double wall_time);
  // Why the budget has no room on the disk for a capture of so many bytes; empty where it has.
  std::string lacks_disk(double wall_time, std::uint64_t bytes);
  // What checkpoints take of it. They are saved by their callers, who also remove older ones. Any thread.
  void measure_checkpoints();
  std::uint64_t checkpoint_bytes() const noexcept { return checkpoint_bytes_.load(std::memory_order_relaxed); }
  // Whether there is a flight ring: then the end of a step is urgent.
  void set_flying(bool flying) noexcept { flying_.store(flying, std::memory_order_relaxed); }
  // Time spent on tensors and steps, by callers and the backend, as far as a budget wants it measured.
  double busy_seconds() const noexcept;
  bool timed() const noexcept { return timed_.load(std::memory_order_relaxed); }
  void add_busy(std::uint64_t nanoseconds) noexcept { busy_.fetch_add(nanoseconds, std::memory_order_relaxed); }

  // Whether the program has begun an epoch.
  bool has_epochs() const noexcept { return epoch_.load(std::memory_order_relaxed) >= 0; }
  // Whether any probe has a condition, which may ask for scalars of the step.
  bool has_conditions() const noexcept { return has_conditions_.load(std::memory_order_relaxed); }
  void count_rejected() noexcept { rejected_.fetch_add(1, std::memory_order_relaxed); }
  sinks::Tally& tally() noexcept { return tally_; }
  LossReport& loss_report() noexcept { return *loss_report_; }
  StepValues step_values(const StepData& data) const noexcept { return StepValues(data); }

  // ---- Around fork().
  void lock_for_fork();
  void unlock_after_fork();
  void become_child();

 private:
  friend class Backend;
  Channel(std::string directory, const RecorderOptions& options);
  static Policy combined(const Policy& own, const std::optional<policy::ControlFile>& control);
  Status change(const std::function<void(Policy&, std::optional<policy::ControlFile>&)>& edit);
  Status use(const Policy& policy);
  void plan_locked(ProbeEntry& entry);
  const policy::Plan& shared_locked(policy::Plan plan);
  void plan_anew_locked(policy::Engine& engine);
  void tell_locked(Status status) noexcept;
  Payload* stage_untimed(Job& job, TensorArg& tensor, std::int64_t step, const RowSample& sample);
  std::size_t pool_budget(const Policy& policy) const;
  void refuse_shape(const Job& job);
  void recover_rings();
  void lose_scalar(std::int64_t step) noexcept;
  void lose_step_mark(Op op, std::int64_t step) noexcept;
  void tell_news(double wall_time);
  // What was lost since the last flush; tells the rest of it.
  Status tell_losses();
  Dropped dropped() const noexcept;
  bool take_signal() noexcept;
  void note_loss(const ProbeEntry* probe, bool evaluation, std::int64_t step) noexcept;
  void drop(ProbeJob job, std::int64_t step) noexcept;

  const std::string directory_;
  const RecorderOptions options_;
  std::uint32_t id_ = 0;
  std::atomic<bool> open_{true};
  std::atomic<policy::Level> level_{policy::Level::full};
  std::atomic<std::int64_t> epoch_{-1};       // the last one that began
  std::atomic<std::int64_t> epoch_step_{-1};  // its first step
  std::atomic<bool> epoch_begins_{false};     // with the next step
  std::atomic<bool> flying_{false};
  std::atomic<std::uint64_t> signals_;  // that were seen
  std::atomic<bool> timed_{false};      // a budget wants to know what calls cost
  // What is written with every record stays away from what every call reads.
  alignas(64) std::atomic<std::uint64_t> scalars_{0};  // written by the backend alone
  std::atomic<std::uint64_t> tensors_{0};              // likewise
  std::atomic<std::int64_t> committed_step_{-1};       // likewise
  sinks::Tally tally_;                                 // likewise
  std::atomic<std::uint64_t> captures_{0};             // likewise
  std::atomic<std::uint64_t> flight_dropped_{0};       // likewise
  alignas(64) std::atomic<std::int64_t> evaluations_{0};
  std::atomic<std::uint64_t> busy_{0};  // ns
  std::atomic<std::uint64_t> dropped_scalars_{0};
  std::atomic<std::uint64_t> dropped_tensors_{0};
  std::atomic<std::uint64_t> dropped_step_marks_{0};
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> checkpoint_bytes_{0};
  std::atomic<bool> has_conditions_{false};
  std::atomic<bool> has_news_{false};

  TagTable tags_;
  std::unique_ptr<Pool> pool_;
  std::mutex change_mutex_;  // guards the next two; taken before mutex_
  Policy own_policy_;
  std::optional<policy::ControlFile> control_;
  std::mutex mutex_;                                                // guards what follows
  std::deque<ProbeEntry> probes_;                                   // stable addresses
  std::map<std::pair<std::string_view, Kind>, ProbeEntry*> named_;  // the same ones
  std::deque<policy::Plan> plans_;  // likewise; all that ever were, since recorded tensors point to them. Often shared
  std::vector<std::shared_ptr<policy::Engine>> engines_;  // likewise; the last one counts
  std::atomic<std::uint64_t> engine_version_{0};
  std::vector<Status> errors_;  // for the handler
  std::vector<sinks::Loss> losses_;
  std::deque<std::pair<std::int64_t, bool>> lost_begins_;  // of steps and evaluations, the last ones
  std::unique_ptr<LossReport> loss_report_ = std::make_unique<LossReport>();

  // The backend's, once the channel has joined.
  std::unique_ptr<Output> output_;
  std::unique_ptr<RunController> controller_;
  std::uint64_t output_engine_ = 0;  // the version of the engine that it has
  bool forked_ = false;
  bool output_failed_ = false;
  std::uint64_t last_flush_ = 0;  // ns
};

}  // namespace sonde::record
