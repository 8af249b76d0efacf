#include "record/budget_controller.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace sonde::record {
namespace {

constexpr std::uint64_t kMeasureEvery = 60'000'000'000U;  // ns between two measurements of all files of the run

}  // namespace

std::size_t pool_budget(std::size_t memory, const Policy& policy) {
  if (!policy.budget.memory) return memory;
  const std::uint64_t share = policy::wants_flight(policy) ? *policy.budget.memory / 2 : *policy.budget.memory;
  return std::min<std::size_t>(memory, share);
}

BudgetController::BudgetController(std::string run_directory, std::size_t memory, PolicyInForce& policy,
                                   CounterSet& counters, CheckpointUse& checkpoints, Pool& pool, SinkSet& sinks)
    : directory_(std::move(run_directory)),
      memory_(memory),
      policy_(policy),
      counters_(counters),
      checkpoints_(checkpoints),
      pool_(pool),
      sinks_(sinks) {}

// The current size, plus what captures being written will add. Nothing is measured while there are such captures: part
// of them would count twice.
std::uint64_t BudgetController::disk_bytes(std::uint64_t capture_bytes, std::uint64_t now) {
  const std::uint64_t written = counters_.read().bytes_written;
  if (disk_look_ == 0 || (capture_bytes == 0 && now - disk_look_ >= kMeasureEvery)) {
    checkpoints_.measure();
    const std::uint64_t all = bytes_below(directory_);
    disk_ = all - std::min(all, checkpoints_.bytes());
    disk_written_ = written;
    disk_look_ = now;
  }
  return disk_ + (written - disk_written_) + checkpoints_.bytes() + capture_bytes;
}

std::string BudgetController::lacks_disk(const Progress& progress, std::uint64_t bytes) {
  follow_policy(progress.stamp);
  if (!keeper_->policy().disk) return {};
  return keeper_->lacks_disk(disk_bytes(progress.capture_bytes, base::monotonic_nanoseconds()), bytes);
}

void BudgetController::look_at_disk(const Progress& progress) {
  follow_policy(progress.stamp);
  if (!keeper_->policy().disk) return;
  const auto change = keeper_->observe_disk(disk_bytes(progress.capture_bytes, base::monotonic_nanoseconds()));
  if (change) set_level(progress.stamp, *change);
}

void BudgetController::follow_policy(const sinks::Stamp& stamp) {
  const std::uint64_t version = policy_.engine_version();
  if (keeper_ && version == engine_version_) return;
  const auto engine = policy_.engine();
  const Policy& policy = engine->policy();
  if (!keeper_ || keeper_->policy() != policy.budget) {
    if (policy_.level() != policy::Level::full) {
      set_level(stamp, {policy_.level(), policy::Level::full, "the budget has changed"});
    }
    keeper_.emplace(policy.budget);
  }
  pool_.set_budget(pool_budget(memory_, policy));  // a ring takes its share of it
  policy_.set_timed(policy.budget.overhead.has_value());
  engine_version_ = version;
}

void BudgetController::poll(const Progress& progress, std::uint64_t now) {
  follow_policy(progress.stamp);
  const BudgetPolicy& budget = keeper_->policy();
  if (!budget.overhead && !budget.memory && !budget.disk) return;
  const auto change = keeper_->observe({.wall = static_cast<double>(now) * 1e-9,
                                        .busy = counters_.busy_seconds(),
                                        .refused = counters_.read().dropped_tensors,
                                        .disk = budget.disk ? disk_bytes(progress.capture_bytes, now) : 0});
  if (change) set_level(progress.stamp, *change);
}

void BudgetController::set_level(const sinks::Stamp& stamp, const policy::BudgetKeeper::Change& change) {
  policy_.set_level(change.to);
  sinks_.give_up(
      stamp, std::string(to_string(change.from)) + " -> " + std::string(to_string(change.to)) + ": " + change.reason);
}

}  // namespace sonde::record
