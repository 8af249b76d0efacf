// sonde policy: changes what a running job records, from a file; and checks such a file.
#include "sonde/policy.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arming.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/suggest.h"
#include "control.h"
#include "formats/run_layout.h"
#include "policy/policy_values.h"
#include "policy/rules.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

// "2 watches, 1 trigger, a flight ring and a budget"
std::string contents(const policy::ControlFile& file, std::size_t armed = 0) {
  std::vector<std::string> parts;
  const std::size_t watches = file.policy.watches.size();
  if (file.has_watches) parts.push_back(grouped(watches) + (watches == 1 ? " watch" : " watches"));
  if (file.has_triggers) parts.push_back(counted(file.policy.triggers.size(), "trigger"));
  const bool ring = file.policy.flight.use != FlightPolicy::Use::off;
  if (file.has_flight) parts.emplace_back(ring ? "a flight ring" : "no flight ring");
  if (file.has_budget) parts.emplace_back("a budget");
  if (file.has_allow) parts.emplace_back("allowed infinities");
  if (armed > 0) parts.push_back(counted(armed, "armed trigger"));
  const std::string text = base::enumerated(parts);
  return text.empty() ? "nothing, so the program's own policy applies" : text;
}

// The lines of a file, indented by two blanks, safe to print.
std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.append("  ").append(harmless(text.substr(0, end))).append("\n");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// A policy file: its text and its content.
struct PolicyText {
  std::string text;
  policy::ControlFile content;
};
// It may be a pipe, so it is read only once.
Result<PolicyText> load(const std::string& path) {
  Result<std::string> text = base::read_stream(path, policy::kMostBytes + 1);  // one too many: parse reports it
  if (!text) return text.error();
  if (const Result<Policy> policy = Policy::parse(*text, path); !policy) return policy.error();
  Result<policy::ControlFile> content = policy::parse_control(*text, path);
  if (!content) return content.error();
  return PolicyText{*std::move(text), *std::move(content)};
}

class PolicyCommand final : public Subcommand {
 public:
  PolicyCommand()
      : Subcommand(
            {.name = "policy",
             .usage = "policy RUN [FILE] | RUN --clear | --check FILE | --rules",
             .summary = "change what a running job records",
             .details = "Each part that FILE has - watches, triggers, the flight ring, the budget - replaces "
                        "the program's own within a second; missing parts do not change, and neither do "
                        "triggers that 'sonde arm' has added. An invalid file changes nothing. Without "
                        "FILE it prints what is in force. The change is stored in RUN/control.toml, and also applies "
                        "to the next job in this run, until --clear.",
             .examples = {"sonde policy --check policy.toml", "sonde policy logs/train policy.toml",
                          "sonde policy logs/train", "sonde policy logs/train --clear", "sonde policy --rules"}}) {}

  void setup(Flags& flags) override {
    flags.optional_argument(run_, "RUN", "the directory of a run");
    flags.optional_argument(file_, "FILE", "a policy: TOML, as docs/policy.md explains");
    flags.toggle(clear_, "--clear", "undo all changes: the job's own policy applies again");
    flags.path_option(check_, "--check", "FILE", "only check the policy");
    flags.toggle(rules_, "--rules", "list the ready-made rules for triggers");
  }

  int run() override {
    const bool named = !run_.empty() || !file_.empty();
    const int tasks = (clear_ ? 1 : 0) + (check_.empty() ? 0 : 1) + (rules_ ? 1 : 0);
    if (tasks > 1) return fail("--clear, --check and --rules exclude each other: use one of them");
    if (!clear_ && tasks == 1 && named) return fail("--check and --rules do not take a run: omit '" + run_ + "'");
    if (rules_) return list_rules();
    if (!check_.empty()) return check();
    if (run_.empty()) return fail("name the directory of a run; see 'sonde help policy'");
    if (clear_) return file_.empty() ? clear() : fail("--clear takes no file: omit '" + file_ + "'");
    return file_.empty() ? show() : apply();
  }

