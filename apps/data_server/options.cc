#include "options.h"

#include <array>
#include <charconv>
#include <functional>
#include <string_view>

namespace sonde::data_server {

const char* const kUsage =
    "usage: sonde-data-server --logdir=DIR [options]\n"
    "\n"
    "Serves a log directory to TensorBoard, which starts it by itself:\n"
    "  TENSORBOARD_DATA_SERVER_BINARY=$(sonde data-server-path) tensorboard --load_fast=true --logdir DIR\n"
    "\n"
    "  --logdir=DIR               the log directory; it may appear later\n"
    "  --reload=SECONDS|once      follow the log while it grows (default), or read it once\n"
    "  --samples-per-plugin=P=N,...  accepted for TensorBoard's sake: nothing is dropped when a log is read;\n"
    "                             where N is 'all', requests for 0 points of plugin P get all\n"
    "  --host=ADDRESS             where to listen (127.0.0.1)\n"
    "  --port=N                   0 for any free one (0)\n"
    "  --port-file=FILE           write the port there once calls are answered\n"
    "  --error-file=FILE          write there why it could not start\n"
    "  --die-after-stdin          end when standard input ends\n"
    "  --verbose                  say on standard error what happens\n"
    "  --version, --help\n";

namespace {

Status wrong(std::string_view option, std::string_view value, std::string_view wanted) {
  return {Code::invalid_argument,
          std::string(option) + " is '" + std::string(value) + "', but must be " + std::string(wanted)};
}

bool is_number(std::string_view text, int& number) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc{} && end.ptr == text.data() + text.size() && number >= 0;
}

Status set_reload(std::string_view value, Options& options) {
  int seconds = 0;
  options.follow = value != "once";
  if (options.follow && !is_number(value, seconds)) return wrong("--reload", value, "a number of seconds or 'once'");
  return {};
}

Status set_samples(std::string_view value, Options& options) {
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const std::string_view plugin = pair.substr(0, equals);
    const std::string_view count = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    int number = 0;
    if (plugin.empty() || (count != "all" && !is_number(count, number))) {
      return wrong("--samples-per-plugin", value, "a list like 'scalars=500,images=all'");
    }
    if (count == "all") options.unlimited.emplace(plugin);
  }
  return {};
}

Status set_port(std::string_view value, Options& options) {
  if (!is_number(value, options.port) || options.port > 65535) return wrong("--port", value, "a number up to 65535");
  return {};
}

struct Flag {
  std::string_view name;
  bool takes_value;
  std::function<Status(std::string_view, Options&)> set;
};

Flag text(std::string_view name, std::string Options::* member) {
  return {name, true, [member](std::string_view value, Options& options) {
            options.*member = value;
            return Status();
          }};
}
Flag toggle(std::string_view name, bool Options::* member) {
  return {name, false, [member](std::string_view, Options& options) {
            options.*member = true;
            return Status();
          }};
}

const std::vector<Flag>& all_flags() {
  static const std::vector<Flag> flags = {
      text("--logdir", &Options::logdir),
      text("--host", &Options::host),
      text("--port-file", &Options::port_file),
      text("--error-file", &Options::error_file),
      {"--reload", true, set_reload},
      {"--samples-per-plugin", true, set_samples},
      {"--port", true, set_port},
      toggle("--die-after-stdin", &Options::die_after_stdin),
      toggle("--help", &Options::help),
      toggle("--version", &Options::version),
      {"--verbose", false,
       [](std::string_view, Options& options) {
         ++options.verbosity;
         return Status();
       }},
  };
  return flags;
}

Status parse_one(const std::vector<std::string>& arguments, std::size_t& at, Options& options) {
  const std::string_view argument = arguments[at++];
  const std::size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  for (const Flag& flag : all_flags()) {
    if (flag.name != name) continue;
    if (!flag.takes_value) {
      if (equals == std::string_view::npos) return flag.set("", options);
      return {Code::invalid_argument, "the option '" + std::string(name) + "' takes no value"};
    }
    if (equals != std::string_view::npos) return flag.set(argument.substr(equals + 1), options);
    if (at < arguments.size()) return flag.set(arguments[at++], options);
    return {Code::invalid_argument, "the option '" + std::string(name) + "' needs a value"};
  }
  return {Code::invalid_argument, "there is no option '" + std::string(name) + "'; see 'sonde-data-server --help'"};
}

}  // namespace

Status parse(const std::vector<std::string>& arguments, Options& options) {
  Status first;
  for (std::size_t at = 0; at < arguments.size();) {
    Status status = parse_one(arguments, at, options);
    if (first.ok()) first = std::move(status);
  }
  if (!first.ok() || options.help || options.version) return first;
  if (options.logdir.empty()) return {Code::invalid_argument, "--logdir is missing: name the log directory"};
  return {};
}

}  // namespace sonde::data_server
