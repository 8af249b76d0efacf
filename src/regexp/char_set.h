// A set of characters, as ranges.
#pragma once

#include <compare>
#include <cstddef>
#include <string_view>
#include <vector>

namespace sonde::regexp {

struct Range {
  char32_t first;
  char32_t last;  // included
  friend auto operator<=>(const Range&, const Range&) = default;
};

class CharSet {
 public:
  CharSet() = default;
  CharSet(std::initializer_list<Range> ranges);

  void add(char32_t first, char32_t last);
  void add(const CharSet& other);
  void negate();
  // Adds the characters that differ from those in the set only in case.
  void add_other_cases();

  // Ascending, with a gap between one and the next.
  const std::vector<Range>& ranges() const;

 private:
  void normalize() const;

  mutable std::vector<Range> ranges_;
  mutable std::size_t normalized_ = 0;  // so many are in order; the others were added since
};

// Whether a character is in one of ascending ranges.
bool contains(const std::vector<Range>& ranges, char32_t character) noexcept;

// ASCII, as in Perl.
CharSet digits();
CharSet spaces();
CharSet word_characters();
// Adds the class with a POSIX name such as "alpha", which is ASCII; false if there is none.
bool add_posix_class(std::string_view name, CharSet& set);
// Adds the characters of a category (L, Lu), of a script (Greek), or all (Any); false if there is no such name.
bool add_unicode_class(std::string_view name, CharSet& set);

}  // namespace sonde::regexp
