// What somebody may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde {

// "; did you mean 'show'?" for the candidate that is a typing error or two away from `word`; empty where none is.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace sonde
