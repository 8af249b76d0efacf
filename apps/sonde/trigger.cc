// sonde trigger: saves a capture of a running job now.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "control.h"
#include "formats/run_layout.h"
#include "sonde/capture.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

// The next number of the counter that requests captures. The first one is the time in ms: the recorder may remember an
// earlier counter whose file no longer exists.
std::int64_t next_fire(const Control& control) {
  return control.content.fire > 0 ? control.content.fire + 1 : static_cast<std::int64_t>(base::wall_seconds() * 1000);
}

class Trigger final : public Subcommand {
 public:
  Trigger()
      : Subcommand({.name = "trigger",
                    .usage = "trigger RUN",
                    .summary = "save a capture of a running job now",
                    .details = "The step in progress and the five before it are saved as a capture in RUN/captures, as "
                               "if a trigger had fired. The earlier steps come from the flight ring, which a job has "
                               "while its policy has a trigger, or asks for a ring.",
                    .examples = {"sonde trigger logs/train"}}) {}

  void setup(Flags& flags) override { flags.argument(run_, "RUN", "the directory of a run"); }

  int run() override {
    const Result<Control> control = read_control(run_);
    if (!control) return fail(control.error());
    const Result<std::string> text = with_control_key(control->text, "fire", std::to_string(next_fire(*control)));
    if (!text) return fail(text.error());
    const Result<std::vector<std::string>> before = list_captures(run_);
    if (!before) return fail(before.error());
    const Result<Answer> answer = put_control(*control, *text);
    if (!answer) return fail(answer.error());
    if (!answer->applied) {
      return fail("no running recorder in '" + run_ + "' has answered: nothing is saved unless one answers later");
    }
    print("a capture is being saved");
    std::fflush(stdout);
    const std::optional<std::string> path = wait_for_capture(*before);
    print(path ? ": " + harmless(*path) + without_tensors(*path) + "\n"
               : "; it appears in " + harmless(base::join_path(run_, run_layout::kCaptures)) +
                     " when the current step ends\n");
    return kSuccess;
  }

 private:
  // The first new capture that no condition made.
  std::optional<std::string> wait_for_capture(const std::vector<std::string>& before) const {
    constexpr double kPatience = 3;  // seconds
    const std::uint64_t start = base::monotonic_nanoseconds();
    do {
      const Result<std::vector<std::string>> now = list_captures(run_);
      if (!now) return std::nullopt;
      for (const std::string& path : *now) {
        if (path.ends_with("-manual") && !std::ranges::count(before, path)) return path;
      }
    } while (wait_a_little(start, kPatience));
    return std::nullopt;
  }

  // Why the capture is empty, if it is.
  static std::string without_tensors(const std::string& path) {
    const Result<Capture> capture = Capture::open(path);
    if (!capture || !capture->steps().empty() || capture->info().dropped.empty()) return "";
    return ", which holds no tensors: " + harmless(capture->info().dropped.front().reason);
  }

  std::string run_;
};

}  // namespace

std::unique_ptr<Subcommand> make_trigger_command() { return std::make_unique<Trigger>(); }

}  // namespace sonde::cli
