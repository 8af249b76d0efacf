#include "regexp/alphabet.h"

#include <algorithm>

#include "regexp/unicode.h"

namespace sonde::regexp {
namespace {

// All sets of characters that the program distinguishes from others.
std::vector<std::vector<Range>> distinguished(const Program& program) {
  std::vector<std::vector<Range>> sets = program.sets;
  bool checks = false;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.op == Op::range) sets.push_back({instruction.range});
    checks = checks || instruction.op == Op::check;
  }
  if (checks) {
    sets.push_back({{'\n', '\n'}});
    sets.push_back(word_characters().ranges());
  }
  std::ranges::sort(sets);
  const auto repeated = std::ranges::unique(sets);
  sets.erase(repeated.begin(), repeated.end());
  return sets;
}

}  // namespace

Alphabet::Alphabet(const Program& program) {
  const std::vector<std::vector<Range>> sets = distinguished(program);
  first_.push_back(0);
  for (const auto& ranges : sets) {
    for (const Range range : ranges) {
      first_.push_back(range.first);
      if (range.last < kLastCharacter) first_.push_back(range.last + 1);
    }
  }
  std::ranges::sort(first_);
  const auto repeated = std::ranges::unique(first_);
  first_.erase(repeated.begin(), repeated.end());

  // All characters begin in one class; each set divides every class into what is in the set and what is not.
  class_.assign(first_.size(), 0);
  for (const auto& ranges : sets) {
    std::vector<std::uint32_t> divided(classes_, 0);  // the new class of each old one; 0 if it has none yet
    for (const Range range : ranges) {
      const auto begin = std::ranges::lower_bound(first_, range.first) - first_.begin();
      const auto end = std::ranges::upper_bound(first_, range.last) - first_.begin();
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        std::uint32_t& divided_class = divided[class_[i]];
        if (divided_class == 0) divided_class = classes_++;
        class_[i] = divided_class;
      }
    }
  }
  // Classes that lie in a set as a whole were replaced, so the numbers have gaps.
  std::vector<std::uint32_t> number(classes_, 0);
  std::uint32_t used = 0;
  for (std::uint32_t& one : class_) {
    if (number[one] == 0) number[one] = ++used;
    one = number[one] - 1;
  }
  classes_ = used;
  for (std::size_t byte = 0; byte < ascii_.size(); ++byte) ascii_[byte] = class_of(static_cast<char32_t>(byte));
}

std::uint32_t Alphabet::class_of(char32_t character) const noexcept {
  const auto after = std::ranges::upper_bound(first_, character);
  return class_[static_cast<std::size_t>(after - first_.begin()) - 1];
}

}  // namespace sonde::regexp
