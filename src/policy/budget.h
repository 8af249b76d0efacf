// Decides how much is recorded within a budget. Pure: the costs are inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sonde/policy.h"

namespace sonde::policy {

// Everything, statistics and histograms instead of whole tensors and pictures, or no tensors at all.
enum class Level : std::uint8_t { full, statistics, nothing };
std::string_view to_string(Level level) noexcept;
// What remains of a request at a level.
Keep limit(Keep keep, Level level) noexcept;

// The costs so far; all numbers except `disk` only grow.
struct Usage {
  double wall = 0;            // seconds
  double busy = 0;            // seconds that callers and the backend spent on tensors and steps
  std::uint64_t refused = 0;  // tensors that did not fit into memory
  std::uint64_t disk = 0;     // bytes of the run's directory now
};

class BudgetKeeper {
 public:
  explicit BudgetKeeper(const BudgetPolicy& policy) : policy_(policy) {}

  const BudgetPolicy& policy() const noexcept { return policy_; }
  Level level() const noexcept { return level_; }

  struct Change {
    Level from = Level::full;
    Level to = Level::full;
    std::string reason;  // "recording took 3.1 % of the time, more than 1 %"
  };
  // Call it about every 250 ms. Returns the level if it changes.
  std::optional<Change> observe(const Usage& usage);
  // Call it before anything is written: the disk limit allows no delay. `bytes` is the size of the run's directory.
  std::optional<Change> observe_disk(std::uint64_t bytes);
  // Why an item of this size may not be written if the run's directory has `taken` bytes; empty if it may.
  std::string lacks_disk(std::uint64_t taken, std::uint64_t bytes) const;

 private:
  static constexpr double kFirstPatience = 5.0;

  std::string excess(const Usage& usage, double overhead) const;
  std::string disk_excess(std::uint64_t bytes) const;
  bool has_room(const Usage& usage, double overhead) const;

  BudgetPolicy policy_;
  Level level_ = Level::full;
  std::optional<Usage> begin_;        // start of the current observation period
  double calm_since_ = 0;             // wall
  double patience_ = kFirstPatience;  // seconds of calm before a higher level is tried
  double raised_ = 0;                 // wall, when a higher level was last tried
};

}  // namespace sonde::policy
