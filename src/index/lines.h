// Questions about scalar series that the page asks and sonde/log.h has no answer for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/column.h"
#include "index/smooth.h"
#include "sonde/log.h"

namespace sonde::index {

struct LineRequest {
  int width = 0;  // 1 to 65,536
  Range range = {};
  Axis axis = Axis::step;
  double smooth = 0;  // the weight, 0 to below 1; 0: no smoothed line
};

struct DrawnLine {
  Drawing raw;       // with the nearest finite point on each side of the range
  Scalars smoothed;  // likewise
};

// Numbers about the points of a range.
struct LineSummary {
  std::uint64_t count = 0;  // of all points; without any, the rest means nothing
  Point first;
  Point last;
  double smoothed = 0;  // at the last point; NaN where that is not finite
  // Of the finite values; NaN where there are none.
  Point min;
  Point max;
  double mean = 0;
};

// Pixel columns that several runs share. Positions are steps, or seconds since `origin`.
struct Grid {
  Axis axis = Axis::step;
  double origin = 0;
  double low = 0;    // position of the first column's left edge
  double scale = 0;  // columns per unit
  std::size_t width = 1;
};
struct GridCell {
  double sum = 0;  // of finite values
  double position_sum = 0;
  std::uint64_t count = 0;
};

// A series in which something was not finite, in its newest history.
struct NonFiniteSeries {
  std::string tag;
  TagKind kind = TagKind::scalars;
  std::uint64_t count = 0;      // points
  std::int64_t first_step = 0;  // of the first of them
  double first_time = 0;
  std::uint64_t nan = 0;  // of scalars only, as the following
  std::uint64_t infinite = 0;
  bool until_the_end = false;  // no finite point comes after the first
};

}  // namespace sonde::index
