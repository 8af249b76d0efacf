// Which tensors something applies to: an exact name wins, otherwise RE2 with full match over the name or "kind/name".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "sonde/summaries.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace sonde::tags {

enum class Match : std::uint8_t { none, pattern, exact };

// Safe from any thread once made.
class Selector {
 public:
  // An empty `exclude` excludes nothing, empty `kinds` are all. The error names the pattern and what is wrong with it.
  static Result<Selector> create(std::string_view tensors, std::string_view exclude = {}, std::vector<Kind> kinds = {});

  Match match(std::string_view name, Kind kind) const;
  const std::string& pattern() const noexcept { return pattern_; }

 private:
  Selector() = default;
  std::string pattern_;
  std::shared_ptr<const re2::RE2> tensors_;  // null: only exact names, the text is no pattern
  std::shared_ptr<const re2::RE2> exclude_;
  std::vector<Kind> kinds_;
};

}  // namespace sonde::tags
