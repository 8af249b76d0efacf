// sonde demo: trains the network of examples/digits, recorded, prints the result, and serves the log.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "digits/train.h"
#include "render/console.h"
#include "serve.h"
#include "sonde/capture.h"
#include "sonde/tensor_io.h"
#include "stats/summary.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

constexpr std::string_view kWhatToLookAt =
    R"(        Scalars      loss, accuracy: train and test in one chart
        Histograms   activation/, gradient/, weight/, update/ of every layer
        Images       features/: what each layer makes of a digit, and the kernels
                     errors/: misread digits, and which are taken for which
        Graphs       the network
        also Text, PR curves, HParams and Custom scalars
)";

std::string default_directory() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[64];
  std::strftime(text, sizeof text, "logs/demo-%Y%m%d-%H%M%S", &local);
  return text;
}

// The directory for a new run: `wanted`, or the next free `wanted/run-N` if that holds a run. Creating "train" reserves
// it, also against another demo that starts at the same moment. If nothing can be created, the recorder says why.
std::string take_directory(const std::string& wanted) {
  std::error_code error;
  for (int n = 1;; ++n) {
    const fs::path path = n == 1 ? fs::path(wanted) : fs::path(wanted) / ("run-" + std::to_string(n));
    fs::create_directories(path, error);
    if (fs::exists(path / "test", error)) continue;
    if (fs::create_directory(path / "train", error) || error) return path.string();
  }
}

struct FaultText {
  std::string_view name;
  digits::Fault fault;
  std::string_view planted;  // "At step 500 ..."
};
constexpr std::array kFaults = {
    FaultText{"nan", digits::Fault::nan,
              "an empty picture comes up. A layer divides by the brightest pixel, which is 0."},
    FaultText{"explode", digits::Fault::explode, "the last layer begins to learn twice as fast with every step."},
    FaultText{"dead", digits::Fault::dead,
              "the optimiser subtracts 50 from every bias of dense_1. No ReLU is active after that."},
};
constexpr std::int64_t kFewestStepsOfFault = 100;  // the fault starts halfway, when the network has learned something

// Progress: in place on a terminal, otherwise one line per second.
class ProgressLine {
 public:
  explicit ProgressLine(std::int64_t steps) : steps_(steps), in_place_(isatty(STDOUT_FILENO) == 1) {}

  void show(const digits::Progress& progress) {
    const Clock::time_point now = Clock::now();
    if (!progress.last && now < next_) return;
    next_ = now + (in_place_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000));
    if (in_place_) print(bar(progress));
    const double loss = progress.train.loss;
    print(format("step %*lld of %lld   loss %7s   test accuracy %5.1f %%", width(), as_long(progress.done),
                 as_long(steps_), (std::abs(loss) < 100 ? format("%.4f", loss) : number_text(loss)).c_str(),
                 100 * progress.test.accuracy));
    if (!in_place_ || progress.last) print("\n");
    std::fflush(stdout);
  }

 private:
  static long long as_long(std::int64_t value) { return value; }
  int width() const { return static_cast<int>(std::to_string(steps_).size()); }
  std::string bar(const digits::Progress& progress) const {
    constexpr std::int64_t kCells = 16;
    const char* full = shows_unicode(stdout) ? "━" : "#";
    const char* empty = shows_unicode(stdout) ? "╌" : ".";
    std::string cells("\r");
    for (std::int64_t i = 0; i < kCells; ++i) cells += i * steps_ < progress.done * kCells ? full : empty;
    return styled(cells, Style::cyan, colored(stdout)).append("  ");
  }

  std::int64_t steps_;
  bool in_place_;
  Clock::time_point next_{};
};

// ---- The outcome of a fault.

// The tensor for which a rule became true, and why, from the values of its condition:
// any('gradient/dense_1/kernel', ...) = 1, absmax('gradient/dense_1/kernel') = 4.96
struct Culprit {
  std::string key;
  std::string facts;  // "absmax 4.96, rms 0.952"
};
Culprit culprit_of(const CaptureInfo& info) {
  Culprit culprit;
  for (const auto& [part, value] : info.values) {
    const std::size_t open = part.find("('");
    const std::size_t close = part.find('\'', open == std::string::npos ? open : open + 2);
    if (open == std::string::npos || close == std::string::npos) continue;
    if (part.starts_with("any(")) {
      culprit.key = part.substr(open + 2, close - open - 2);
    } else if (!culprit.key.empty()) {
      culprit.facts += (culprit.facts.empty() ? "" : ", ") + part.substr(0, open) + " " + number_text(value);
    }
  }
  return culprit;
}

