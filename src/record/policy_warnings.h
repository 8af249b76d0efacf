// Warns about parts of a policy without effect: patterns that match no probe, scalars that are never recorded, epochs
// that never begin. Belongs to the backend thread.
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

  // Another policy: counts its steps from here on.
  void begin() noexcept { steps_ = 0; }
  // A training step has ended.
  void end_step(const policy::Engine& engine, const sinks::Stamp& stamp);
  // Recording ends: reports what is still missing.
  void finish(const policy::Engine& engine, const sinks::Stamp& stamp);

  // Reported the first time that `what` occurs, and written to the log with the next step, for programs without an
  // error handler.
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
  std::int64_t steps_ = 0;        // ended under this policy
  std::set<std::string> warned_;  // already warned about
  std::string unwritten_;         // not in the log yet
};

}  // namespace sonde::record
