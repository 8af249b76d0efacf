// What somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde::cli {

// "; did you mean 'show'?" for the candidate that is a typing error or two away from `word`; empty where none is.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sonde::cli
