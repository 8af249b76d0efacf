// UTF-8 for text from outside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sonde::base {

// The length of the valid UTF-8 character that begins at `at`, which is inside the text; 0 if there is none.
std::size_t character_length(std::string_view text, std::size_t at = 0) noexcept;

// Whether a byte of valid UTF-8 is the first one of a character; the others continue one.
constexpr bool begins_character(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// How many characters a text has; bytes that continue a character do not count.
std::size_t count_characters(std::string_view text) noexcept;

// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD: readers reject the whole event
// otherwise.
std::string valid_utf8(std::string_view text);

}  // namespace sonde::base
