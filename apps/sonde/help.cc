#include "help.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "terminal.h"

namespace sonde::cli {
namespace {

constexpr std::size_t kWidth = 80;

using Row = std::pair<std::string, std::string>;

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!out.empty()) out += '\n' + std::string(indent, ' ');
    column = indent;
    std::istringstream words(line);
    bool first = true;
    for (std::string word; words >> word; first = false) {
      if (!first && column + 1 + word.size() > kWidth) {
        out += '\n' + std::string(indent, ' ');
        column = indent;
      } else if (!first) {
        out += ' ';
        ++column;
      }
      out += word;
      column += word.size();
    }
  }
  return out;
}

// Two columns below a heading. The left one is as wide as its widest entry; entries that are too wide get their own
// line.
std::string table(std::string_view heading, const std::vector<Row>& rows, bool color) {
  constexpr std::size_t kWidest = 32;
  if (rows.empty()) return "";
  std::size_t left = 0;
  for (const Row& row : rows) {
    if (row.first.size() <= kWidest) left = std::max(left, row.first.size());
  }
  const std::size_t indent = 2 + left + 2;
  std::string out;
  out.append("\n").append(styled(heading, Style::bold, color)).append("\n");
  for (const auto& [name, text] : rows) {
    out += "  " + styled(name, Style::cyan, color);
    if (name.size() > left) out += '\n';
    out.append(name.size() > left ? indent : left + 2 - name.size(), ' ');
    out += wrapped(text, indent) + "\n";
  }
  return out;
}

std::string option_text(const Flags::Flag& flag) {
  std::string text = flag.name;
  const std::size_t comma = text.find(',');
  text = comma == std::string::npos ? "    " + text : text.insert(comma + 1, 1, ' ');
  return flag.value.empty() ? text : text + " " + flag.value;
}

// A command line split into as many lines as needed, which a shell reads as one.
std::string shell_lines(std::string_view line) {
  constexpr std::size_t kRoom = kWidth - 4;  // the indent, and a backslash
  std::string out;
  while (line.size() > kRoom) {
    const std::size_t blank = line.rfind(' ', kRoom);
    if (blank == std::string_view::npos) break;
    out.append(line.substr(0, blank)).append(" \\\n    ");
    line.remove_prefix(blank + 1);
  }
  return out.append(line);
}

bool has(const Commands& commands, std::string_view name) {
  return std::ranges::any_of(commands, [&](const auto& command) { return command->about().name == name; });
}

}  // namespace

std::string general_help(const Commands& commands, bool color) {
  std::string out = "Sonde records, prints and shows what happens inside a neural network.\n\n";
  out += styled("Usage", Style::bold, color) + "\n";
  out +=
      "  sonde COMMAND [options]\n  sonde LOGDIR              show the runs of a log directory in the browser\n"
      "  sonde FILE                show a tensor file: npy, npz, safetensors, png, wav\n";
  std::vector<Row> rows;
  for (const auto& command : commands) rows.emplace_back(command->about().name, command->about().summary);
  rows.emplace_back("help", "explain a command: sonde help show");
  out += table("Commands", rows, color);
  out += table("Options", {{"-h, --help", "this text"}, {"    --version", "the version of Sonde"}}, color);
  out +=
      table("Environment",
            {{"SONDE_CACHE_SIZE",
              "maximum size of the cache, such as 500MB; 0B: no cache (2GiB). Sonde caches what it has read of logs in "
              "$XDG_CACHE_HOME/sonde or ~/.cache/sonde, so that it reads only new data the next time; it removes the "
              "least recently used entries first, and you can delete all of it at any time"},
             {"NO_COLOR", "if set, nothing is printed in colour"}},
            color);
  rows.clear();
  if (has(commands, "demo")) rows.emplace_back("sonde demo", "train and record a network, in seconds");
  rows.emplace_back("sonde tail logs", "follow the numbers of a training");
  rows.emplace_back("sonde export logs > scalars.csv", "every scalar, for other programs");
  rows.emplace_back("sonde weights.safetensors", "every tensor in one line");
  rows.emplace_back("sonde show acts.npy --png a.png", "a picture of the values");
  out += table("Examples", rows, color);
  return out;
}

std::string command_help(Subcommand& command, bool color) {
  const Subcommand::About& about = command.about();
  Flags flags;
  command.setup(flags);
  std::string out = "sonde " + std::string(about.name) + ": " + std::string(about.summary) + "\n\n";
  out += styled("Usage", Style::bold, color) + "\n  sonde " + std::string(about.usage) + "\n";
  if (!about.details.empty()) out.append("\n").append(wrapped(about.details, 0)).append("\n");
  std::vector<Row> rows;
  for (const Flags::Flag& flag : flags.all_arguments()) rows.emplace_back(flag.name, flag.help);
  out += table("Arguments", rows, color);
  rows.clear();
  for (const Flags::Flag& flag : flags.all_options()) rows.emplace_back(option_text(flag), flag.help);
  rows.emplace_back("-h, --help", "this text");
  out += table("Options", rows, color);
  if (about.examples.empty()) return out;
  out.append("\n").append(styled("Examples", Style::bold, color)).append("\n");
  for (std::string_view example : about.examples) out += "  " + shell_lines(example) + "\n";
  return out;
}

}  // namespace sonde::cli
