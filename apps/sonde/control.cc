#include "control.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/directory.h"
#include "base/file.h"
#include "base/input_file.h"
#include "formats/run_layout.h"
#include "policy/policy_values.h"
#include "text.h"

namespace sonde::cli {
namespace {

constexpr double kPatience = 2;  // seconds; the recorder checks four times per second

std::string state_path(const std::string& run) { return base::join_path(run, run_layout::kControlState); }

bool has_events(const base::Directory& directory) {
  return std::ranges::any_of(directory.entries, [](const base::DirectoryEntry& entry) {
    return entry.type == base::DirectoryEntry::Type::file && run_layout::is_event_file(entry.name);
  });
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  const std::size_t last = line.find_last_not_of(" \t\r\n");
  return first == std::string_view::npos || last < first ? "" : line.substr(first, last - first + 1);
}

bool is_control_header(std::string_view line) {
  constexpr std::string_view kHeader = "[control]";
  return line.starts_with(kHeader) && (line.size() == kHeader.size() || line[kHeader.size()] == '#' ||
                                       line[kHeader.size()] == ' ' || line[kHeader.size()] == '\t');
}

std::string_view key_of(std::string_view line) { return trimmed(line.substr(0, line.find('='))); }

std::string with_line_end(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

// The recorder's answer to the file with this checksum, if there is one: "applied 1a2b3c4d", "applied 1a2b3c4d what
// could not be done", "refused 1a2b3c4d why".
std::optional<Result<Answer>> answer_to(const std::string& run, std::string_view checksum) {
  const Result<std::string> state = base::read_file(state_path(run));
  if (!state) return std::nullopt;
  const std::string line(trimmed(*state));
  const std::string applied = "applied " + std::string(checksum);
  const std::string refused = "refused " + std::string(checksum);
  const auto rest_after = [&](const std::string& verdict) {
    return std::string(trimmed(std::string_view(line).substr(verdict.size())));
  };
  if (line.starts_with(applied)) return Answer{true, rest_after(applied)};
  if (line.starts_with(refused)) return Status(Code::invalid_argument, rest_after(refused));
  return std::nullopt;
}

std::string checksum_of(std::string_view text) {
  char checksum[16];
  std::snprintf(checksum, sizeof checksum, "%08x", base::crc32c(base::as_bytes(text)));
  return checksum;
}

Status put_back(const Control& control) {
  const std::string path = control_path(control.run);
  return control.exists ? base::write_file(path, control.text) : base::remove_file(path);
}

}  // namespace

std::string control_path(const std::string& run) { return base::join_path(run, run_layout::kControl); }

bool wait_a_little(std::uint64_t start, double seconds) noexcept {
  const timespec time = {0, 10'000'000};
  nanosleep(&time, nullptr);
  return static_cast<double>(base::monotonic_nanoseconds() - start) < seconds * 1e9;
}

Status check_run(const std::string& run) {
  const Result<base::Directory> directory = base::read_directory(run);
  if (!directory) return directory.error();
  if (has_events(*directory)) return Status::success();
  std::vector<std::string> runs;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.type != base::DirectoryEntry::Type::directory) continue;
    const Result<base::Directory> below = base::read_directory(base::join_path(run, entry.name));
    if (below && has_events(*below)) runs.push_back(base::join_path(run, entry.name));
  }
  if (runs.empty()) return Status::success();  // of a job that has not started yet
  return {Code::invalid_argument, "'" + run + "' is not a run but a directory of runs: name " +
                                      (runs.size() == 1 ? "" : "one of them, ") + listed(runs)};
}

Result<OwnText> read_own_control(const std::string& run) {
  const Result<base::InputFile> file = base::InputFile::open(control_path(run));
  if (!file) return file.error();
  const Result<bool> own = file->belongs_to_user();
  if (!own) return own.error();
  Result<std::string> text = file->read_up_to(policy::kMostBytes + 1);  // one too many: the parser reports it
  if (!text) return text.error();
  return OwnText{*std::move(text), *own};
}

Result<Control> read_control(const std::string& run) {
  if (Status status = check_run(run); !status) return status;
  Control control;
  control.run = run;
  const std::string path = control_path(run);
  if (!base::file_state(path)) return control;
  const Result<OwnText> file = read_own_control(run);
  if (!file) return file.error();
  if (!file->own) {
    return Status(Code::permission_denied,
                  "'" + path + "' belongs to another user: your recorders ignore it, and nothing is added to " +
                      "it: remove it with 'sonde policy " + run + " --clear'");
  }
  Result<policy::ControlFile> content = policy::parse_control(file->text, path);
  if (!content) {
    return Status(content.error().code(), content.error().message() +
                                              "; this is the file that exists already: fix it, or remove it with "
                                              "'sonde policy " +
                                              run + " --clear'");
  }
  control.text = file->text;
  control.exists = true;
  control.content = *std::move(content);
  return control;
}

