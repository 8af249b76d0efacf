#include "arming.h"

#include <string_view>

#include "policy/expression.h"
#include "policy/rules.h"
#include "text.h"

namespace sonde::cli {
namespace {

// control.toml with the trigger added; everything else in it stays.
Result<std::string> extended(const Control& control, const TriggerPolicy& trigger) {
  const std::string text = with_armed(control.text, {trigger});
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
  constexpr std::string_view kWhich = "trigger 1: ";  // it is the only one
  const std::string& message = status.message();
  return {status.code(), message.starts_with(kWhich) ? message.substr(kWhich.size()) : message};
}

Result<std::string> describe(const TriggerPolicy& trigger) {
  const Result<std::string> expression = policy::expression_of(trigger);
  if (!expression) return expression.error();
  const std::string& name = trigger.name.empty() ? trigger.rule : trigger.name;
  std::string text = harmless(name.empty() ? *expression : name + ", when " + *expression);
  text += ", with " + counted(static_cast<std::uint64_t>(trigger.before), "step") + " before";
  if (trigger.after > 0) text += " and " + grouped(static_cast<std::uint64_t>(trigger.after)) + " after";
  return text;
}

Result<Answer> arm(const std::string& run, const TriggerPolicy& trigger) {
  const Result<Control> control = read_control(run);
  if (!control) return control.error();
  const Result<std::string> text = extended(*control, trigger);
  if (!text) return text.error();
  return put_control(*control, *text);
}

Result<Answer> disarm(const std::string& run, std::size_t number, std::string_view when) {
  const Result<Control> control = read_control(run);
  if (!control) return control.error();
  std::vector<TriggerPolicy> armed = armed_triggers(control->content);
  const Result<std::string> expression =
      number < armed.size() ? policy::expression_of(armed[number]) : Result<std::string>(std::string());
  if (number >= armed.size() || !expression || *expression != when) {
    return Status(Code::not_found, "the triggers of '" + run + "' have changed meanwhile: look at them again");
  }
  armed.erase(armed.begin() + static_cast<std::ptrdiff_t>(number));
  const Result<std::string> text = without_armed(*control);
  if (!text) return text.error();
  return put_control(*control, with_armed(*text, armed));
}

}  // namespace sonde::cli
