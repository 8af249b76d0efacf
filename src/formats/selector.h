// Selects tensors: an exact name, or a regular expression that matches all of the name or of "kind/name". A tensor that
// is named exactly is selected even if a pattern excludes it.
// A text that is not a valid pattern is rejected, even if a tensor may have that name: far more often it is a mistake
// in a pattern. To use such a name, escape the special characters with \, which is still exact: 'layer\[0'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regexp/regexp.h"
#include "sonde/status.h"
#include "sonde/summaries.h"

namespace sonde::tags {

enum class Match : std::uint8_t { none, pattern, exact };

// Safe from any thread once created.
class Selector {
 public:
  // An empty `exclude` excludes nothing, empty `kinds` means all. The error names the pattern and the reason.
  static Result<Selector> create(std::string_view tensors, std::string_view exclude = {}, std::vector<Kind> kinds = {});

  Match match(std::string_view name, Kind kind) const;
  const std::string& pattern() const noexcept { return tensors_.text; }
  const std::string& exclude() const noexcept { return exclude_.text; }

 private:
  // A text is compared literally before it is used as a pattern, so "a+b" finds the tensor of that name.
  struct Pattern {
    std::string text;
    std::string literal;                     // the text without \ if it is a single name; otherwise the text
    std::optional<regexp::Regexp> compiled;  // none: matches nothing
    Match match(std::string_view name, std::string_view full_name) const;
  };
  Selector() = default;
  static Result<Pattern> compile(std::string_view text);

  Pattern tensors_;
  Pattern exclude_;
  std::vector<Kind> kinds_;
};

}  // namespace sonde::tags
