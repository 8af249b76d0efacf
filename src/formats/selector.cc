#include "formats/selector.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/utf8.h"

namespace sonde::tags {
namespace {

// A pattern may come from a foreign file. RE2's time is in proportion to the name; this bounds its memory.
constexpr std::int64_t kPatternMemory = std::int64_t{1} << 20;  // bytes

// The name that a pattern spells out character by character, some of them escaped with \; otherwise the pattern.
std::string literal_of(std::string_view pattern) {
  constexpr std::string_view kSpecial = R"(\.+*?()[]{}|^$)";
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool special = kSpecial.find(pattern[i]) != std::string_view::npos;
    const bool escaped =
        pattern[i] == '\\' && i + 1 < pattern.size() && std::ispunct(static_cast<unsigned char>(pattern[i + 1])) != 0;
    if (special && !escaped) return std::string(pattern);
    if (escaped) ++i;
    name += pattern[i];
  }
  return name;
}

}  // namespace

Result<Selector::Pattern> Selector::compile(std::string_view text) {
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(kPatternMemory);
  options.set_dot_nl(true);  // ".*" is every name
  auto compiled = std::make_shared<const re2::RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!compiled->ok()) {
    std::string message = "'";
    message += valid_utf8(text);
    message += "' is not a valid regular expression (";
    message += valid_utf8(compiled->error());
    message += "); escape special characters of a name with \\";
    return Status(Code::invalid_argument, std::move(message));
  }
  return Pattern{std::string(text), literal_of(text), std::move(compiled)};
}

Match Selector::Pattern::match(std::string_view name, std::string_view full_name) const {
  if (compiled == nullptr) return Match::none;
  if (text == name || text == full_name || literal == name || literal == full_name) return Match::exact;
  const auto matches = [&](std::string_view candidate) {
    return re2::RE2::FullMatch(re2::StringPiece(candidate.data(), candidate.size()), *compiled);
  };
  return matches(name) || matches(full_name) ? Match::pattern : Match::none;
}

Result<Selector> Selector::create(std::string_view tensors, std::string_view exclude, std::vector<Kind> kinds) {
  Selector selector;
  Result<Pattern> compiled = compile(tensors);
  if (!compiled) return compiled.error();
  selector.tensors_ = std::move(*compiled);
  if (!exclude.empty()) {
    Result<Pattern> excluded = compile(exclude);
    if (!excluded) return excluded.error();
    selector.exclude_ = std::move(*excluded);
  }
  selector.kinds_ = std::move(kinds);
  return selector;
}

Match Selector::match(std::string_view name, Kind kind) const {
  if (!kinds_.empty() && std::ranges::find(kinds_, kind) == kinds_.end()) return Match::none;
  std::string full_name(to_string(kind));
  full_name += '/';
  full_name += name;
  const Match found = tensors_.match(name, full_name);
  // The more exact of the two counts, and the exclusion if they are equal.
  return exclude_.match(name, full_name) >= found ? Match::none : found;
}

}  // namespace sonde::tags
