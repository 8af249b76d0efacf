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
  std::size_t number = 0;  // of the stretch that it is a part of, in a Smoothed
};

class Smoothed;

// Stretches are not empty, their steps ascend and are within the range of steps. Blocks that lie inside one pixel
// column, as nearly all do in a long series, are answered from what is known of them; the others are unpacked.
// With `smoothed`, its averages are drawn in the place of the values, and what is not finite is left out.
Drawing draw(std::span<const ColumnStretch> stretches, int width, const Range& range, Axis axis,
             const Smoothed* smoothed = nullptr);

// Puts the nearest finite point on each side of the range in front of and behind the points of a drawing. Here the
// stretches are whole, not cut to the range.
void add_neighbours(std::span<const ColumnStretch> stretches, const Range& range, Axis axis, const Smoothed* smoothed,
                    Scalars& points);

}  // namespace sonde::index
