// Regular expressions in the syntax of RE2, matched in time proportional to the text, whatever the pattern. Only
// whether a text matches is found, not where, so that lazy repetition means the same as greedy and groups keep nothing.
//
// Differences from RE2:
// - \C, a single byte, is an error.
// - (?<name>...) is a group as (?P<name>...) is; older versions of RE2 know only the second.
// - A byte that is not part of valid UTF-8 is an error in a pattern, and is U+FFFD in a text. RE2 reads some such
// bytes,
//   and no pattern matches the others.
// - A position within a character is none, so that \B does not hold there.
// - The limits are those of compile() instead of a number of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "sonde/status.h"

namespace sonde::regexp {

class Automaton;
enum class Extent : std::uint8_t { whole, anywhere };       // whether all of a text must match or a part of it
enum class Dot : std::uint8_t { not_newline, everything };  // what . matches unless (?s) or (?-s) is before it

// Cheap to copy; copies share what they learn about texts. Safe from any thread.
class Regexp {
 public:
  // At most 32,768 bytes, 20,000 instructions and ranges of characters, and 1,000 repetitions, nested ones multiplied.
  // The error is a part of a sentence: "missing ')' for '(' at position 3"; positions count characters from 1.
  static Result<Regexp> compile(std::string_view pattern, Extent extent, Dot dot = Dot::not_newline);

  bool matches(std::string_view text) const;

 private:
  explicit Regexp(std::shared_ptr<const Automaton> automaton) : automaton_(std::move(automaton)) {}

  std::shared_ptr<const Automaton> automaton_;
};

}  // namespace sonde::regexp
