#include "formats/selector.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/utf8.h"

namespace sonde::tags {
namespace {

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
  Result<regexp::Regexp> compiled =
      regexp::Regexp::compile(text, regexp::Extent::whole, regexp::Dot::everything);  // ".*" is every name
  if (!compiled) {
    std::string message = "'";
    message += base::valid_utf8(text);
    message += "' is not a valid regular expression (";
    message += compiled.error().message();
    message += "); escape special characters of a name with \\";
    return Status(Code::invalid_argument, std::move(message));
  }
  return Pattern{std::string(text), literal_of(text), *std::move(compiled)};
}

Match Selector::Pattern::match(std::string_view name, std::string_view full_name) const {
  if (!compiled) return Match::none;
  if (text == name || text == full_name || literal == name || literal == full_name) return Match::exact;
  return compiled->matches(name) || compiled->matches(full_name) ? Match::pattern : Match::none;
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
