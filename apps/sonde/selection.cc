#include "selection.h"

#include <re2/re2.h>

#include <algorithm>
#include <filesystem>

#include "progress.h"
#include "render/console.h"
#include "subcommand.h"
#include "suggest.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {

Selector::Selector(std::string option, std::string what) : option_(std::move(option)), what_(std::move(what)) {}
Selector::Selector(Selector&&) noexcept = default;
Selector::~Selector() = default;

// The end of a sentence.
std::string Selector::near(const std::vector<std::string>& names) const {
  const std::string hint = did_you_mean(pattern_, names);
  if (!hint.empty() || names.empty()) return hint;
  return std::string(names.size() == 1 ? "; there is " : "; there are ") + listed(names);
}

Result<std::unordered_set<std::string>> Selector::choose(const std::vector<std::string>& names, Missing missing) const {
  if (pattern_.empty()) return std::unordered_set<std::string>(names.begin(), names.end());
  if (std::ranges::find(names, pattern_) != names.end()) return std::unordered_set<std::string>{pattern_};
  if (compiled_ == nullptr) compiled_ = std::make_unique<re2::RE2>(pattern_, re2::RE2::Quiet);
  if (!compiled_->ok()) {
    return Status(Code::invalid_argument, option_ + " '" + render::printable(pattern_) + "' is neither a " + what_ +
                                              " nor a regular expression (" + compiled_->error() + ")" + near(names));
  }
  std::unordered_set<std::string> chosen;
  for (const std::string& name : names) {
    if (re2::RE2::FullMatch(name, *compiled_)) chosen.insert(name);
  }
  if (chosen.empty() && missing == Missing::error) {
    return Status(Code::not_found,
                  "no " + what_ + " matches " + option_ + " '" + render::printable(pattern_) + "'" + near(names));
  }
  return chosen;
}

Result<std::vector<SelectedRun>> select(const Log& log, const Selector& runs, const Selector& tags,
                                        std::optional<TagKind> kind, Selector::Missing missing) {
  const std::vector<Run> found = log.runs();
  if (found.empty()) return std::vector<SelectedRun>{};
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const Run& run : found) names.push_back(run.name());
  const Result<std::unordered_set<std::string>> chosen_runs = runs.choose(names, missing);
  if (!chosen_runs) return chosen_runs.error();

  std::vector<SelectedRun> selected;
  std::unordered_set<std::string> tag_names;
  for (const Run& run : found) {
    if (!chosen_runs->contains(run.name())) continue;
    SelectedRun one{run, run.tags()};
    std::erase_if(one.tags, [&](const Tag& tag) { return kind && tag.kind != *kind; });
    for (const Tag& tag : one.tags) tag_names.insert(tag.name);
    selected.push_back(std::move(one));
  }
  names.assign(tag_names.begin(), tag_names.end());
  std::ranges::sort(names);
  const Result<std::unordered_set<std::string>> chosen_tags = tags.choose(names, missing);
  if (!chosen_tags) return chosen_tags.error();
  if (chosen_tags->size() == names.size()) return selected;
  for (SelectedRun& one : selected) {
    std::erase_if(one.tags, [&](const Tag& tag) { return !chosen_tags->contains(tag.name); });
  }
  std::erase_if(selected, [](const SelectedRun& one) { return one.tags.empty(); });
  return selected;
}

Result<Log> open_log(const std::string& directory, const LogOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(directory, error) && !std::filesystem::is_directory(directory, error)) {
    return Status(Code::invalid_argument, "'" + directory + "' is a file, and a log directory is needed");
  }
  Result<Log> log = Log::open(directory, options);
  if (!log) return log;
  Progress progress("reading " + directory);
  std::uint64_t version = log->version();
  while (progress.wanted()) {
    const Log::Progress now = log->progress();
    if (now.done()) break;
    progress.update(now.bytes_read, now.bytes_found);
    version = log->wait_for_change(version, std::chrono::milliseconds(50));
  }
  log->wait();
  return log;
}

int report_unreadable(const Log& log, const std::vector<SelectedRun>& selected) {
  int code = kSuccess;
  for (const std::string& problem : log.problems()) code = fail(problem);
  for (const SelectedRun& one : selected) {
    for (const LogFile& file : one.run.files()) {
      if (!file.error.empty()) code = fail(file.error);
    }
  }
  return code;
}

}  // namespace sonde::cli
