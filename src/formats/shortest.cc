#include "formats/shortest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace sonde::formats {
namespace {

bool is_single(double value) noexcept {
  if (!std::isfinite(value)) return true;
  return std::abs(value) <= std::numeric_limits<float>::max() &&
         static_cast<double>(static_cast<float>(value)) == value;
}

}  // namespace

bool all_single(std::span<const double> values) noexcept { return std::ranges::all_of(values, is_single); }

double shortest_double(double value) noexcept {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(value));
  double same = value;
  std::from_chars(digits.data(), end.ptr, same);
  return same;
}

}  // namespace sonde::formats
