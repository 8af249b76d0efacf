#include "policy/rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/suggest.h"
#include "policy/expression_nodes.h"
#include "policy/expression_parser.h"
#include "policy/expression_text.h"

namespace sonde::policy {
namespace {

using condition::joined;

// Each has its thresholds explained in docs/policy.md; a test holds that page and this list together.
constexpr auto kRules = std::to_array<Rule>({
    {.name = "nonfinite",
     .about = "a tensor holds NaN or infinity, or the loss is one of them",
     .expression = "nonfinite({tensors}) > 0 or isnan({scalar}) or isinf({scalar})",
     .tensors = ".*",
     .scalar = "loss"},
    {.name = "exploding_gradient",
     .about = "a gradient is huge, or a hundred times its average",
     .expression = "any({tensors}, is(gradient) and (inf > 0 or absmax > 1e3 or "
                   "(absmax > 1 and rms > 50 * average(rms, 100))))",
     .tensors = "gradient/.*",
     .scalar = ""},
    {.name = "vanishing_gradient",
     .about = "a gradient has been nearly zero for ten steps or more",
     .expression = "any({tensors}, is(gradient) and average(absmax < 1e-8, 10) > 0.95)",
     .tensors = "gradient/.*",
     .scalar = ""},
    {.name = "dead_relu",
     .about = "nearly all outputs of a ReLU are zero",
     .expression = "any({tensors}, is(activation) and min >= 0 and zero_fraction > 0.98)",
     .tensors = "activation/.*",
     .scalar = ""},
    {.name = "saturated_activation",
     .about = "nearly all outputs of a tanh or a sigmoid are at its ends",
     .expression = "any({tensors}, is(activation) and absmax <= 1 and std > 0 and (rms > 0.97 or "
                   "(min >= 0 and zero_fraction < 0.1 and mean > 0.02 and std * std > 0.9 * mean * (1 - mean) and "
                   "abs(1 / mean - round(1 / mean)) > 0.01)))",
     .tensors = "activation/.*",
     .scalar = ""},
    {.name = "update_ratio",
     .about = "the updates of a weight have been far too large or too small for it, for some steps",
     .expression = "any({tensors}, is(update) and ((of(weight, rms) > 0.03 and "
                   "average(rms > 0.4 * of(weight, rms), 5) > 0.95) or "
                   "average(rms < 1e-7 * of(weight, rms), 1000) > 0.95))",
     .tensors = "update/.*",
     .scalar = ""},
    {.name = "loss_spike",
     .about = "the loss jumps far above its last 200 values",
     .expression = "zscore({scalar}, 200) > 10 and delta({scalar}) > 0.1 * abs(average({scalar}, 200))",
     .tensors = "",
     .scalar = "loss"},
    {.name = "loss_not_decreasing",
     .about = "the loss has stopped falling, or never began to",
     .expression = "trend({scalar}, 200) >= 0 and "
                   "average({scalar}, 1000) - average({scalar}, 100) < 0.01 * abs(average({scalar}, 1000))",
     .tensors = "",
     .scalar = "loss"},
    {.name = "fp16_overflow",
     .about = "values come within a factor of two of the largest that float16 holds",
     .expression = "any({tensors}, not is(input) and absmax > 32752)",
     .tensors = ".*",
     .scalar = ""},
});

// In quotes that do not occur in it; a condition knows no escapes.
std::optional<std::string> quoted(std::string_view text) {
  for (const std::string_view mark : {"'", "\""}) {
    if (text.find(mark) == std::string_view::npos) return joined({mark, text, mark});
  }
  return std::nullopt;
}

// By its bare name if a condition takes that as a scalar.
std::optional<std::string> scalar_text(std::string_view name) {
  condition::ParseError ignored;
  const auto parsed = condition::parse_condition(name, ignored);
  if (parsed && parsed->scalars.size() == 1 && parsed->scalars[0] == name) return std::string(name);
  const auto text = quoted(name);
  return text ? std::optional(joined({"scalar(", *text, ")"})) : std::nullopt;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

Status invalid(std::initializer_list<std::string_view> parts) { return {Code::invalid_argument, joined(parts)}; }

Result<std::string> filled_in(const Rule& rule, const TriggerPolicy& trigger) {
  std::string expression(rule.expression);
  if (rule.tensors.empty()) {
    if (!trigger.tensors.empty()) {
      return invalid({"the rule '", rule.name, "' looks at no tensors; remove 'tensors' from its trigger"});
    }
  } else {
    const std::string_view pattern = trigger.tensors.empty() ? rule.tensors : std::string_view(trigger.tensors);
    const auto text = quoted(pattern);
    if (!text) return invalid({"the pattern ", pattern, " has both kinds of quotes; write a . for one of them"});
    replace_all(expression, "{tensors}", *text);
  }
  if (rule.scalar.empty()) {
    if (!trigger.scalar.empty()) {
      return invalid({"the rule '", rule.name, "' looks at no scalar; remove 'scalar' from its trigger"});
    }
  } else {
    const std::string_view name = trigger.scalar.empty() ? rule.scalar : std::string_view(trigger.scalar);
    const auto text = scalar_text(name);
    if (!text)
      return invalid({"the scalar ", name, " has both kinds of quotes in its name, which rules do not support"});
    replace_all(expression, "{scalar}", *text);
  }
  return expression;
}

}  // namespace

std::span<const Rule> rules() noexcept { return kRules; }

bool needs_scalars(const TriggerPolicy& trigger) noexcept {
  const auto* const rule = std::ranges::find(kRules, trigger.rule, &Rule::name);
  return rule == kRules.end() || !trigger.scalar.empty() || rule->tensors.empty();
}

Result<std::string> expression_of(const TriggerPolicy& trigger) {
  if (trigger.rule.empty()) {
    if (trigger.when.empty()) return invalid({"a trigger needs 'when' or 'rule'"});
    if (!trigger.tensors.empty()) return invalid({"'tensors' belongs to a rule; write the pattern into 'when'"});
    if (!trigger.scalar.empty()) return invalid({"'scalar' belongs to a rule; write the name into 'when'"});
    return trigger.when;
  }
  if (!trigger.when.empty()) return invalid({"a trigger has either 'when' or 'rule', not both"});
  const auto* const rule = std::ranges::find(kRules, trigger.rule, &Rule::name);
  if (rule != kRules.end()) return filled_in(*rule, trigger);
  std::vector<std::string> names;
  std::string list;
  for (const Rule& known : kRules) {
    names.emplace_back(known.name);
    list += list.empty() ? "" : ", ";
    list += known.name;
  }
  const std::string hint = base::did_you_mean(trigger.rule, names);
  return invalid({"there is no rule '", trigger.rule, "'", hint.empty() ? "; there are " : hint,
                  hint.empty() ? std::string_view(list) : ""});
}

}  // namespace sonde::policy
