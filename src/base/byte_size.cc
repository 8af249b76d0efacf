#include "base/byte_size.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace sonde::base {
namespace {

constexpr std::pair<std::string_view, double> kUnits[] = {
    {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
};

}  // namespace

std::optional<std::uint64_t> parse_byte_size(std::string_view text) noexcept {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto* const unit = std::ranges::find(kUnits, text, &std::pair<std::string_view, double>::first);
  if (unit == std::end(kUnits)) return std::nullopt;
  const double bytes = value * unit->second;
  constexpr double kMost = 0x1p62;
  if (!(bytes <= kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(bytes));
}

}  // namespace sonde::base
