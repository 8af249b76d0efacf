// The command `sonde`.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/suggest.h"
#include "help.h"
#include "inspect/describe.h"
#include "interrupt.h"
#include "output.h"
#include "parse.h"
#include "subcommand.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

Commands all_commands() {
  Commands commands;
  commands.push_back(make_demo_command());
  commands.push_back(make_serve_command());
  commands.push_back(make_run_command());
  commands.push_back(make_ls_command());
  commands.push_back(make_tail_command());
  commands.push_back(make_export_command());
  commands.push_back(make_check_command());
  commands.push_back(make_show_command());
  commands.push_back(make_inspect_command());
  commands.push_back(make_diff_command());
  commands.push_back(make_embed_command());
  commands.push_back(make_arm_command());
  commands.push_back(make_trigger_command());
  commands.push_back(make_policy_command());
  commands.push_back(make_captures_command());
  commands.push_back(make_recover_command());
  commands.push_back(make_checkpoints_command());
  commands.push_back(make_data_server_path_command());
  commands.push_back(make_doctor_command());
  return commands;
}

Subcommand* find(const Commands& commands, const std::string& name) {
  for (const auto& command : commands) {
    if (command->about().name == name) return command.get();
  }
  return nullptr;
}

// The error for a word that is neither a command nor something that can be shown.
int unknown(const Commands& commands, const std::string& word) {
  if (word.starts_with('-')) {
    const std::vector<std::string> options = {"--help", "--version"};
    return fail("there is no option '" + word + "'" + base::did_you_mean(word, options));
  }
  if (word.find_first_of("/.") != std::string::npos) return fail("there is no file '" + word + "'");
  std::vector<std::string> names = {"help"};
  for (const auto& command : commands) names.emplace_back(command->about().name);
  const std::string hint = base::did_you_mean(word, names);
  return fail("'" + word + "' is neither a command nor a file" + (hint.empty() ? "; see 'sonde --help'" : hint));
}

int run_command(Subcommand& command, const std::vector<std::string>& arguments) {
  if (const std::optional<int> code = command.pass_on(arguments)) return *code;
  if (asks_for_help(arguments)) {
    print(command_help(command, colored(stdout)));
    return kSuccess;
  }
  Flags flags;
  command.setup(flags);
  if (Status status = parse(flags, arguments); !status) {
    const std::string& message = status.message();
    return fail(message +
                (message.ends_with('?') ? "" : "; see 'sonde help " + std::string(command.about().name) + "'"));
  }
  return command.run();
}

int help(const Commands& commands, const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print(general_help(commands, colored(stdout)));
    return kSuccess;
  }
  Subcommand* command = find(commands, arguments.front());
  if (command == nullptr) return unknown(commands, arguments.front());
  print(command_help(*command, colored(stdout)));
  return kSuccess;
}

int run(std::vector<std::string> arguments) {
  const Commands commands = all_commands();
  if (arguments.empty()) return help(commands, {});
  const std::string first = arguments.front();
  if (first == "-h" || first == "--help") return help(commands, {});
  if (first == "--version") {
    print("sonde " SONDE_VERSION "\n");
    return kSuccess;
  }
  if (Subcommand* command = find(commands, first)) {
    arguments.erase(arguments.begin());
    return run_command(*command, arguments);
  }
  if (first == "help") {
    arguments.erase(arguments.begin());
    return help(commands, arguments);
  }
  std::error_code error;
  if (!std::filesystem::exists(first, error)) return unknown(commands, first);
  if (inspect::is_model(first)) {  // a folder can be one, too
    arguments.emplace_back("--list");
    return run_command(*find(commands, "inspect"), arguments);
  }
  const bool directory = std::filesystem::is_directory(first, error);
  return run_command(*find(commands, directory ? "serve" : "show"), arguments);
}

}  // namespace
}  // namespace sonde::cli

int main(int argc, char** argv) {
  int code = sonde::cli::kError;
  try {
    code = sonde::cli::run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    return sonde::cli::fail("out of memory");
  }
  sonde::cli::end_if_interrupted();
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed || std::ferror(stdout) != 0) {
    if (errno == EPIPE) return code;  // the reader of the pipe has closed it
    // The reason of an earlier failed write is no longer known.
    return sonde::cli::fail(sonde::cli::standard_output_error(flushed ? 0 : errno));
  }
  return code;
}
