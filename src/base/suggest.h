// Names in messages: lists of them, and suggestions for mistyped ones.
#pragma once

#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace sonde::base {

// "a, b and c", unquoted.
template <class Names>
std::string enumerated(const Names& names) {
  std::string text;
  const std::size_t count = std::size(names);
  std::size_t i = 0;
  for (const auto& name : names) {
    text.append(i == 0 ? "" : i + 1 == count ? " and " : ", ").append(name);
    ++i;
  }
  return text;
}

// "; did you mean 'show'?" for the candidate that is one or two typos away from `word`; empty if there is none.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// "; the nearest are 'encoder/0', 'encoder/1' and 'decoder/0'" for a pattern that matches none of the candidates.
std::string nearest(std::string_view pattern, std::span<const std::string> candidates);

}  // namespace sonde::base
