#include "render/colormap.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sonde::render {
namespace {

void expect_close(const Color& color, int red, int green, int blue) {
  EXPECT_LE(std::abs(color.red - red), 1);
  EXPECT_LE(std::abs(color.green - green), 1);
  EXPECT_LE(std::abs(color.blue - blue), 1);
}

int brightness(const Color& color) { return 3 * color.red + 6 * color.green + color.blue; }

TEST(Viridis, IsWithinOneStepOfMatplotlibsBetweenTheAnchors) {
  const auto& colors = kViridisPalette.colors;
  expect_close(colors[7], 70, 11, 94);
  expect_close(colors[37], 70, 51, 127);
  expect_close(colors[64], 59, 82, 139);
  expect_close(colors[100], 42, 118, 142);
  expect_close(colors[128], 33, 145, 140);
  expect_close(colors[161], 41, 175, 127);
  expect_close(colors[200], 112, 207, 87);
  expect_close(colors[231], 192, 223, 37);
  expect_close(colors[250], 241, 229, 29);
}

TEST(Viridis, GetsBrighterAllTheWay) {
  const auto& colors = kViridisPalette.colors;
  EXPECT_EQ(colors.front(), (Color{0x44, 0x01, 0x54}));
  EXPECT_EQ(colors.back(), (Color{0xfd, 0xe7, 0x25}));
  // Over a few entries: neighbours may be equal except for rounding.
  for (std::size_t i = 3; i < colors.size(); ++i) EXPECT_GT(brightness(colors[i]), brightness(colors[i - 3])) << i;
}

TEST(Diverging, IsBlueBelowWhiteAtAndRedAboveTheMiddle) {
  const auto& colors = kDivergingPalette.colors;
  EXPECT_EQ(kDivergingPalette.first + kDivergingPalette.last, 2 * 128);
  EXPECT_EQ(colors[128], (Color{255, 255, 255}));
  for (std::size_t i = 1; i < 128; ++i) EXPECT_GT(colors[i].blue, colors[i].red) << i;
  for (std::size_t i = 129; i < 256; ++i) EXPECT_GT(colors[i].red, colors[i].blue) << i;
  for (std::size_t i = 2; i <= 128; ++i) EXPECT_GT(brightness(colors[i]), brightness(colors[i - 1])) << i;
  for (std::size_t i = 129; i < 256; ++i) EXPECT_LT(brightness(colors[i]), brightness(colors[i - 1])) << i;
}

TEST(Palettes, LeaveTheColoursOfNanAndInfinityFree) {
  for (const Palette* palette : {&kGreyPalette, &kViridisPalette, &kDivergingPalette}) {
    for (const Color& color : palette->colors) {
      for (const Color& taken : {kNanColor, kInfinityColor}) {
        const int distance =
            std::abs(color.red - taken.red) + std::abs(color.green - taken.green) + std::abs(color.blue - taken.blue);
        EXPECT_GT(distance, 60);
      }
    }
  }
}

TEST(Grey, IsTheIndexItself) {
  for (std::size_t i = 0; i < 256; ++i) {
    const auto level = static_cast<std::uint8_t>(i);
    EXPECT_EQ(kGreyPalette.colors[i], (Color{level, level, level}));
  }
}

}  // namespace
}  // namespace sonde::render
