// Ready-made triggers, each a documented expression (docs/policy.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sonde/policy.h"
#include "sonde/status.h"

namespace sonde::policy {

struct Rule {
  std::string_view name;        // "exploding_gradient"
  std::string_view about;       // one line
  std::string_view expression;  // with {tensors} and {scalar} as placeholders for the trigger's own
  std::string_view tensors;     // the default of {tensors}; empty: the rule has none
  std::string_view scalar;      // the default of {scalar}; empty: the rule has none
};
std::span<const Rule> rules() noexcept;

// The expression of a trigger: its own, or its rule's. Fails if there is none, both, an unknown rule (with the nearest
// name), or tensors or a scalar for a rule that takes none.
Result<std::string> expression_of(const TriggerPolicy& trigger);

// Whether its condition is useless without the scalars that it names. Not so if they are a rule's defaults and the rule
// also looks at tensors: then no warning about a missing scalar is needed.
bool needs_scalars(const TriggerPolicy& trigger) noexcept;

}  // namespace sonde::policy
