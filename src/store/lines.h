// Questions about scalar series that the page needs and sonde/log.h does not offer.
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

// A point that is d steps back has the weight weight^(d / interval) in an average.
struct Smoothing {
  // NOLINTNEXTLINE(google-explicit-constructor): mostly only a weight is given
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
  std::uint64_t count = 0;  // of all points; if 0, the rest is undefined
  Point first;
  Point last;
  double smoothed = 0;  // at the last point; NaN if that is not finite
  // Of the finite values; NaN if there are none.
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

// A series with non-finite values, in its newest history.
struct NonFiniteSeries {
  std::string tag;
  TagKind kind = TagKind::scalars;
  std::uint64_t count = 0;      // points
  std::int64_t first_step = 0;  // of the first of them
  double first_time = 0;
  std::uint64_t nan = 0;  // only for scalars, as the following
  std::uint64_t infinite = 0;
  bool until_the_end = false;  // no finite point follows the first of them
};

// The intermediate results of a source for a smoothed line, reusable for the next question about the same series. Only
// the source creates and understands them.
class Averages {
 public:
  Averages() = default;
  virtual ~Averages() = default;
  Averages(const Averages&) = delete;
  Averages& operator=(const Averages&) = delete;
  virtual const Smoothing& smoothing() const noexcept = 0;  // as requested
  virtual std::size_t memory() const noexcept = 0;          // bytes
};

}  // namespace sonde::store
