// Down-sampling a series for a drawing (M4): what `Drawing` of sonde/log.h says.
#pragma once

#include <span>

#include "index/column.h"
#include "index/history.h"
#include "sonde/log.h"

namespace sonde::index {

// A stretch with the column that it is of.
struct ColumnStretch {
  const Column* column = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Stretches are not empty, their steps ascend and are within the range of steps. Blocks that lie inside one pixel
// column, as nearly all do in a long series, are answered from what is known of them; the others are unpacked.
Drawing draw(std::span<const ColumnStretch> stretches, int width, const Range& range, Axis axis);

}  // namespace sonde::index
