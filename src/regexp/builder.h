// Puts the instructions of a program together, piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "regexp/program.h"

namespace sonde::regexp {

constexpr std::uint32_t kMostRepetitions = 1000;
constexpr std::uint32_t kUnlimited = ~std::uint32_t{0};

// Instructions that are entered at `start` and left at `end`, whose `next` is still open.
struct Fragment {
  Place start;
  Place end;
};

// The last part of a sequence, which a repetition behind it repeats. Its instructions are all those from `begin` on.
struct Piece {
  Fragment fragment;
  Place begin;
  std::uint32_t repetitions = 1;  // of its innermost part, if repetitions are nested
};

// Instructions and ranges of all sets together are at most kMostSize; beyond that too_large() is true, and the program
// is of no use.
class Builder {
 public:
  static constexpr std::size_t kMostSize = 20'000;

  bool too_large() const noexcept { return too_large_; }
  Place size() const noexcept { return static_cast<Place>(program_.instructions.size()); }

  Piece characters(const CharSet& set);
  Piece assertion(Assertion assertion);
  Piece nothing();
  // The last piece, least to most times.
  Piece repeat(const Piece& piece, std::uint32_t least, std::uint32_t most);
  Fragment sequence(const std::optional<Fragment>& before, Fragment after);
  // A choice begins with its first alternative; the last one completes it.
  struct Choice {
    Fragment fragment;
    Place last;  // the split that leads to the next alternative
  };
  Choice choice(const std::optional<Choice>& before, Fragment alternative);
  Fragment complete(const Choice& choice, Fragment last_alternative);

  // The program for a whole pattern, matched by a whole text or anywhere in it.
  Program finish(Fragment all, bool anywhere);

 private:
  Instruction& at(Place place) { return program_.instructions[place]; }
  Place emit(Instruction instruction);
  Place emit_split(Place next, Place other);
  Piece star(const Piece& piece, bool at_least_once);
  Piece copies(const Piece& piece, std::uint32_t least, std::uint32_t most);
  std::uint32_t intern(const std::vector<Range>& ranges);
  void skip_passes();
  void find_rests();

  Program program_;
  std::map<std::vector<Range>, std::uint32_t> sets_;
  std::size_t set_ranges_ = 0;
  bool too_large_ = false;
};

}  // namespace sonde::regexp
