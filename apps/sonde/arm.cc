// sonde arm: adds a trigger to a running job.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "arming.h"
#include "control.h"
#include "policy/policy_values.h"
#include "sonde/policy.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

class Arm final : public Subcommand {
 public:
  Arm()
      : Subcommand({.name = "arm",
                    .usage = "arm RUN --when EXPR [options]",
                    .summary = "add a trigger to a running job",
                    .details = "When the condition holds at the end of a step, the job saves that step, and those "
                               "before and after it, as a capture in RUN/captures: 'sonde captures' prints it. The "
                               "trigger is added to the existing ones, in RUN/control.toml, and stays when "
                               "'sonde policy' gives the job another policy. 'sonde policy RUN' shows what is in "
                               "force; 'sonde policy RUN --clear' undoes all such changes.",
                    .examples = {"sonde arm logs/train --when 'loss > 1.0'",
                                 "sonde arm logs/train --when \"nonfinite('gradient/.*')\" --before 3 --after 2",
                                 "sonde arm logs/train --rule exploding_gradient"}}) {}

  void setup(Flags& flags) override {
    flags.argument(run_, "RUN", "the directory of a run");
    flags.option(trigger_.when, "--when", "EXPR", "a condition, such as 'loss > 1.0'");
    flags.option(trigger_.rule, "--rule", "NAME", "a ready-made condition instead: 'sonde policy --rules' lists them");
    flags.option(trigger_.tensors, "--tensors", "RE", "the tensors that a rule looks at (the rule's default)");
    flags.option(trigger_.scalar, "--scalar", "NAME", "the scalar that a rule about the loss looks at (loss)");
    flags.option(trigger_.name, "--name", "NAME", "part of the captures' names (the rule's, or 'trigger')");
    flags.option(trigger_.before, "--before", "N", "steps before it to save (5)");
    flags.option(trigger_.after, "--after", "N", "steps after it to save (0)");
    flags.option(trigger_.hold_off, "--hold-off", "N", "steps after a capture in which it does not fire again (0)");
    flags.option(rearm_, "--rearm", "WHEN",
                 "when it may fire again: edge, after the condition has been false, always or never (edge)");
    flags.option(trigger_.max_captures, "--max-captures", "N", "maximum number of captures; 0: no limit (10)");
  }

  int run() override {
    const std::optional<Rearm> rearm = policy::rearm_of(rearm_);
    if (!rearm) return fail("--rearm is edge, always or never, not '" + rearm_ + "'");
    trigger_.rearm = *rearm;
    if (Status status = check_trigger(trigger_); !status) return fail(status);
    const Result<std::string> said = describe(trigger_);
    if (!said) return fail(said.error());
    const Result<Answer> answer = arm(run_, trigger_);
    if (!answer) return fail(answer.error());
    print("armed: " + *said + (answer->applied ? " (in force)" : "") + describe(*answer) + "\n");
    return kSuccess;
  }

 private:
  std::string run_;
  std::string rearm_ = "edge";
  TriggerPolicy trigger_;
};

}  // namespace

std::unique_ptr<Subcommand> make_arm_command() { return std::make_unique<Arm>(); }

}  // namespace sonde::cli
