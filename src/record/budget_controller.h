// Keeps a recorder within the budget of its policy, on the backend thread: the recording level, and whether the disk
// has room for a capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "policy/budget.h"
#include "record/counter_set.h"
#include "record/disk_use.h"
#include "record/policy_in_force.h"
#include "record/pool.h"
#include "record/sink_set.h"

namespace sonde::record {

// The part of RecorderOptions::memory that a policy leaves for tensors in flight: a flight ring takes half of a budget.
std::size_t pool_budget(std::size_t memory, const Policy& policy);

class BudgetController {
 public:
  // All must outlive it. `memory`: RecorderOptions::memory.
  BudgetController(std::string run_directory, std::size_t memory, PolicyInForce& policy, CounterSet& counters,
                   CheckpointUse& checkpoints, Pool& pool, SinkSet& sinks);

  // The progress of the run: the last step that ended, and the bytes of captures being written.
  struct Progress {
    sinks::Stamp stamp;
    std::uint64_t capture_bytes = 0;
  };

  // A few times a second. `now` is monotonic, in ns.
  void poll(const Progress& progress, std::uint64_t now);
  // Before a step is written: checks whether the disk still has room for whole tensors, and for any.
  void look_at_disk(const Progress& progress);
  // Why the disk has no room for a capture of this size; empty if it has.
  std::string lacks_disk(const Progress& progress, std::uint64_t bytes);
  // Whether the policy in force limits the disk space of the run.
  bool limits_disk() const noexcept { return keeper_ && keeper_->policy().disk; }
  // The disk space of the run, including captures being written.
  std::uint64_t disk_bytes(std::uint64_t capture_bytes, std::uint64_t now);

 private:
  void follow_policy(const sinks::Stamp& stamp);
  void set_level(const sinks::Stamp& stamp, const policy::BudgetKeeper::Change& change);

  const std::string directory_;
  const std::size_t memory_;
  PolicyInForce& policy_;
  CounterSet& counters_;
  CheckpointUse& checkpoints_;
  Pool& pool_;
  SinkSet& sinks_;
  std::uint64_t engine_version_ = 0;  // of the engine whose budget applies
  std::optional<policy::BudgetKeeper> keeper_;
  std::uint64_t disk_ = 0;          // bytes when the directory was last measured, without checkpoints
  std::uint64_t disk_written_ = 0;  // of the tally, at that time
  std::uint64_t disk_look_ = 0;     // ns
};

}  // namespace sonde::record
