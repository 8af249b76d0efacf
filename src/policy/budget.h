// How much is recorded where recording may cost only so much. Pure: what it costs is told to it.
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
// What is left of a request.
Keep limit(Keep keep, Level level) noexcept;

// What it cost so far; every number but `disk` only grows.
struct Usage {
  double wall = 0;            // seconds
  double busy = 0;            // seconds that callers and the backend spent on tensors and steps
  std::uint64_t refused = 0;  // tensors that found no room in memory
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
  // To be called every quarter of a second or so. The level, where it changes.
  std::optional<Change> observe(const Usage& usage);
  // Before anything is written: the disk allows no delay. `bytes` are those of the run's directory.
  std::optional<Change> observe_disk(std::uint64_t bytes);
  // Why something whole that takes so many bytes may not be written, where the run's directory has `taken`; empty where
  // it may.
  std::string lacks_disk(std::uint64_t taken, std::uint64_t bytes) const;

 private:
  static constexpr double kFirstPatience = 5.0;

  std::string excess(const Usage& usage, double overhead) const;
  std::string disk_excess(std::uint64_t bytes) const;
  bool has_room(const Usage& usage, double overhead) const;

  BudgetPolicy policy_;
  Level level_ = Level::full;
  std::optional<Usage> begin_;        // of the time that is being looked at
  double calm_since_ = 0;             // wall
  double patience_ = kFirstPatience;  // seconds of calm before more is tried
  double raised_ = 0;                 // wall, when more was tried last
};

}  // namespace sonde::policy