// One line for every step of the capture: what one tensor looked like.
std::string history_of(const Capture& capture, const std::string& key) {
  const auto glyphs = shows_unicode(stdout) ? render::Glyphs::blocks : render::Glyphs::ascii;
  std::size_t width = 0;
  for (const CapturedStep& step : capture.steps()) width = std::max(width, std::to_string(step.step).size());
  std::string lines;
  for (const CapturedStep& step : capture.steps()) {
    const auto file = capture.step_file(step);
    if (!file) continue;
    const auto view = file->view(key);
    if (!view) continue;
    stats::Histogram histogram;
    const auto summary = stats::summarize(*view, histogram);
    if (!summary) continue;
    const std::string nonfinite = render::nonfinite_text(*summary);
    lines += "step " + padded_left(std::to_string(step.step), width) + "  " +
             render::range_text(*summary, histogram, glyphs, 9) + (nonfinite.empty() ? "" : "  " + nonfinite) + "\n";
  }
  return lines;
}

// A heading, with lines next to it.
void print_field(std::string_view heading, const std::string& text) {
  constexpr std::size_t kWidth = 9;
  std::string left = styled(padded(std::string(heading), kWidth), Style::bold, colored(stdout));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); left.assign(kWidth, ' ')) print(left + line + "\n");
}

void print_capture(const Capture& capture) {
  const CaptureInfo& info = capture.info();
  const Origin origin = find_origin(info);
  const Culprit culprit = culprit_of(info);
  const bool color = colored(stdout);
  const std::string key = origin.found && !origin.producers.empty() ? origin.producers.front().key : culprit.key;
  print_field("Caught", "by the rule " + styled(info.reason, Style::yellow, color) + " at the end of step " +
                            std::to_string(info.step));
  if (origin.found) {
    const std::string text = origin.text();
    print_field("Origin", styled(harmless(text.substr(0, text.find('\n'))), Style::red, color));
  } else if (!culprit.key.empty()) {
    print_field("Where", styled(harmless(culprit.key) + ": " + culprit.facts, Style::red, color));
  }
  if (key.empty()) return;
  print_field("Before", harmless(key) + " in the steps up to it\n" + history_of(capture, key));
}

class Demo final : public Subcommand {
 public:
  Demo()
      : Subcommand({.name = "demo",
                    .usage = "demo [options]",
                    .summary = "train and record a small network, and show it in the browser",
                    .details = "Trains a convolutional network on 1,797 handwritten digits, which takes a few seconds, "
                               "and records what happens inside it; then serves the page on that log, as 'sonde serve' "
                               "does. It needs only this program.\n"
                               "With --fault something goes wrong halfway: a NaN, gradients that explode, or a layer "
                               "that dies. A trigger catches it and saves the step with the five before it, and the "
                               "demo says which tensor caused it.\n"
                               "The demo never overwrites a run: if the directory already holds one, the new one "
                               "goes into run-2, run-3 and so on below it.",
                    .examples = {"sonde demo", "sonde demo --fault nan",
                                 "sonde demo --dir logs/digits --steps 3000 --seed 7"}}) {}

  void setup(Flags& flags) override {
    flags.path_option(directory_, "--dir", "D", "where the log goes (logs/demo-<time>)");
    flags.option(steps_, "--steps", "N", "how long to train (1000)");
    flags.option(seed_, "--seed", "S", "another seed, another network (1)");
    flags.choice(fault_, "--fault", {"nan", "explode", "dead"}, "break the training halfway, and catch it");
    flags.toggle(no_serve_, "--no-serve", "stop after the training");
  }

