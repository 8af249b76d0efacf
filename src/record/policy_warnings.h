// Warns of what a policy asks for in vain: patterns that match no probe, scalars that nobody records, epochs that never
// begin. Belongs to the backend thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "policy/engine.h"
#include "record/error_queue.h"
#include "record/policy_in_force.h"
#include "record/sink_set.h"
#include "record/tag_table.h"

namespace sonde::record {

class PolicyWarnings {
 public:
  // All must outlive it.
  PolicyWarnings(PolicyInForce& policy, TagTable& tags, ErrorQueue& errors, SinkSet& sinks) noexcept
      : policy_(policy), tags_(tags), errors_(errors), sinks_(sinks) {}

  // Another policy: its steps are counted from here on.
  void begin() noexcept { steps_ = 0; }
  // A training step has ended.
  void end_step(const policy::Engine& engine, const sinks::Stamp& stamp);
  // Recording ends: what was not missed yet is missed now.
  void finish(const policy::Engine& engine, const sinks::Stamp& stamp);

  // Told the first time that `what` occurs, and written into the log with the next step, for who has no error handler.
  void warn_once(const std::string& what, const Status& status);

 private:
  void write(const sinks::Stamp& stamp);
  void unmatched(const policy::Engine& engine);
  void epochs(const policy::Engine& engine);
  void unknown_scalars(const policy::Engine& engine, bool at_end);

  PolicyInForce& policy_;
  TagTable& tags_;
  ErrorQueue& errors_;
  SinkSet& sinks_;
  std::int64_t steps_ = 0;        // that ended with this policy
  std::set<std::string> warned_;  // of these
  std::string unwritten_;         // that the log does not have yet
};

}  // namespace sonde::record
