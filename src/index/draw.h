// Down-samples a series for a drawing (M4): see `Drawing` of sonde/log.h.
#pragma once

#include <span>

#include "index/column.h"
#include "index/history.h"
#include "sonde/log.h"

namespace sonde::index {

// A stretch and its column.
struct ColumnStretch {
  const Column* column = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t number = 0;  // index of the stretch in a Smoothed
};

class Smoothed;

// Stretches are not empty, their steps ascend and are within the range of steps. Blocks inside one pixel column, nearly
// all in a long series, are answered from their summary; the others are unpacked. With `smoothed`, its averages are
// drawn instead of the values, and non-finite points are left out.
Drawing draw(std::span<const ColumnStretch> stretches, int width, const Range& range, Axis axis,
             const Smoothed* smoothed = nullptr);

// Adds the nearest finite point on each side of the range before and after the points of a drawing. Here the stretches
// are whole, not limited to the range.
void add_neighbours(std::span<const ColumnStretch> stretches, const Range& range, Axis axis, const Smoothed* smoothed,
                    Scalars& points);

}  // namespace sonde::index
