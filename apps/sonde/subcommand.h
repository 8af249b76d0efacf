// One subcommand: its name, a summary, its flags, and what it does. Each is in its own file; main.cc lists
// them all.
//
//   class Hello final : public Subcommand {
//    public:
//     Hello() : Subcommand({.name = "hello", .usage = "hello NAME [options]", .summary = "greet somebody"}) {}
//     void setup(Flags& flags) override {
//       flags.argument(name_, "NAME", "the person to greet");
//       flags.option(times_, "--times", "N", "how often (1)");
//     }
//     int run() override { ... return 0; }
//    private:
//     std::string name_;
//     std::int64_t times_ = 1;
//   };
//   std::unique_ptr<Subcommand> make_hello_command() { return std::make_unique<Hello>(); }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sonde::cli {

// Exit codes of every command. `1` is left to commands with a verdict (damage found, tensors differ).
inline constexpr int kSuccess = 0;
inline constexpr int kError = 2;

// The arguments and options of one command, bound to variables that are written when the command line is parsed; a
// variable keeps its value if the option is not given. Does not know the parser, which only parse.cc includes.
class Flags {
 public:
  using Target = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*>;
  struct Flag {
    std::string name;   // "--steps"; an argument's "FILE"
    std::string value;  // placeholder: "N"; empty for switches and arguments
    std::string help;   // a few words, with the default if there is one
    Target target;
    std::vector<std::string> choices = {};  // empty: any value
    bool required = false;                  // arguments only
    bool path = false;                      // the path of a file or folder, which cannot be empty
  };

  // Arguments are parsed in the order of these calls; `arguments` takes all remaining ones, at least one.
  void argument(std::string& target, std::string name, std::string help) {
    arguments_.push_back({std::move(name), "", std::move(help), &target, {}, true});
  }
  void optional_argument(std::string& target, std::string name, std::string help) {
    arguments_.push_back({std::move(name), "", std::move(help), &target});
  }
  void arguments(std::vector<std::string>& target, std::string name, std::string help) {
    arguments_.push_back({std::move(name), "", std::move(help), &target, {}, true});
  }
  void optional_arguments(std::vector<std::string>& target, std::string name, std::string help) {
    arguments_.push_back({std::move(name), "", std::move(help), &target});
  }

  // `--name VALUE`, or `-x,--name VALUE` if the name gives both.
  template <class T>
  void option(T& target, std::string name, std::string value, std::string help) {
    options_.push_back({std::move(name), std::move(value), std::move(help), &target});
  }
  void path_option(std::string& target, std::string name, std::string value, std::string help) {
    options_.push_back({std::move(name), std::move(value), std::move(help), &target, {}, false, true});
  }
  // The help shows `value`, or the choices themselves.
  void choice(std::string& target, std::string name, std::vector<std::string> choices, std::string help,
              std::string value = {}) {
    const bool named = !value.empty();
    for (const std::string& one : choices) {
      if (!named) value += (value.empty() ? "" : "|") + one;
    }
    options_.push_back({std::move(name), std::move(value), std::move(help), &target, std::move(choices)});
  }
  // `--name`, which sets the target to true.
  void toggle(bool& target, std::string name, std::string help) {
    options_.push_back({std::move(name), "", std::move(help), &target});
  }

  const std::vector<Flag>& all_arguments() const noexcept { return arguments_; }
  const std::vector<Flag>& all_options() const noexcept { return options_; }

 private:
  std::vector<Flag> arguments_;
  std::vector<Flag> options_;
};

class Subcommand {
 public:
  struct About {
    std::string_view name;                        // "show"
    std::string_view usage;                       // "show FILE [options]"
    std::string_view summary;                     // one line, in the list of commands
    std::string_view details = {};                // a paragraph or two, in `sonde help show`
    std::vector<std::string_view> examples = {};  // command lines
  };

  explicit Subcommand(About about) : about_(std::move(about)) {}
  virtual ~Subcommand() = default;
  Subcommand(const Subcommand&) = delete;
  Subcommand& operator=(const Subcommand&) = delete;

  const About& about() const noexcept { return about_; }

  // Called once, before parsing.
  virtual void setup(Flags& flags) = 0;
  // For a command that leaves its arguments to another program: gets them as they are, and returns the exit code.
  // Nothing: they are parsed.
  virtual std::optional<int> pass_on(const std::vector<std::string>& /*arguments*/) { return {}; }
  // Called after parsing. Returns the exit code: kSuccess, or the result of fail() (terminal.h).
  virtual int run() = 0;

 private:
  About about_;
};

std::unique_ptr<Subcommand> make_arm_command();       // arm.cc
std::unique_ptr<Subcommand> make_captures_command();  // captures.cc
std::unique_ptr<Subcommand> make_check_command();     // check.cc
std::unique_ptr<Subcommand> make_demo_command();      // demo.cc
std::unique_ptr<Subcommand> make_diff_command();      // diff.cc
std::unique_ptr<Subcommand> make_embed_command();     // embed.cc
std::unique_ptr<Subcommand> make_doctor_command();    // doctor.cc
std::unique_ptr<Subcommand> make_export_command();    // export.cc
std::unique_ptr<Subcommand> make_inspect_command();   // inspect.cc
std::unique_ptr<Subcommand> make_ls_command();        // ls.cc
std::unique_ptr<Subcommand> make_policy_command();    // policy.cc
std::unique_ptr<Subcommand> make_recover_command();   // recover.cc
std::unique_ptr<Subcommand> make_run_command();       // run.cc
std::unique_ptr<Subcommand> make_serve_command();     // serve.cc
std::unique_ptr<Subcommand> make_show_command();      // show.cc
std::unique_ptr<Subcommand> make_tail_command();      // tail.cc
std::unique_ptr<Subcommand> make_trigger_command();   // trigger.cc

std::unique_ptr<Subcommand> make_checkpoints_command();       // checkpoints.cc
std::unique_ptr<Subcommand> make_data_server_path_command();  // data_server_path.cc

}  // namespace sonde::cli
