// A regular expression as instructions of a non-deterministic automaton, which reads one character at a time and is in
// several places at once.
#pragma once

#include <cstdint>
#include <vector>

#include "regexp/char_set.h"

namespace sonde::regexp {

using Place = std::uint32_t;  // of an instruction in its program
constexpr Place kNowhere = ~Place{0};

enum class Op : std::uint8_t {
  match,  // the text matches if it ends here
  rest,   // the text matches however it continues
  range,  // reads a character from first to last
  set,    // reads a character of sets[set]
  split,  // continues at both next and other
  pass,   // continues at next
  check,  // continues at next if the assertion holds between the last character and the following one
};

enum class Assertion : std::uint8_t { begin_text, end_text, begin_line, end_line, word_boundary, no_word_boundary };

struct Instruction {
  Op op = Op::pass;
  Assertion assertion{};
  Place next = kNowhere;
  Place other = kNowhere;  // only of a split
  std::uint32_t set = 0;
  Range range{};
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<std::vector<Range>> sets;
  Place start = 0;
};

}  // namespace sonde::regexp
