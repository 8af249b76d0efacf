#include "regexp/places.h"

#include <algorithm>
#include <utility>

namespace sonde::regexp {
namespace {

bool is_word(char32_t c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
}

bool holds(Assertion assertion, Before before, std::optional<char32_t> next) noexcept {
  const bool boundary = (before == Before::word) != (next && is_word(*next));
  switch (assertion) {
    case Assertion::begin_text: return before == Before::nothing;
    case Assertion::end_text: return !next;
    case Assertion::begin_line: return before == Before::nothing || before == Before::newline;
    case Assertion::end_line: return !next || *next == '\n';
    case Assertion::word_boundary: return boundary;
    case Assertion::no_word_boundary: return !boundary;
  }
  return false;
}

}  // namespace

Places::Places(const Program& program) : program_(&program), marks_(program.instructions.size(), 0) {}

void Places::clear() {
  items_.clear();
  checks_ = matched_ = rest_matches_ = false;
  if (++mark_ == 0) {  // after four billion characters the old marks would count again
    std::ranges::fill(marks_, 0);
    mark_ = 1;
  }
}

void Places::start() {
  clear();
  before_ = Before::nothing;
  reach(program_->start);
}

void Places::restore(std::span<const Place> items, Before before) {
  clear();
  before_ = before;
  for (const Place place : items) reach(place);
}

void Places::reach(Place place) {
  waiting_.push_back(place);
  while (!waiting_.empty()) {
    place = waiting_.back();
    waiting_.pop_back();
    if (std::exchange(marks_[place], mark_) == mark_) continue;
    const Instruction& instruction = program_->instructions[place];
    switch (instruction.op) {
      case Op::split:
        waiting_.push_back(instruction.next);
        waiting_.push_back(instruction.other);
        break;
      case Op::pass: waiting_.push_back(instruction.next); break;
      case Op::rest: rest_matches_ = true; break;
      case Op::check: checks_ = true; [[fallthrough]];
      case Op::match:
      case Op::range:
      case Op::set: items_.push_back(place); break;
    }
  }
}

// Those that hold may lead to further ones, which are then behind them in the list.
void Places::check_assertions(std::optional<char32_t> next) {
  for (std::size_t i = 0; i < items_.size(); ++i) {  // NOLINT(modernize-loop-convert): the list grows
    const Instruction& instruction = program_->instructions[items_[i]];
    if (instruction.op == Op::check && holds(instruction.assertion, before_, next)) reach(instruction.next);
  }
}

bool Places::reads(const Instruction& instruction, char32_t character) const noexcept {
  if (instruction.op == Op::range) return instruction.range.first <= character && character <= instruction.range.last;
  return instruction.op == Op::set && contains(program_->sets[instruction.set], character);
}

void Places::read(std::optional<char32_t> character) {
  if (checks_) check_assertions(character);
  if (rest_matches_) return;
  if (!character) {
    matched_ = std::ranges::any_of(items_, [&](Place at) { return program_->instructions[at].op == Op::match; });
    return;
  }
  std::swap(items_, reading_);
  clear();
  before_ = *character == '\n' ? Before::newline : is_word(*character) ? Before::word : Before::other;
  for (const Place place : reading_) {
    const Instruction& instruction = program_->instructions[place];
    if (reads(instruction, *character)) reach(instruction.next);
    if (rest_matches_) return;
  }
}

}  // namespace sonde::regexp
