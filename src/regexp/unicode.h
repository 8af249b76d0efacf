// What regular expressions need to know about Unicode; see unicode_tables.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sonde::regexp {

constexpr char32_t kLastCharacter = 0x10ffff;

// The names of categories, such as "Lu", and of scripts, such as "Greek". The empty name is for characters without one.
std::span<const std::string_view> category_names() noexcept;
std::span<const std::string_view> script_names() noexcept;
// Where the category or the script changes, in ascending order: a character << 8, and the place of the new name.
std::span<const std::uint32_t> categories() noexcept;
std::span<const std::uint32_t> scripts() noexcept;

// For first, first + stride, ..., last: the character + delta is the next one of those that differ only in case. The
// last of them leads back to the first, and there are at most kMostAlike.
struct CaseStep {
  char32_t first;
  char32_t last;
  std::uint32_t stride;
  std::int32_t delta;
};
constexpr int kMostAlike = 4;
std::span<const CaseStep> case_steps() noexcept;

}  // namespace sonde::regexp
