// Colours for values.
#pragma once

#include <array>
#include <cstdint>

namespace sonde::render {

struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(const Color&, const Color&) = default;
};

// 256 colours; those from `first` to `last` represent the range of the values.
struct Palette {
  std::array<Color, 256> colors;
  int first = 0;
  int last = 255;
};

extern const Palette kGreyPalette;
// Within 1/255 of matplotlib's viridis: 16 of its colours, with linear interpolation.
extern const Palette kViridisPalette;
// Blue, exactly white in the middle (128), red.
extern const Palette kDivergingPalette;

// These colours have no other use in any picture.
inline constexpr Color kNanColor = {0xff, 0x3d, 0x9a};       // pink
inline constexpr Color kInfinityColor = {0xff, 0x8c, 0x00};  // orange
// Between the cells of a grid, and where there is no cell.
inline constexpr Color kGapColor = {0x60, 0x60, 0x60};

}  // namespace sonde::render
