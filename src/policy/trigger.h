// When a capture is taken: a condition, and what keeps it from firing at every step while it holds.
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

  // To be called for every training step. True: it fires.
  bool end_step(const StepFacts& facts);
  // What became of the capture of a step. One that could not be saved does not count against the maximum. False: it did
  // not fire then, or that is known already.
  bool capture_ended(std::int64_t step, bool saved) noexcept;

 private:
  Trigger(TriggerPolicy policy, std::string name, Expression condition);

  TriggerPolicy policy_;
  std::string name_;
  Expression condition_;
  std::int64_t captures_ = 0;
  std::int64_t lost_ = 0;                // of them
  std::vector<std::int64_t> unsettled_;  // steps of those that are on their way
  std::int64_t quiet_ = 0;               // steps still to pass
  bool was_false_ = true;                // since it fired last
};

}  // namespace sonde::policy
