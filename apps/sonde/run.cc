// sonde run: a Python script, watched without a changed line. The Python package does it; this starts the interpreter.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "run_options.h"
#include "subcommand.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

// Says which package is missing in which interpreter; everything else is up to the package.
constexpr const char* kProgram = R"(import sys
try:
    from sonde._run import main
except ImportError as error:
    sys.exit(f"sonde: {sys.executable} has no Python package sonde ({error}): install it there with 'make install-python "
             f"PYTHON={sys.executable}', or name another interpreter in SONDE_PYTHON")
sys.exit(main(sys.argv[1:])))";

class Run final : public Subcommand {
 public:
  Run()
      : Subcommand({.name = "run",
                    .usage = "run [options] SCRIPT.py [ARGUMENT...]",
                    .summary = "run a Python script and watch its models, without editing it",
                    .details =
                        "Watches every torch module that the script calls and every Keras model that it trains, and "
                        "replaces the writers of torch.utils.tensorboard, tensorboardX and tf.summary. The script's "
                        "output and exit code are its own; messages of sonde go to standard error. The interpreter is "
                        "SONDE_PYTHON, or python3; it needs the Python package sonde.",
                    .examples = {"sonde run train.py --epochs 3", "sonde run --watch 'encoder.*' --every 100 train.py",
                                 "sonde run --serve --log logs/first train.py"}}) {}

  // Read by the package, and here by the help only. Both have them from python/sonde/run_options.txt, whose lines are
  // `--name VALUE<tab>help`, without a value for a switch.
  void setup(Flags& flags) override {
    flags.arguments(script_, "SCRIPT.py", "the script and its arguments");
    std::istringstream lines(kRunOptions);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t tab = line.find('\t');
      const std::size_t space = std::min(line.find(' '), tab);
      const std::string name = line.substr(0, space);
      const std::string help = line.substr(tab + 1);
      if (space == tab) {
        flags.toggle(flag_, name, help);
      } else {
        flags.option(text_, name, line.substr(space + 1, tab - space - 1), help);
      }
    }
  }

  std::optional<int> pass_on(const std::vector<std::string>& arguments) override {
    if (!arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help")) return {};
    const char* chosen = std::getenv("SONDE_PYTHON");
    std::string interpreter = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
    std::vector<std::string> words = {interpreter, "-c", kProgram};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execvp(interpreter.c_str(), pointers.data());
    return fail("cannot start '" + interpreter + "': " + std::generic_category().message(errno) +
                "; name a Python interpreter in SONDE_PYTHON");
  }

  int run() override { return fail("nothing to run"); }  // pass_on has run it

 private:
  std::vector<std::string> script_;
  std::string text_;
  bool flag_ = false;
};

}  // namespace

std::unique_ptr<Subcommand> make_run_command() { return std::make_unique<Run>(); }

}  // namespace sonde::cli
