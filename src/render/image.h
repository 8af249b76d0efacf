// Pictures of tensors. One element is one pixel: viewers enlarge, pictures stay exact.
//
// As colours (ColorMap::automatic with 1, 3 or 4 channels) the values are shown directly: u8 unchanged; otherwise [low,
// high] is stretched to 0..255, by default [0, 1] for floats and bool, the full range for u16, and 0..255 for the other
// integers. Values outside are clamped.
// With a colour map every channel is a separate picture, and [low, high] spans the whole map; so white, the middle of
// the diverging map, is zero if low = -high. If all values are equal they get the lowest colour of viridis and grey.
// Several pictures - a batch, channels, or channels of a batch, image by image - are the cells of a roughly square
// grid, one pixel apart, row by row; if there are more than max_cells, the first ones are drawn.
// NaN is pink and an infinity orange, in every kind of picture: grey ones become RGB if necessary.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"

namespace sonde::render {

struct Picture {
  int width = 0;
  int height = 0;
  int channels = 0;                  // 1: grey, 3: RGB, 4: RGBA
  std::vector<std::uint8_t> pixels;  // rows from the top, no padding
};

// The letters of its axes: "NHWC".
std::string_view to_string(Layout layout) noexcept;

// Draws a tensor with as many axes as its layout has letters. Fails with invalid_argument if it has others, if there is
// nothing to draw, or if the picture would exceed 2^28 pixels; complex tensors are unsupported.
// Without a layout the axes decide: one is a row, two are HW, three are HWC if the last one has 1, 3 or 4 elements and
// NHW otherwise, four are NHWC. Up to three axes without colours are a matrix rather than a photograph: under
// ColorMap::automatic it is grey from its smallest value to its largest, unless it is of u8, u16 or bool.
Result<Picture> draw(const TensorView& view, std::optional<Layout> layout, const ImageOptions& options = {});

}  // namespace sonde::render
