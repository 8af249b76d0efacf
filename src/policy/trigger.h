// When a capture is taken: a condition, and what prevents it from firing at every step while it is true.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "policy/expression.h"
#include "sonde/policy.h"
#include "sonde/status.h"

namespace sonde::policy {

class Trigger {
 public:
  static Result<Trigger> create(const TriggerPolicy& policy);

  const TriggerPolicy& policy() const noexcept { return policy_; }
  const std::string& name() const noexcept { return name_; }
  const Expression& condition() const noexcept { return condition_; }

  // Call it for every training step. True: it fires.
  bool end_step(const StepFacts& facts);
  // Reports the outcome of the capture of a step. A capture that could not be saved does not count against the maximum.
  // False: it did not fire then, or the outcome is already known.
  bool capture_ended(std::int64_t step, bool saved) noexcept;

 private:
  Trigger(TriggerPolicy policy, std::string name, Expression condition);

  TriggerPolicy policy_;
  std::string name_;
  Expression condition_;
  std::int64_t captures_ = 0;
  std::int64_t lost_ = 0;                // captures that could not be saved
  std::vector<std::int64_t> unsettled_;  // steps of captures in progress
  std::int64_t quiet_ = 0;               // remaining steps of the hold-off
  bool was_false_ = true;                // since it last fired
};

}  // namespace sonde::policy
