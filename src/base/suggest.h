// What somebody may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde {

// "; did you mean 'show'?" for the candidate that is a typing error or two away from `word`; empty where none is.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

// "; the nearest are 'encoder/0', 'encoder/1' and 'decoder/0'" for a pattern that matches none of the candidates.
std::string nearest(std::string_view pattern, std::span<const std::string> candidates);

}  // namespace sonde
