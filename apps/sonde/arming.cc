#include "arming.h"

#include <string_view>

#include "policy/expression.h"
#include "policy/policy_values.h"

namespace sonde::cli {
namespace {

// control.toml with the trigger in addition. What is there stays in force, and so do the program's own triggers unless
// the file has taken their place already.
Result<std::string> extended(const Control& control, const TriggerPolicy& trigger) {
  std::string text = control.text;
  if (!control.content.has_triggers && !control.content.keep_triggers) {
    Result<std::string> keeping = with_control_key(text, "keep_triggers", "true");
    if (!keeping) return keeping;
    text = *std::move(keeping);
  }
  if (text.back() != '\n') text += '\n';
  text.append("\n").append(policy::to_toml(trigger));
  const Result<policy::ControlFile> parsed = policy::parse_control(text, control_path(control.run));
  if (!parsed) return parsed.error();
  return text;
}

}  // namespace

Status check_trigger(const TriggerPolicy& trigger) {
  if (trigger.when.empty() && trigger.rule.empty()) {
    return {Code::invalid_argument,
            "say when, with --when EXPR or --rule NAME ('sonde policy --rules' lists the rules)"};
  }
  if (!trigger.when.empty()) {
    const Result<policy::Expression> expression = policy::Expression::parse(trigger.when);
    if (!expression)
      return {expression.error().code(), "--when '" + trigger.when + "', " + expression.error().message()};
  }
  Policy policy;
  policy.triggers = {trigger};
  const Status status = policy.check();
  if (status.ok()) return Status::success();
  constexpr std::string_view kWhich = "trigger 1: ";  // there is no other
  const std::string& message = status.message();
  return {status.code(), message.starts_with(kWhich) ? message.substr(kWhich.size()) : message};
}

Result<Answer> arm(const std::string& run, const TriggerPolicy& trigger) {
  const Result<Control> control = read_control(run);
  if (!control) return control.error();
  const Result<std::string> text = extended(*control, trigger);
  if (!text) return text.error();
  return put_control(*control, *text);
}

}  // namespace sonde::cli
