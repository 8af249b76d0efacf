#include "render/colormap.h"

#include <cstddef>
#include <span>

namespace sonde::render {
namespace {

struct Anchor {
  int index;
  std::uint32_t rgb;
};

constexpr std::uint8_t channel(std::uint32_t rgb, int shift) noexcept {
  return static_cast<std::uint8_t>((rgb >> shift) & 0xff);
}

constexpr std::uint8_t between(const Anchor& a, const Anchor& b, int index, int shift) noexcept {
  const int from = channel(a.rgb, shift);
  const int to = channel(b.rgb, shift);
  const int length = b.index - a.index;
  // Rounded to nearest; the sum is never negative.
  return static_cast<std::uint8_t>((2 * (from * (b.index - index) + to * (index - a.index)) + length) / (2 * length));
}

// Straight lines between the anchors, which are in order; the same colour before the first and after the last.
constexpr Palette interpolate(std::span<const Anchor> anchors) noexcept {
  Palette palette{{}, anchors.front().index, anchors.back().index};
  std::size_t next = 1;
  for (int i = 0; i < 256; ++i) {
    const int index = i < palette.first ? palette.first : i > palette.last ? palette.last : i;
    while (next + 1 < anchors.size() && anchors[next].index < index) ++next;
    const Anchor& a = anchors[next - 1];
    const Anchor& b = anchors[next];
    palette.colors[static_cast<std::size_t>(i)] = {between(a, b, index, 16), between(a, b, index, 8),
                                                   between(a, b, index, 0)};
  }
  return palette;
}

constexpr Anchor kGrey[] = {{0, 0x000000}, {255, 0xffffff}};
constexpr Anchor kViridis[] = {{0, 0x440154},   {20, 0x481d6f},  {35, 0x46307e},  {56, 0x3e4989},
                               {88, 0x2f6b8e},  {127, 0x21908d}, {142, 0x1f9e89}, {153, 0x22a884},
                               {166, 0x2fb47c}, {181, 0x48c16e}, {198, 0x6ccd5a}, {221, 0xa5db36},
                               {236, 0xcde11d}, {244, 0xe2e418}, {253, 0xf8e621}, {255, 0xfde725}};
// Dark ends, so that the sign of a large value is visible, and equally fast to white on both sides.
constexpr Anchor kDiverging[] = {{1, 0x0a3a8a},   {44, 0x2f74c0},  {86, 0x93bfe4}, {128, 0xffffff},
                                 {170, 0xf0ab97}, {212, 0xc9443c}, {255, 0x8a0a1e}};

}  // namespace

constexpr Palette kGreyPalette = interpolate(kGrey);
constexpr Palette kViridisPalette = interpolate(kViridis);
constexpr Palette kDivergingPalette = interpolate(kDiverging);

}  // namespace sonde::render
