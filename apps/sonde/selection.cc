#include "selection.h"

#include <algorithm>
#include <filesystem>

#include "base/suggest.h"
#include "progress.h"
#include "render/console.h"
#include "subcommand.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {

Selector::Selector(std::string option, std::string what) : option_(std::move(option)), what_(std::move(what)) {}

// The end of a sentence.
std::string Selector::near(const std::vector<std::string>& names) const {
  std::string hint = base::did_you_mean(pattern_, names);
  return hint.empty() ? there_are(names) : hint;
}

Result<std::unordered_set<std::string>> Selector::choose(const std::vector<std::string>& names, Missing missing) const {
  if (pattern_.empty()) return std::unordered_set<std::string>(names.begin(), names.end());
  if (std::ranges::find(names, pattern_) != names.end()) return std::unordered_set<std::string>{pattern_};
  if (Status status = compile(); !status) return Status(status.code(), status.message() + near(names));
  std::unordered_set<std::string> chosen;
  for (const std::string& name : names) {
    if (compiled_->matches(name)) chosen.insert(name);
  }
  if (chosen.empty() && missing == Missing::error) {
    return Status(Code::not_found,
                  "no " + what_ + " matches " + option_ + " '" + render::printable(pattern_) + "'" + near(names));
  }
  return chosen;
}

Status Selector::compile() const {
  if (pattern_.empty() || compiled_) return Status::success();
  Result<regexp::Regexp> compiled = regexp::Regexp::compile(pattern_, regexp::Extent::whole);
  if (!compiled) {
    return {Code::invalid_argument, option_ + " '" + render::printable(pattern_) + "' is neither a " + what_ +
                                        " nor a valid regular expression (" +
                                        render::printable(compiled.error().message()) + ")"};
  }
  compiled_ = *std::move(compiled);
  return Status::success();
}

Result<std::vector<Run>> select_runs(const Log& log, const Selector& runs, Selector::Missing missing) {
  std::vector<Run> found = log.runs();
  if (found.empty()) {
    if (Status status = runs.compile(); !status) return status;
    return found;
  }
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const Run& run : found) names.push_back(run.name());
  const Result<std::unordered_set<std::string>> chosen = runs.choose(names, missing);
  if (!chosen) return chosen.error();
  std::erase_if(found, [&](const Run& run) { return !chosen->contains(run.name()); });
  return found;
}

Result<std::vector<SelectedRun>> select(const std::vector<Run>& runs, const Selector& tags, std::optional<TagKind> kind,
                                        Selector::Missing missing) {
  std::vector<SelectedRun> selected;
  if (runs.empty()) {
    if (Status status = tags.compile(); !status) return status;
    return selected;
  }
  std::unordered_set<std::string> tag_names;
  for (const Run& run : runs) {
    SelectedRun one{run, run.tags()};
    std::erase_if(one.tags, [&](const Tag& tag) { return kind && tag.kind != *kind; });
    for (const Tag& tag : one.tags) tag_names.insert(tag.name);
    selected.push_back(std::move(one));
  }
  std::vector<std::string> names(tag_names.begin(), tag_names.end());
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
    return Status(Code::invalid_argument, "'" + directory + "' is a file, but a log directory is needed");
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

std::vector<std::string> unreadable(const Log& log, const std::vector<Run>& runs) {
  std::vector<std::string> all = log.problems();
  for (const Run& run : runs) {
    for (LogFile& file : run.files()) {
      if (!file.error.empty()) all.push_back(std::move(file.error));
    }
  }
  return all;
}

int report_unreadable(const Log& log, const std::vector<Run>& runs) {
  int code = kSuccess;
  for (const std::string& problem : unreadable(log, runs)) code = fail(problem);
  return code;
}

std::string damage_text(const Log& log, const std::vector<Run>& runs) {
  std::uint64_t places = 0;
  std::string only;  // the run, if there is only one
  std::size_t damaged_runs = 0;
  for (const Run& run : runs) {
    const std::size_t of_run = run.damage().size();
    if (of_run == 0) continue;
    places += of_run;
    only = run.name();
    ++damaged_runs;
  }
  if (places == 0) return "";
  const std::string path = damaged_runs == 1 ? run_path(log.directory(), only) : log.directory();
  return counted(places, "damaged place") + " left out: 'sonde check " + path + "' shows where";
}

}  // namespace sonde::cli
