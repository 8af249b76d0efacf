// The current policy: the program's own with the changes of a control file, compiled as an engine, and its plan for
// each probe.
//
// Recording threads read it only through atomics: a probe's plan, the level of the budget, the epoch. Engines and plans
// live as long as this object, since recorded tensors point to them.
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

// A probe; handles hold its address.
struct ProbeEntry {
  std::uint32_t id = 0;
  std::string name;
  ProbeOptions options;
  std::atomic<const policy::Plan*> plan{nullptr};  // never null once the probe is returned

  // What was reported to the error handler about it. Guarded by PolicyInForce.
  bool crowded_told = false;
  bool other_options_told = false;
  bool bad_shape_told = false;
};

class PolicyInForce {
 public:
  // `errors` must outlive it.
  PolicyInForce(Policy own, ErrorQueue& errors) : errors_(errors), own_policy_(std::move(own)) {}

  // Creates the first engine; call it first.
  Status start();

  // ---- Any thread.

  // Sets the program's own policy; the changes of a control file stay in force.
  Status set_policy(const Policy& policy);
  // Applies a control file to the running job, or removes its changes.
  Status set_control(std::optional<policy::ControlFile> control);
  // The budget that would be in force with it.
  BudgetPolicy budget_with(const policy::ControlFile& control);

  // The current engine. Any thread may keep it.
  std::shared_ptr<policy::Engine> engine();
  std::uint64_t engine_version() const noexcept { return engine_version_.load(std::memory_order_acquire); }

  // The probe of this name and kind, new or existing. The name is valid UTF-8.
  ProbeEntry* probe(std::string name, const ProbeOptions& options);
  std::vector<std::pair<std::string, Kind>> probes();
  // Reports a probe's tensor without a usable shape, or inconsistent statistics. Once per probe, since the problem
  // repeats at every step.
  void refuse(const ProbeEntry& probe, std::string_view why);

  void begin_epoch(std::int64_t number) noexcept;
  // A training step begins; the first one after begin_epoch is the epoch's first.
  void begin_step(std::int64_t step) noexcept;
  // An evaluation pass begins at this training step: returns the step of the previous evaluation, -1 if there was none
  // or training has gone back. Several passes at one step are one evaluation.
  std::int64_t begin_evaluation(std::int64_t step) noexcept;
  // Whether the program has begun an epoch.
  bool has_epochs() const noexcept { return epoch_.load(std::memory_order_relaxed) >= 0; }
  // Whether any probe has a condition in code, which may use scalars of the step.
  bool has_conditions() const noexcept { return has_conditions_.load(std::memory_order_relaxed); }

  // The parts of a probe's plan that are due in this step.
  // `since`: for an evaluation pass, the step of the previous one.
  policy::Parts due(const policy::Plan& plan, std::int64_t step, bool evaluation,
                    std::int64_t since = -1) const noexcept;
  bool wants(const policy::Plan& plan, policy::Parts due) const noexcept;

  // The level that the budget allows.
  policy::Level level() const noexcept { return level_.load(std::memory_order_relaxed); }
  // Whether a budget needs the time of calls.
  bool timed() const noexcept { return timed_.load(std::memory_order_relaxed); }
  // Whether there is a flight ring: then the end of a step is urgent.
  bool has_ring() const noexcept { return has_ring_.load(std::memory_order_relaxed); }

  // ---- The backend thread.

  void set_level(policy::Level level) noexcept { level_.store(level, std::memory_order_relaxed); }
  void set_timed(bool timed) noexcept { timed_.store(timed, std::memory_order_relaxed); }
  void set_has_ring(bool has_ring) noexcept { has_ring_.store(has_ring, std::memory_order_relaxed); }
  // Moves the state of one engine to another.
  void hand_over(policy::Engine& from, policy::Engine& to);
  // Creates all plans of an engine again, without the watches that have reached their limit.
  void plan_again(policy::Engine& engine);

  // ---- Around fork().
  void lock_for_fork();
  void unlock_after_fork();
  // In the child there is no budget and no ring. Returns the program's own policy, for its pool.
  const Policy& become_child() noexcept;
  // The parent's engine may have been in the middle of a change: the child creates its own.
  void renew() {
    (void)change([](Policy&, auto&) {});
  }

 private:
  static Policy combined(const Policy& own, const std::optional<policy::ControlFile>& control);
  Status change(const std::function<void(Policy&, std::optional<policy::ControlFile>&)>& edit);
  Status use(const Policy& policy);
  void plan_all_locked();
  const policy::Plan& make_plan_locked(const ProbeEntry& entry);
  void use_plan_locked(ProbeEntry& entry, const policy::Plan& plan) noexcept;
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

  std::mutex change_mutex_;  // guards the next two members; taken before mutex_
  Policy own_policy_;
  std::optional<policy::ControlFile> control_;
  std::mutex mutex_;                                                // guards the following members
  std::int64_t evaluation_ = -1;                                    // the step of the last evaluation
  std::int64_t evaluation_before_ = -1;                             // of the previous one
  std::deque<ProbeEntry> probes_;                                   // stable addresses
  std::map<std::pair<std::string_view, Kind>, ProbeEntry*> named_;  // the same probes
  std::deque<policy::Plan> plans_;                                  // all ever created; many probes share one
  std::vector<std::shared_ptr<policy::Engine>> engines_;            // all ever created; the last one is current
};

}  // namespace sonde::record
