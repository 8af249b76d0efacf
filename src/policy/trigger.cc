#include "policy/trigger.h"

#include <algorithm>
#include <limits>

#include "policy/rules.h"

namespace sonde::policy {

Trigger::Trigger(TriggerPolicy policy, std::string name, Expression condition)
    : policy_(std::move(policy)), name_(std::move(name)), condition_(std::move(condition)) {}

Result<Trigger> Trigger::create(const TriggerPolicy& policy) {
  auto text = expression_of(policy);
  if (!text) return text.error();
  auto condition = Expression::parse(*text);
  if (!condition) return condition.error();
  std::string name = policy.name;
  if (name.empty()) name = policy.rule.empty() ? "trigger" : policy.rule;
  return Trigger(policy, std::move(name), std::move(*condition));
}

bool Trigger::end_step(const StepFacts& facts) {
  const bool holds = condition_.evaluate(facts);
  const bool quiet = quiet_ > 0;
  if (quiet) --quiet_;
  // A trigger that fires only once may fire again, as long as none of its captures was saved.
  const bool again = policy_.rearm == Rearm::edge || captures_ == lost_;
  const bool armed = policy_.rearm == Rearm::always || captures_ == 0 || (again && was_false_);
  was_false_ |= !holds;
  const bool spent = policy_.max_captures > 0 && captures_ - lost_ >= policy_.max_captures;
  if (!holds || quiet || !armed || spent) return false;
  ++captures_;
  constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
  quiet_ = policy_.hold_off > kLongest - policy_.after ? kLongest : policy_.after + policy_.hold_off;
  was_false_ = false;
  unsettled_.push_back(facts.step);
  return true;
}

bool Trigger::capture_ended(std::int64_t step, bool saved) noexcept {
  const auto found = std::ranges::find(unsettled_, step);
  if (found == unsettled_.end()) return false;
  unsettled_.erase(found);
  if (!saved) ++lost_;
  return true;
}

}  // namespace sonde::policy
