#include "record/policy_in_force.h"

#include <algorithm>
#include <utility>

namespace sonde::record {
namespace {

constexpr int kPlansCompared = 16;  // the last ones: few policies say more different things

// As far as they can be compared.
bool same(const ProbeOptions& a, const ProbeOptions& b) {
  return a.keep == b.keep && a.every == b.every && a.record == b.record && a.inputs == b.inputs && !a.when == !b.when;
}

}  // namespace

// ---- Engines and plans.

Status PolicyInForce::start() { return use(own_policy_); }

Status PolicyInForce::use(const Policy& policy) {
  auto engine = policy::Engine::create(policy);
  if (!engine) return engine.error();
  const std::scoped_lock lock(mutex_);
  engines_.push_back(std::move(*engine));
  try {
    plan_all_locked();
  } catch (...) {  // out of memory: the one before stays in force. Plans may point to this one
    std::rotate(engines_.begin(), engines_.end() - 1, engines_.end());
    throw;
  }
  engine_version_.fetch_add(1, std::memory_order_release);
  return Status::success();
}

// All of them, or none where it throws.
void PolicyInForce::plan_all_locked() {
  std::vector<const policy::Plan*> made;
  made.reserve(probes_.size());
  for (const ProbeEntry& entry : probes_) made.push_back(&make_plan_locked(entry));
  for (ProbeEntry& entry : probes_) use_plan_locked(entry, *made[entry.id]);
}

const policy::Plan& PolicyInForce::make_plan_locked(const ProbeEntry& entry) {
  const ProbeOptions& options = entry.options;
  std::vector<policy::Part> own;
  for (const RecordEvery& each : options.record) own.push_back({.every = each.every, .keep = each.keep});
  if (own.empty()) own.push_back({.every = options.every, .keep = options.keep});
  return shared_locked(engines_.back()->plan(entry.name, options.kind, own));
}

void PolicyInForce::use_plan_locked(ProbeEntry& entry, const policy::Plan& plan) noexcept {
  entry.plan.store(&plan, std::memory_order_release);
  if (!plan.crowded || std::exchange(entry.crowded_told, true)) return;
  const bool watched = plan.parts[0].watch != policy::Part::kOwn;
  try {
    errors_.push({Code::unsupported, "more than " + std::to_string(policy::Plan::kMaxParts) +
                                         (watched ? " watches match '" + entry.name + "'"
                                                  : " entries in ProbeOptions::record of '" + entry.name + "'") +
                                         ": only the first ones count"});
  } catch (...) {  // out of memory: told with the next plan
    entry.crowded_told = false;
  }
}

// Plans are never removed, and a policy may change often: probes that it treats the same share one.
const policy::Plan& PolicyInForce::shared_locked(policy::Plan plan) {
  const auto begin = plans_.size() > kPlansCompared ? plans_.end() - kPlansCompared : plans_.begin();
  const auto same = std::find(begin, plans_.end(), plan);
  return same != plans_.end() ? *same : plans_.emplace_back(std::move(plan));
}

// The changes of a control file apply on top of the program's own policy.
Policy PolicyInForce::combined(const Policy& own, const std::optional<policy::ControlFile>& control) {
  Policy policy = own;
  if (!control) return policy;
  if (control->has_watches) policy.watches = control->policy.watches;
  if (control->has_triggers) {
    if (!control->keep_triggers) policy.triggers.clear();
    const auto& added = control->policy.triggers;
    policy.triggers.insert(policy.triggers.end(), added.begin(), added.end());
  }
  policy.triggers.insert(policy.triggers.end(), control->armed.begin(), control->armed.end());
  if (control->has_flight) policy.flight = control->policy.flight;
  if (control->has_budget) policy.budget = control->policy.budget;
  if (control->has_allow) policy.allow_negative_infinity = control->policy.allow_negative_infinity;
  return policy;
}

Status PolicyInForce::change(const std::function<void(Policy&, std::optional<policy::ControlFile>&)>& edit) {
  const std::scoped_lock changing(change_mutex_);
  Policy own = own_policy_;
  std::optional<policy::ControlFile> control = control_;
  edit(own, control);
  if (Status status = use(combined(own, control)); !status.ok()) return status;
  own_policy_ = std::move(own);
  control_ = std::move(control);
  return Status::success();
}

Status PolicyInForce::set_policy(const Policy& policy) {
  return change([&](Policy& own, auto&) { own = policy; });
}

Status PolicyInForce::set_control(std::optional<policy::ControlFile> control) {
  return change([&](Policy&, auto& current) { current = std::move(control); });
}

BudgetPolicy PolicyInForce::budget_with(const policy::ControlFile& control) {
  const std::scoped_lock changing(change_mutex_);
  return combined(own_policy_, control).budget;
}

std::shared_ptr<policy::Engine> PolicyInForce::engine() {
  const std::scoped_lock lock(mutex_);
  return engines_.back();
}

void PolicyInForce::hand_over(policy::Engine& from, policy::Engine& to) {
  const std::scoped_lock lock(mutex_);  // under which plans are made
  to.adopt(from);
  if (to.has_newly_spent()) plan_again_locked(to);
}

void PolicyInForce::plan_again(policy::Engine& engine) {
  const std::scoped_lock lock(mutex_);
  plan_again_locked(engine);
}

void PolicyInForce::plan_again_locked(policy::Engine& engine) {
  engine.retire_spent();
  if (&engine != engines_.back().get()) return;  // another policy is already in force, with its own plans
  plan_all_locked();
}

// ---- Probes.

ProbeEntry* PolicyInForce::probe(std::string name, const ProbeOptions& options) {
  if (options.when) has_conditions_.store(true, std::memory_order_relaxed);
  const std::scoped_lock lock(mutex_);
  if (const auto known = named_.find({name, options.kind}); known != named_.end()) {
    ProbeEntry& entry = *known->second;
    // Without options it is only asked for once more.
    if (!same(options, {.kind = options.kind}) && !same(options, entry.options) &&
        !std::exchange(entry.other_options_told, true)) {
      errors_.push({Code::invalid_argument, "the probe '" + name + "' already exists with other options: those apply"});
    }
    return &entry;
  }
  const auto id = static_cast<std::uint32_t>(probes_.size());
  ProbeEntry& entry = probes_.emplace_back();
  try {
    entry.id = id;
    entry.name = std::move(name);
    entry.options = options;
    use_plan_locked(entry, make_plan_locked(entry));
    named_.emplace(std::pair(std::string_view(entry.name), options.kind), &entry);
  } catch (...) {
    probes_.pop_back();
    throw;
  }
  return &entry;
}

std::vector<std::pair<std::string, Kind>> PolicyInForce::probes() {
  std::vector<std::pair<std::string, Kind>> all;
  const std::scoped_lock lock(mutex_);
  all.reserve(probes_.size());
  for (const ProbeEntry& entry : probes_) all.emplace_back(entry.name, entry.options.kind);
  return all;
}

void PolicyInForce::refuse(const ProbeEntry& probe, std::string_view why) {
  const std::scoped_lock lock(mutex_);
  ProbeEntry& entry = probes_[probe.id];
  if (std::exchange(entry.bad_shape_told, true)) return;
  errors_.push({Code::invalid_argument, ("the probe '" + entry.name + "'").append(why)});
}

// ---- Steps.

void PolicyInForce::begin_epoch(std::int64_t number) noexcept {
  epoch_.store(number, std::memory_order_relaxed);
  epoch_begins_.store(true, std::memory_order_release);
}

void PolicyInForce::begin_step(std::int64_t step) noexcept {
  if (epoch_begins_.exchange(false, std::memory_order_acquire)) epoch_step_.store(step, std::memory_order_relaxed);
}

std::int64_t PolicyInForce::begin_evaluation(std::int64_t step) noexcept {
  const std::scoped_lock lock(mutex_);
  if (step != evaluation_) evaluation_before_ = step > evaluation_ ? evaluation_ : -1;
  evaluation_ = step;
  return evaluation_before_;
}

policy::Parts PolicyInForce::due(const policy::Plan& plan, std::int64_t step, bool evaluation,
                                 std::int64_t since) const noexcept {
  if (plan.parts.empty()) return 0;
  const std::int64_t epoch = epoch_.load(std::memory_order_relaxed);
  // An evaluation pass belongs to the epoch in which it takes place.
  const bool begins = epoch >= 0 && (evaluation || epoch_step_.load(std::memory_order_relaxed) == step);
  return plan.due({.step = step, .begins_epoch = begins, .epoch = epoch, .evaluation = evaluation, .since = since});
}

bool PolicyInForce::wants(const policy::Plan& plan, policy::Parts due) const noexcept {
  switch (level()) {
    case policy::Level::full: return due != 0 || plan.flight || plan.observed;
    case policy::Level::statistics: return due != 0 || plan.observed;
    case policy::Level::nothing: break;
  }
  return false;
}

// ---- Around fork().

void PolicyInForce::lock_for_fork() {
  change_mutex_.lock();
  mutex_.lock();
}

void PolicyInForce::unlock_after_fork() {
  mutex_.unlock();
  change_mutex_.unlock();
}

const Policy& PolicyInForce::become_child() noexcept {
  set_has_ring(false);
  set_level(policy::Level::full);
  return own_policy_;
}

}  // namespace sonde::record
