// sonde demo: trains the network of examples/digits, recorded, and says where to look.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "digits/train.h"
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

// The directory for a run of its own: `wanted`, or the next free `wanted/run-N` where that holds a run. Making "train"
// takes it, also from another demo that starts at the same moment. Where nothing can be made, the recorder says why.
std::string take_directory(const std::string& wanted) {
  std::error_code error;
  for (int n = 1;; ++n) {
    const fs::path path = n == 1 ? fs::path(wanted) : fs::path(wanted) / ("run-" + std::to_string(n));
    fs::create_directories(path, error);
    if (fs::exists(path / "test", error)) continue;
    if (fs::create_directory(path / "train", error) || error) return path.string();
  }
}

// How far it is: in place on a terminal, a line a second elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::int64_t steps) : steps_(steps), in_place_(isatty(STDOUT_FILENO) == 1) {}

  void show(const digits::Progress& progress) {
    const bool last = progress.done == steps_;
    const Clock::time_point now = Clock::now();
    if (!last && now < next_) return;
    next_ = now + (in_place_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(1000));
    if (in_place_) print(bar(progress));
    print(format("step %*lld of %lld   loss %7.4f   test accuracy %5.1f %%", width(), as_long(progress.done),
                 as_long(steps_), progress.train.loss, 100 * progress.test.accuracy));
    if (!in_place_ || last) print("\n");
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

class Demo final : public Subcommand {
 public:
  Demo()
      : Subcommand({.name = "demo",
                    .usage = "demo [options]",
                    .summary = "train a small network, recorded, and say what to look at",
                    .details = "Trains a convolutional network on 1,797 handwritten digits, which takes a few seconds, "
                               "and records what happens inside it. Needs nothing but this program.\n"
                               "Another run is never overwritten: where the directory holds one already, the new one "
                               "goes into run-2, run-3 and so on below it.",
                    .examples = {"sonde demo", "sonde demo --dir logs/digits --steps 3000 --seed 7"}}) {}

  void setup(Flags& flags) override {
    flags.path_option(directory_, "--dir", "D", "where the log goes (logs/demo-<time>)");
    flags.option(steps_, "--steps", "N", "how long to train (1000)");
    flags.option(seed_, "--seed", "S", "another seed, another network (1)");
    flags.toggle(no_serve_, "--no-serve", "end after the training");
  }

  int run() override {
    if (steps_ < 1) return fail("--steps is " + std::to_string(steps_) + ", but must be at least 1");
    if (seed_ < 0) return fail("--seed is " + std::to_string(seed_) + ", but must not be negative");
    const std::string wanted = directory_.empty() ? default_directory() : directory_;
    const std::string directory = take_directory(wanted);
    if (directory != wanted)
      print(harmless(wanted + " holds a run already; this one goes into " + directory + ".") + "\n");

    ProgressLine line(steps_);
    const auto outcome = digits::train({.directory = directory,
                                        .steps = steps_,
                                        .seed = static_cast<std::uint64_t>(seed_),
                                        .on_progress = [&](const auto& progress) { line.show(progress); }});
    if (!outcome) return fail(outcome.error());
    print_summary(directory, *outcome);
    return outcome->recorded.ok() ? kSuccess : fail(outcome->recorded);
  }

 private:
  static void print_summary(const std::string& directory, const digits::Outcome& outcome) {
    const bool color = colored(stdout);
    const auto heading = [&](std::string_view text) { return styled(text, Style::bold, color); };
    const auto share = [&](double seconds) { return 100 * seconds / outcome.seconds; };
    print(format("\nThe network reads %s of the digits that it was never shown.\n\n",
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
    print(heading("Look  ") + "tensorboard --logdir " + harmless(directory) + "\n");
    print(kWhatToLookAt);
  }

  std::string directory_;
  std::int64_t steps_ = 1000;
  std::int64_t seed_ = 1;
  bool no_serve_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_demo_command() { return std::make_unique<Demo>(); }

}  // namespace sonde::cli