 private:
  int apply() const {
    const Result<PolicyText> policy = load(file_);
    if (!policy) return fail(policy.error());
    const Result<Control> control = read_control_to_replace();
    if (!control) return fail(control.error());
    const std::vector<TriggerPolicy> armed = armed_triggers(control->content);
    std::string text = with_armed(policy->text, armed);
    if (const auto whole = policy::parse_control(text, control_path(run_)); !whole) return fail(whole.error());
    if (control->content.fire > 0) {
      // Without this the new file would have another number, and cause a capture.
      Result<std::string> counting = with_control_key(text, "fire", std::to_string(control->content.fire));
      if (!counting) return fail(counting.error());
      text = *std::move(counting);
    }
    const Result<Answer> answer = put_control(*control, text);
    if (!answer) return fail(answer.error());
    const std::string kept = armed.empty() ? "" : "; " + counted(armed.size(), "armed trigger") + " kept";
    print((answer->applied ? "in force: " : "written: ") + contents(policy->content) + ", from " + harmless(file_) +
          kept + describe(*answer) + "\n");
    return kSuccess;
  }

  // Prints the changes in control.toml, and whether a recorder has read them.
  int show() const {
    const Result<Control> control = read_control(run_);
    if (!control) return fail(control.error());
    const std::string path = harmless(control_path(run_));
    if (!control->exists) {
      print("in force: the program's own policy; there is no " + path + "\n");
      return kSuccess;
    }
    policy::ControlFile content = control->content;
    const std::vector<TriggerPolicy> armed = armed_triggers(content);
    if (content.keep_triggers) content.has_triggers = false;  // these are armed triggers
    const State state = state_of(*control);
    std::string text = state.standing == Standing::in_force  ? "in force"
                       : state.standing == Standing::refused ? "rejected by the recorder"
                                                             : "not read by a recorder yet";
    if (!state.but.empty()) text += " (" + harmless(state.but) + ")";
    text += ": " + contents(content, armed.size()) + ", from " + path + "\n";
    for (const TriggerPolicy& trigger : armed) {
      const Result<std::string> said = describe(trigger);
      if (!said) return fail(said.error());
      text += "  armed: " + *said + "\n";
    }
    text += "All other parts come from the program. The file:\n\n";
    print(text + indented(control->text));
    return kSuccess;
  }

  // Also replaces an invalid file, and one of another owner: no recorder obeys it.
  Result<Control> read_control_to_replace() const {
    Result<Control> control = read_control(run_);
    if (control) return control;
    if (Status status = check_run(run_); !status) return status;
    const Result<OwnText> file = read_own_control(run_);
    if (!file) return file.error();
    return Control{.run = run_, .text = file->text, .exists = file->own, .content = {}};
  }

  int clear() const {
    if (Status status = check_run(run_); !status) return fail(status);
    const std::string path = control_path(run_);
    const bool there = base::file_state(path).ok();
    if (Status status = base::remove_file(path); !status) return fail(status);
    if (Status status = base::remove_file(base::join_path(run_, run_layout::kControlState)); !status)
      return fail(status);
    print(there ? "cleared: the job's own policy applies again\n"
                : "There is nothing to clear in '" + harmless(run_) + "': the job's own policy applies.\n");
    return kSuccess;
  }

  int check() const {
    const Result<PolicyText> policy = load(check_);
    if (!policy) return fail(policy.error());
    print(harmless(check_) + " is right: " + contents(policy->content) + "\n");
    return kSuccess;
  }

  int list_rules() const {
    for (const policy::Rule& rule : policy::rules()) {
      TriggerPolicy trigger;
      trigger.rule = rule.name;
      const Result<std::string> expression = policy::expression_of(trigger);
      if (!expression) return fail(expression.error());
      std::string text = &rule == policy::rules().data() ? "" : "\n";
      text.append(styled(rule.name, Style::bold, color_)).append("  ").append(rule.about);
      print(text.append("\n  ").append(styled(*expression, Style::cyan, color_)).append("\n"));
    }
    return kSuccess;
  }

  std::string run_;
  std::string file_;
  std::string check_;
  bool clear_ = false;
  bool rules_ = false;
  bool color_ = colored(stdout);
};

}  // namespace

std::unique_ptr<Subcommand> make_policy_command() { return std::make_unique<PolicyCommand>(); }

}  // namespace sonde::cli