Result<std::string> with_control_key(const std::string& text, std::string_view key, std::string_view value) {
  const std::string setting = std::string(key) + " = " + std::string(value) + "\n";
  std::string out;
  bool inside = false;
  bool done = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    const std::string_view bare = trimmed(line);
    if (bare.starts_with('[')) {
      inside = is_control_header(bare);
      out += with_line_end(line);
      if (inside) out += setting;
      done = done || inside;
    } else if (!inside || key_of(bare) != key) {
      out += line;
    }
  }
  if (!done) {
    out = with_line_end(std::move(out));
    out += (out.empty() ? "[control]\n" : "\n[control]\n") + setting;
  }
  // A person may have formatted the table differently, or have such lines inside a string.
  const auto before = policy::parse_control(text, "");
  const auto after = policy::parse_control(out, "");
  if (before && after && before->policy == after->policy && before->armed == after->armed) return out;
  return Status(Code::invalid_argument,
                "control.toml has a [control] table that this command cannot edit: give [control] a line of "
                "its own, and each of its keys one line below it");
}

std::vector<TriggerPolicy> armed_triggers(const policy::ControlFile& content) {
  std::vector<TriggerPolicy> all = content.armed;
  if (content.keep_triggers) all.insert(all.begin(), content.policy.triggers.begin(), content.policy.triggers.end());
  return all;
}

Result<std::string> without_armed(const Control& control) {
  const bool old_way = control.content.keep_triggers;  // [[trigger]] tables that earlier versions wrote
  std::string out;
  bool inside = false;
  for (std::size_t at = 0; at < control.text.size();) {
    const std::size_t end = std::min(control.text.find('\n', at), control.text.size() - 1) + 1;
    const std::string line = control.text.substr(at, end - at);
    at = end;
    const std::string_view bare = trimmed(line);
    if (bare.starts_with('[')) inside = bare.starts_with("[[armed]]") || (old_way && bare.starts_with("[[trigger]]"));
    if (!inside) out += line;
  }
  while (out.ends_with("\n\n")) out.pop_back();
  // A person may have formatted the tables differently, or have such lines inside a string.
  const auto after = policy::parse_control(out, "");
  Policy rest = control.content.policy;
  if (old_way) rest.triggers.clear();
  if (after && after->armed.empty() && after->policy == rest) return out;
  return Status(Code::invalid_argument,
                "control.toml has [[armed]] tables that cannot be edited automatically: give each [[armed]] a line of "
                "its own, or use 'sonde policy RUN --clear'");
}

std::string with_armed(std::string text, const std::vector<TriggerPolicy>& triggers) {
  for (const TriggerPolicy& trigger : triggers) {
    text = with_line_end(std::move(text));
    text.append(text.empty() ? "" : "\n").append(policy::to_toml(trigger, "armed"));
  }
  return text;
}

State state_of(const Control& control) {
  const auto answer = answer_to(control.run, checksum_of(control.text));
  if (!answer) return {};
  if (!*answer) return {Standing::refused, answer->error().message()};
  return {Standing::in_force, (*answer)->but};
}

Result<Answer> put_control(const Control& before, const std::string& text) {
  const std::string path = control_path(before.run);
  // An old answer may belong to the same text, from a process that has ended.
  if (Status status = base::remove_file(state_path(before.run)); !status) return status;
  if (Status status = base::write_file(path, text); !status) return status;
  const std::string checksum = checksum_of(text);
  const std::uint64_t start = base::monotonic_nanoseconds();
  std::optional<Result<Answer>> answer;
  while (!(answer = answer_to(before.run, checksum)) && wait_a_little(start, kPatience)) {
  }
  if (answer && *answer) return *std::move(answer);
  if (answer) {
    if (Status status = put_back(before); !status) return status;
    const Status& refused = answer->error();
    return Status(refused.code(), "the recorder rejected it, and nothing has changed: " + refused.message());
  }
  const Result<std::string> now = base::read_file(path);
  if (now && *now == text) return Answer{};
  return Status(Code::io, "another process has changed '" + path + "' meanwhile: try again");
}

std::string describe(const Answer& answer) {
  if (!answer.applied) return "; no running recorder has read it yet; it takes effect when one does";
  return answer.but.empty() ? "" : "; " + harmless(answer.but);
}

}  // namespace sonde::cli
