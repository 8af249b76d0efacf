// UTF-8, where text from outside must be.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD: readers refuse a whole event otherwise.
std::string valid_utf8(std::string_view text);

}  // namespace sonde
