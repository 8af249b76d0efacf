// Questions about scalar series that the page asks and sonde/log.h has no answer for.
#pragma once

#include <cstdint>
#include <string>

#include "sonde/log.h"

namespace sonde::store {

struct Point {
  std::int64_t step = 0;
  double time = 0;
  double value = 0;
};

// A point that lies d steps back counts weight^(d / interval) in an average.
struct Smoothing {
  // NOLINTNEXTLINE(google-explicit-constructor): mostly there is a weight and nothing else
  Smoothing(double its_weight = 0, double its_interval = 0) noexcept : weight(its_weight), interval(its_interval) {}

  double weight;    // 0 to below 1; 0: no smoothing
  double interval;  // steps; 0: that of the series (Tag::interval)

  bool operator==(const Smoothing&) const = default;
};

struct LineRequest {
  int width = 0;  // 1 to 65,536
  Range range = {};
  Axis axis = Axis::step;
  Smoothing smooth = {};  // with a weight of 0 there is no smoothed line
};

struct DrawnLine {
  Drawing raw;       // with the nearest finite point on each side of the range
  Scalars smoothed;  // the same
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

// What a source has worked out for a smoothed line, and can use again for the next question about the same series.
// Made and understood by the source alone.
class Averages {
 public:
  Averages() = default;
  virtual ~Averages() = default;
  Averages(const Averages&) = delete;
  Averages& operator=(const Averages&) = delete;
  virtual const Smoothing& smoothing() const noexcept = 0;  // as it was asked for
  virtual std::size_t memory() const noexcept = 0;          // bytes
};

}  // namespace sonde::store
