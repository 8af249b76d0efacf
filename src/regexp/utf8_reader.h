// One character after another.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/utf8.h"

namespace sonde::regexp {

struct Utf8Character {
  char32_t character;
  std::size_t bytes;
};

// The character at a place inside the text. A byte that is not part of a valid one is U+FFFD.
inline Utf8Character read_utf8(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3f; };
  switch (base::character_length(text, at)) {
    case 1: return {byte(0), 1};
    case 2: return {(byte(0) & 0x1f) << 6 | tail(1), 2};
    case 3: return {(byte(0) & 0x0f) << 12 | tail(1) << 6 | tail(2), 3};
    case 4: return {(byte(0) & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
    default: return {0xfffd, 1};
  }
}

}  // namespace sonde::regexp
