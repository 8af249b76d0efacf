// The policy that counts now: the program's own with what a control file says on top of it, made ready as an engine,
// and what it says of each probe.
//
// Recording threads ask it through atomics alone: a probe's plan, the level that the budget allows, the epoch. Engines
// and plans live as long as this object, since recorded tensors point to them.
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
#include "record/error_queue.h"
#include "sonde/options.h"
#include "sonde/policy.h"

namespace sonde::record {

// A probe; its address is what handles hold.
struct ProbeEntry {
  std::uint32_t id = 0;
  std::string name;
  ProbeOptions options;
  std::atomic<const policy::Plan*> plan{nullptr};  // never null once handed out

  // What the error handler was told of it. Guarded by PolicyInForce.
  bool crowded_told = false;
  bool other_options_told = false;
  bool bad_shape_told = false;
};

class PolicyInForce {
 public:
  // `errors` must outlive it.
  PolicyInForce(Policy own, ErrorQueue& errors) : errors_(errors), own_policy_(std::move(own)) {}

  // Makes the first engine; before anything else.
  Status start();

  // ---- Any thread.

  // The program's own policy; what a control file says stays on top of it.
  Status set_policy(const Policy& policy);
  // Somebody changes the running job, or takes it back.
  Status set_control(std::optional<policy::ControlFile> control);
  // The budget that would be in force with it.
  BudgetPolicy budget_with(const policy::ControlFile& control);

  // The last engine counts. Any thread may hold it on.
  std::shared_ptr<policy::Engine> engine();
  std::uint64_t engine_version() const noexcept { return engine_version_.load(std::memory_order_acquire); }

  // The probe of this name and kind, new or known. The name is valid UTF-8.
  ProbeEntry* probe(std::string name, const ProbeOptions& options);
  std::vector<std::pair<std::string, Kind>> probes();
  // A probe's tensor had no usable shape, or its statistics contradict each other. Told once of each probe: what is
  // wrong with it is wrong at every step.
  void refuse(const ProbeEntry& probe, std::string_view why);

  void begin_epoch(std::int64_t number) noexcept;
  // A training step begins; the first one after begin_epoch is the epoch's first.
  void begin_step(std::int64_t step) noexcept;
  // An evaluation pass begins at this training step: gives the step of the evaluation before, -1 where there was none
  // or training has gone back. Several passes at one step are one evaluation.
  std::int64_t begin_evaluation(std::int64_t step) noexcept;
  // Whether the program has begun an epoch.
  bool has_epochs() const noexcept { return epoch_.load(std::memory_order_relaxed) >= 0; }
  // Whether any probe has a condition in code, which may ask for scalars of the step.
  bool has_conditions() const noexcept { return has_conditions_.load(std::memory_order_relaxed); }

  // What the policy says of a probe in this step: the parts of its plan that are due.
  // `since`: of an evaluation pass, the step of the one before.
  policy::Parts due(const policy::Plan& plan, std::int64_t step, bool evaluation,
                    std::int64_t since = -1) const noexcept;
  bool wants(const policy::Plan& plan, policy::Parts due) const noexcept;

  // How much the budget allows.
  policy::Level level() const noexcept { return level_.load(std::memory_order_relaxed); }
  // Whether a budget wants to know what calls cost.
  bool timed() const noexcept { return timed_.load(std::memory_order_relaxed); }
  // Whether there is a flight ring: then the end of a step is urgent.
  bool has_ring() const noexcept { return has_ring_.load(std::memory_order_relaxed); }

  // ---- The backend thread.

  void set_level(policy::Level level) noexcept { level_.store(level, std::memory_order_relaxed); }
  void set_timed(bool timed) noexcept { timed_.store(timed, std::memory_order_relaxed); }
  void set_has_ring(bool has_ring) noexcept { has_ring_.store(has_ring, std::memory_order_relaxed); }
  // Lets one engine continue where another one stands.
  void hand_over(policy::Engine& from, policy::Engine& to);
  // Makes all plans of an engine again, without the watches that have come to their end.
  void plan_again(policy::Engine& engine);

  // ---- Around fork().
  void lock_for_fork();
  void unlock_after_fork();
  // In the child: nobody keeps a budget there, and no ring. The program's own policy, for its pool.
  const Policy& become_child() noexcept;
  // The parent's engine may have been in the middle of something: the child makes one of its own.
  void renew() {
    (void)change([](Policy&, auto&) {});
  }

 private:
  static Policy combined(const Policy& own, const std::optional<policy::ControlFile>& control);
  Status change(const std::function<void(Policy&, std::optional<policy::ControlFile>&)>& edit);
  Status use(const Policy& policy);
  void plan_locked(ProbeEntry& entry);
  const policy::Plan& shared_locked(policy::Plan plan);
  void plan_again_locked(policy::Engine& engine);

  ErrorQueue& errors_;
  std::atomic<policy::Level> level_{policy::Level::full};
  std::atomic<std::int64_t> epoch_{-1};       // the last one that began
  std::atomic<std::int64_t> epoch_step_{-1};  // its first step
  std::atomic<bool> epoch_begins_{false};     // with the next step
  std::atomic<bool> has_ring_{false};
  std::atomic<bool> timed_{false};
  std::atomic<bool> has_conditions_{false};
  std::atomic<std::uint64_t> engine_version_{0};

  std::mutex change_mutex_;  // guards the next two; taken before mutex_
  Policy own_policy_;
  std::optional<policy::ControlFile> control_;
  std::mutex mutex_;                                                // guards what follows
  std::int64_t evaluation_ = -1;                                    // the step of the last evaluation
  std::int64_t evaluation_before_ = -1;                             // of the one before that
  std::deque<ProbeEntry> probes_;                                   // stable addresses
  std::map<std::pair<std::string_view, Kind>, ProbeEntry*> named_;  // the same ones
  std::deque<policy::Plan> plans_;                                  // all that ever were; many probes share one
  std::vector<std::shared_ptr<policy::Engine>> engines_;            // all that ever were; the last one counts
};

}  // namespace sonde::record
