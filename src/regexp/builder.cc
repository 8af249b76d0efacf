#include "regexp/builder.h"

#include <utility>

#include "regexp/unicode.h"

namespace sonde::regexp {

Place Builder::emit(Instruction instruction) {
  if (program_.instructions.size() + set_ranges_ >= kMostSize) too_large_ = true;
  program_.instructions.push_back(instruction);
  return size() - 1;
}

Place Builder::emit_split(Place next, Place other) { return emit({.op = Op::split, .next = next, .other = other}); }

std::uint32_t Builder::intern(const std::vector<Range>& ranges) {
  const auto [found, is_new] = sets_.try_emplace(ranges, static_cast<std::uint32_t>(program_.sets.size()));
  if (is_new) {
    program_.sets.push_back(ranges);
    set_ranges_ += ranges.size();
  }
  return found->second;
}

Piece Builder::characters(const CharSet& set) {
  const std::vector<Range>& ranges = set.ranges();
  const Place place = ranges.size() == 1 ? emit({.op = Op::range, .range = ranges.front()})
                                         : emit({.op = Op::set, .set = intern(ranges)});
  return {{place, place}, place};
}

Piece Builder::assertion(Assertion assertion) {
  const Place place = emit({.op = Op::check, .assertion = assertion});
  return {{place, place}, place};
}

Piece Builder::nothing() {
  const Place place = emit({.op = Op::pass});
  return {{place, place}, place};
}

Piece Builder::repeat(const Piece& piece, std::uint32_t least, std::uint32_t most) {
  const std::uint32_t times = most == kUnlimited ? least : most;
  Piece repeated = piece;
  if (most == 0) {
    program_.instructions.resize(piece.begin);
    repeated = nothing();
  } else if (most == kUnlimited && least <= 1) {
    repeated = star(piece, least == 1);
  } else {
    repeated = copies(piece, least, most);
  }
  repeated.repetitions = piece.repetitions * (times > 1 ? times : 1);
  return repeated;
}

Piece Builder::star(const Piece& piece, bool at_least_once) {
  const Place split = emit_split(kNowhere, piece.fragment.start);
  at(piece.fragment.end).next = split;
  return {{at_least_once ? piece.fragment.start : split, split}, piece.begin};
}

Piece Builder::copies(const Piece& piece, std::uint32_t least, std::uint32_t most) {
  const std::vector<Instruction> original(program_.instructions.begin() + piece.begin, program_.instructions.end());
  const std::uint32_t count = most == kUnlimited ? least : most;
  if (count * (original.size() + 1) > kMostSize) {
    too_large_ = true;
    return piece;
  }
  const auto copy = [&](std::uint32_t number) {
    if (number == 0) return piece.fragment;
    const Place shift = size() - piece.begin;
    for (Instruction instruction : original) {
      if (instruction.next != kNowhere) instruction.next += shift;
      if (instruction.other != kNowhere) instruction.other += shift;
      emit(instruction);
    }
    return Fragment{piece.fragment.start + shift, piece.fragment.end + shift};
  };
  std::optional<Fragment> all;
  for (std::uint32_t i = 0; i < least; ++i) {
    const Place begin = size();
    Piece one{copy(i), begin};
    if (most == kUnlimited && i + 1 == least) one = star(one, true);
    all = sequence(all, one.fragment);
  }
  if (most != kUnlimited && most > least) {
    const Place exit = nothing().fragment.start;
    for (std::uint32_t i = least; i < most; ++i) {
      const Fragment one = copy(i);
      all = sequence(all, {emit_split(exit, one.start), one.end});
    }
    all = sequence(all, {exit, exit});
  }
  return {*all, piece.begin};
}

Fragment Builder::sequence(const std::optional<Fragment>& before, Fragment after) {
  if (!before) return after;
  at(before->end).next = after.start;
  return {before->start, after.end};
}

Builder::Choice Builder::choice(const std::optional<Choice>& before, Fragment alternative) {
  const Place exit = before ? before->fragment.end : nothing().fragment.start;
  const Place split = emit_split(kNowhere, alternative.start);
  at(alternative.end).next = exit;
  if (before) at(before->last).next = split;
  return {{before ? before->fragment.start : split, exit}, split};
}

Fragment Builder::complete(const Choice& choice, Fragment last_alternative) {
  at(choice.last).next = last_alternative.start;
  at(last_alternative.end).next = choice.fragment.end;
  return choice.fragment;
}

Program Builder::finish(Fragment all, bool anywhere) {
  at(all.end).next = emit({.op = anywhere ? Op::rest : Op::match});
  program_.start = all.start;
  if (anywhere) {
    const Piece skipped = star(characters({{0, kLastCharacter}}), false);
    at(skipped.fragment.end).next = all.start;
    program_.start = skipped.fragment.start;
  }
  skip_passes();
  find_rests();
  return std::move(program_);
}

// Every way leads to an instruction that does something. Loops go through a split, so there is always one.
void Builder::skip_passes() {
  const auto target = [&](Place place) {
    Place last = place;
    while (at(last).op == Op::pass) last = at(last).next;
    while (at(place).op == Op::pass) place = std::exchange(at(place).next, last);  // the next search is short
    return last;
  };
  for (Instruction& instruction : program_.instructions) {
    if (instruction.next != kNowhere) instruction.next = target(instruction.next);
    if (instruction.other != kNowhere) instruction.other = target(instruction.other);
  }
  program_.start = target(program_.start);
}

// `.*` at the end of a pattern needs no characters to be read. Its parts are behind one another, so that several of
// them are found from the last to the first.
void Builder::find_rests() {
  for (Place place = size(); place-- > 0;) {
    const Instruction& split = at(place);
    if (split.op != Op::split) continue;
    const Instruction& body = at(split.other);
    const Op after = at(split.next).op;
    if (body.op == Op::range && body.range == Range{0, kLastCharacter} && body.next == place &&
        (after == Op::match || after == Op::rest)) {
      at(place).op = Op::rest;
    }
  }
}

}  // namespace sonde::regexp
