#include "sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace sonde::cli {
namespace {

struct Cell {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool alarm = false;
  bool empty() const noexcept { return low > high; }
  double middle() const noexcept { return low / 2 + high / 2; }
};

constexpr std::array<std::string_view, 8> kBlocks = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                     "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr std::array<std::string_view, 8> kAscii = {"_", "_", ".", "-", "-", "=", "^", "^"};

}  // namespace

std::string sparkline(const Drawing& drawing, int width, render::Glyphs glyphs) {
  const Scalars& points = drawing.points;
  // With more columns than points there would be only gaps.
  const std::size_t count = points.size() + drawing.non_finite.size();
  std::vector<Cell> cells(std::clamp<std::size_t>(count, 1, static_cast<std::size_t>(std::max(width, 1))));
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  const auto include = [&](std::int64_t step) {
    first = std::min(first, step);
    last = std::max(last, step);
  };
  for (std::int64_t step : points.steps) include(step);
  for (const Drawing::NonFinite& one : drawing.non_finite) include(one.step);
  // In doubles, since the distance between steps may overflow an integer.
  const double range = static_cast<double>(last) - static_cast<double>(first);
  const auto cell_of = [&](std::int64_t step) -> Cell& {
    const double share = range > 0 ? (static_cast<double>(step) - static_cast<double>(first)) / range : 0;
    return cells[std::min(static_cast<std::size_t>(share * static_cast<double>(cells.size())), cells.size() - 1)];
  };
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Cell& cell = cell_of(points.steps[i]);
    cell.low = std::min(cell.low, points.values[i]);
    cell.high = std::max(cell.high, points.values[i]);
  }
  for (const Drawing::NonFinite& one : drawing.non_finite) cell_of(one.step).alarm = true;
  for (const Cell& cell : cells) {
    if (cell.empty()) continue;
    least = std::min(least, cell.middle());
    most = std::max(most, cell.middle());
  }
  std::string text;
  for (const Cell& cell : cells) {
    if (cell.alarm) {
      text += '!';
    } else if (cell.empty()) {
      text += ' ';
    } else {
      // Halved before subtracting, since the range of doubles may overflow a double. A constant is in the middle.
      const double height = most > least ? (cell.middle() / 2 - least / 2) / (most / 2 - least / 2) : 0.5;
      const auto level = static_cast<std::size_t>(std::clamp(height, 0.0, 1.0) * 7.999);
      text += glyphs == render::Glyphs::blocks ? kBlocks[level] : kAscii[level];
    }
  }
  return text;
}

}  // namespace sonde::cli
