// Triggers ready to use, each a documented expression (docs/policy.md).
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
  std::string_view expression;  // with {tensors} and {scalar} in the place of the trigger's own
  std::string_view tensors;     // what {tensors} is unless the trigger says otherwise; empty: the rule has none
  std::string_view scalar;      // what {scalar} is unless the trigger says otherwise; empty: the rule has none
};
std::span<const Rule> rules() noexcept;

// The expression of a trigger: its own, or its rule's. Fails where there is none, both, an unknown rule (with the
// nearest name), or tensors or a scalar for a rule that takes none.
Result<std::string> expression_of(const TriggerPolicy& trigger);

// Whether its condition comes to nothing without the scalars that it names. Not so where they are a rule's own and the
// rule looks at tensors, too: nobody needs to be told that such a scalar is never recorded.
bool needs_scalars(const TriggerPolicy& trigger) noexcept;

}  // namespace sonde::policy
