// The runs and tags that a command applies to: all, the one with exactly that name, or those that a pattern matches.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "regexp/regexp.h"
#include "sonde/log.h"
#include "sonde/status.h"

namespace sonde::cli {

// One option, such as `--runs RE`. An exact name wins; otherwise the pattern is a regular expression and matches whole
// names. An empty pattern selects all.
class Selector {
 public:
  // `option` and `what` are for messages: "--runs", "run".
  Selector(std::string option, std::string what);

  std::string& pattern() noexcept { return pattern_; }  // for Flags
  const std::string& pattern() const noexcept { return pattern_; }

  enum class Missing : unsigned char { error, fine };
  // The selected names. If the pattern is invalid, or nothing matches, the error names the nearest ones; with
  // Missing::fine no match is an empty result.
  Result<std::unordered_set<std::string>> choose(const std::vector<std::string>& names, Missing missing) const;
  // Fails if the pattern is invalid; for logs without any name.
  Status compile() const;

 private:
  std::string near(const std::vector<std::string>& names) const;

  std::string option_;
  std::string what_;
  std::string pattern_;
  mutable std::optional<regexp::Regexp> compiled_;  // compiled when it is first needed
};

struct SelectedRun {
  Run run;
  std::vector<Tag> tags;
};

// Sorted by name.
Result<std::vector<Run>> select_runs(const Log& log, const Selector& runs,
                                     Selector::Missing missing = Selector::Missing::error);
// Runs without a selected tag are left out unless all tags are selected. Waits until the runs have been read.
Result<std::vector<SelectedRun>> select(const std::vector<Run>& runs, const Selector& tags,
                                        std::optional<TagKind> kind = {},
                                        Selector::Missing missing = Selector::Missing::error);

// Opens a log and reads all of it, with a progress bar.
Result<Log> open_log(const std::string& directory, const LogOptions& options = {});

// Directories and files that could not be read, one sentence each.
std::vector<std::string> unreadable(const Log& log, const std::vector<Run>& runs);
// The same on standard error. Returns kSuccess if there are none, else kError.
int report_unreadable(const Log& log, const std::vector<Run>& runs);
// The number of damaged places and the command that shows them; empty if there are none.
std::string damage_text(const Log& log, const std::vector<Run>& runs);

}  // namespace sonde::cli
