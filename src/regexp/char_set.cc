#include "regexp/char_set.h"

#include <algorithm>
#include <span>

#include "regexp/unicode.h"

namespace sonde::regexp {
namespace {

auto first_not_before(const std::vector<Range>& ranges, char32_t character) noexcept {
  return std::ranges::lower_bound(ranges, character, {}, &Range::last);
}

// Adds the characters whose name passes.
template <class Passes>
bool add_named(std::span<const std::uint32_t> changes, std::span<const std::string_view> names, Passes passes,
               CharSet& set) {
  std::vector<bool> wanted;
  for (const std::string_view name : names) wanted.push_back(!name.empty() && passes(name));
  if (std::ranges::find(wanted, true) == wanted.end()) return false;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!wanted[changes[i] & 0xff]) continue;
    const char32_t next = i + 1 < changes.size() ? changes[i + 1] >> 8 : kLastCharacter + 1;
    set.add(changes[i] >> 8, next - 1);
  }
  return true;
}

}  // namespace

CharSet::CharSet(std::initializer_list<Range> ranges) : ranges_(ranges) {}

void CharSet::add(char32_t first, char32_t last) {
  // A class that names large sets again and again does not grow with them.
  constexpr std::size_t kMostUnordered = 4096;
  if (ranges_.size() - normalized_ > std::max(kMostUnordered, normalized_)) normalize();
  ranges_.push_back({first, last});
}

void CharSet::add(const CharSet& other) {
  for (const Range range : other.ranges()) add(range.first, range.last);
}

void CharSet::normalize() const {
  if (normalized_ == ranges_.size()) return;
  std::ranges::sort(ranges_);
  std::size_t kept = 0;
  for (const Range range : ranges_) {
    if (kept > 0 && range.first <= ranges_[kept - 1].last + 1) {
      ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, range.last);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
  normalized_ = kept;
}

const std::vector<Range>& CharSet::ranges() const {
  normalize();
  return ranges_;
}

void CharSet::negate() {
  std::vector<Range> others;
  char32_t next = 0;
  for (const Range range : ranges()) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCharacter) others.push_back({next, kLastCharacter});
  normalized_ = others.size();
  ranges_ = std::move(others);
}

void CharSet::add_other_cases() {
  std::vector<Range> found = ranges();
  for (int i = 1; i < kMostAlike; ++i) {
    CharSet next;
    for (const CaseStep& step : case_steps()) {
      for (auto range = first_not_before(found, step.first); range != found.end() && range->first <= step.last;
           ++range) {
        const char32_t from = std::max(range->first, step.first);
        const char32_t to = std::min(range->last, step.last);
        const auto shifted = [&](char32_t character) { return character + static_cast<char32_t>(step.delta); };
        if (step.stride == 1) {
          next.add(shifted(from), shifted(to));
        } else {
          for (char32_t one = from + (from - step.first) % step.stride; one <= to; one += step.stride) {
            next.add(shifted(one), shifted(one));
          }
        }
      }
    }
    found = next.ranges();
    if (found.empty()) return;
    add(next);
  }
}

bool contains(const std::vector<Range>& ranges, char32_t character) noexcept {
  const auto found = first_not_before(ranges, character);
  return found != ranges.end() && found->first <= character;
}

CharSet digits() { return {{'0', '9'}}; }
CharSet spaces() { return {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}; }
CharSet word_characters() { return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}; }

bool add_posix_class(std::string_view name, CharSet& set) {
  struct Named {
    std::string_view name;
    CharSet set;
  };
  const Named classes[] = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7f}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
      {"digit", digits()},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", word_characters()},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  };
  const auto* const found = std::ranges::find(classes, name, &Named::name);
  if (found == std::end(classes)) return false;
  set.add(found->set);
  return true;
}

bool add_unicode_class(std::string_view name, CharSet& set) {
  if (name == "Any") {
    set.add(0, kLastCharacter);
    return true;
  }
  const auto same = [&](std::string_view other) { return other == name; };
  const auto in_group = [&](std::string_view category) { return category.substr(0, 1) == name; };
  return add_named(categories(), category_names(), same, set) ||
         add_named(categories(), category_names(), in_group, set) || add_named(scripts(), script_names(), same, set);
}

}  // namespace sonde::regexp
