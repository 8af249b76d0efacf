// The places of a program that can be reached with the characters read so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "regexp/program.h"

namespace sonde::regexp {

// What assertions ask about the character before a position.
enum class Before : std::uint8_t { nothing, newline, word, other };

class Places {
 public:
  explicit Places(const Program& program);  // which must outlive this

  // At the beginning of a text.
  void start();
  // As they were when items() and before() returned this.
  void restore(std::span<const Place> items, Before before);
  // Reads one character, or the end of the text, where nothing is behind the position.
  void read(std::optional<char32_t> character);

  // Whether the text matches if it ends here: after read(end of text).
  bool matched() const noexcept { return matched_; }
  // Whether the text matches however it continues.
  bool rest_matches() const noexcept { return rest_matches_; }
  // No text that begins like this matches.
  bool hopeless() const noexcept { return items_.empty() && !rest_matches_; }

  std::span<const Place> items() const noexcept { return items_; }
  // Before::other if no assertion depends on it.
  Before before() const noexcept { return checks_ ? before_ : Before::other; }

 private:
  void clear();
  void reach(Place place);  // and all places that follow without a character
  void check_assertions(std::optional<char32_t> next);
  bool reads(const Instruction& instruction, char32_t character) const noexcept;

  const Program* program_;
  std::vector<Place> items_;  // instructions that read or check something, or match
  std::vector<Place> reading_;
  std::vector<Place> waiting_;        // a stack, for reach
  std::vector<std::uint32_t> marks_;  // places that were reached have the current mark
  std::uint32_t mark_ = 0;
  Before before_ = Before::nothing;
  bool checks_ = false;
  bool matched_ = false;
  bool rest_matches_ = false;
};

}  // namespace sonde::regexp