  int run() override {
    if (steps_ < 1) return fail("--steps is " + std::to_string(steps_) + ", but must be at least 1");
    if (seed_ < 0) return fail("--seed is " + std::to_string(seed_) + ", but must not be negative");
    const auto* const fault = std::ranges::find(kFaults, fault_, &FaultText::name);
    if (fault != kFaults.end() && steps_ < kFewestStepsOfFault) {
      return fail("--steps is " + std::to_string(steps_) + ", but must be at least " +
                  std::to_string(kFewestStepsOfFault) + " with --fault, which starts halfway");
    }
    const std::string wanted = directory_.empty() ? default_directory() : directory_;
    const std::string directory = take_directory(wanted);
    if (directory != wanted)
      print(harmless(wanted + " already holds a run; this one goes into " + directory + ".") + "\n");

    ProgressLine line(steps_);
    const auto outcome = digits::train({.directory = directory,
                                        .steps = steps_,
                                        .seed = static_cast<std::uint64_t>(seed_),
                                        .fault = fault == kFaults.end() ? digits::Fault::none : fault->fault,
                                        .on_progress = [&](const auto& progress) { line.show(progress); }});
    if (!outcome) return fail(outcome.error());
    int code = kSuccess;
    if (fault == kFaults.end()) {
      print_summary(directory, *outcome);
    } else {
      code = print_fault(directory, *outcome, fault->planted);
    }
    if (!outcome->recorded.ok()) return fail(outcome->recorded);
    if (code != kSuccess || no_serve_) return code;
    print("\n");
    return serve({.directories = {directory}});
  }

 private:
  static void print_summary(const std::string& directory, const digits::Outcome& outcome) {
    const bool color = colored(stdout);
    const auto heading = [&](std::string_view text) { return styled(text, Style::bold, color); };
    const auto share = [&](double seconds) { return 100 * seconds / outcome.seconds; };
    print(format("\nThe network reads %s of the digits that were not in its training set.\n\n",
                 styled(format("%.1f %%", 100 * outcome.test.accuracy), Style::green, color).c_str()));
    print(heading("Log   ") + harmless(directory) +
          format("   %.1f MB, runs train and test\n", 1e-6 * static_cast<double>(outcome.bytes_written)));
    print(heading("Time  ") +
          format("%.1f s; recording took %.1f %% of it (%.0f ms in calls), its own thread %.1f %% of a core\n",
                 outcome.seconds, share(outcome.recording_seconds), 1e3 * outcome.recording_seconds,
                 share(outcome.backend_seconds)));
    if (outcome.dropped > 0) {
      print(heading("Gaps  ") + format("%llu records are missing\n", static_cast<unsigned long long>(outcome.dropped)));
    }
    print(heading("View  ") + "sonde serve " + harmless(directory) + ", or tensorboard --logdir " +
          harmless(directory) + "\n");
    print(kWhatToLookAt);
    if (const auto captures = list_captures(outcome.train_directory); captures && !captures->empty()) {
      print(heading("Caught") + " " + counted(captures->size(), "capture") + ": sonde captures " + harmless(directory) +
            "\n");
    } else {
      print(heading("Try   ") + "sonde demo --fault nan, which breaks the training and catches it\n");
    }
  }

  static int print_fault(const std::string& directory, const digits::Outcome& outcome, std::string_view planted) {
    print(format("\nThe network read %.1f %% of the digits that were not in its training set, until step %lld.\n\n",
                 100 * outcome.test.accuracy, static_cast<long long>(outcome.fault_step)));
    print_field("Planted", "At step " + std::to_string(outcome.fault_step) + " " + std::string(planted));
    const auto captures = list_captures(outcome.train_directory);
    if (!captures) return fail(captures.error());
    if (captures->empty()) return fail("no trigger fired, so there is no capture of the fault in '" + directory + "'");
    std::string look = "sonde captures " + harmless(directory) + "\n";
    for (const std::string& path : *captures) {
      const auto capture = Capture::open(path);
      if (!capture) return fail(capture.error());
      print_capture(*capture);
      const std::vector<CapturedStep>& steps = capture->steps();
      if (steps.empty()) continue;
      print_field("Saved", "steps " + std::to_string(steps.front().step) + " to " + std::to_string(steps.back().step) +
                               ", " + counted(steps.back().tensors.size(), "tensor") + " each, in " + harmless(path));
      look += "sonde show " + harmless(path + "/" + steps.back().file) + "\n";
    }
    print_field("View", look + "tensorboard --logdir " + harmless(directory) + "\n");
    return kSuccess;
  }

  std::string directory_;
  std::int64_t steps_ = 1000;
  std::int64_t seed_ = 1;
  std::string fault_;
  bool no_serve_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_demo_command() { return std::make_unique<Demo>(); }

}  // namespace sonde::cli
