#include "index/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "index/extremes.h"
#include "index/smooth.h"

namespace sonde::index {
namespace {

constexpr std::size_t kBlock = Column::kBlock;

// A point, and which one it is: stretches count from 0, points within their column.
struct Candidate {
  Point point;
  std::size_t stretch = 0;
  std::size_t index = 0;
};

struct Cell {
  bool any = false;  // finite points
  Candidate first;
  Candidate last;
  Candidate min;
  Candidate max;
  Drawing::NonFinite non_finite;

  bool has_non_finite() const noexcept {
    return non_finite.nan + non_finite.positive_infinity + non_finite.negative_infinity > 0;
  }
};

class Canvas {
 public:
  Canvas(std::span<const ColumnStretch> stretches, int width, const Range& range, Axis axis, const Smoothed* smoothed)
      : stretches_(stretches),
        range_(range),
        axis_(axis),
        smoothed_(smoothed),
        cells_(static_cast<std::size_t>(std::max(width, 1))) {
    find_limits();
  }

  Drawing draw() {
    for (std::size_t s = 0; s < stretches_.size(); ++s) {
      const ColumnStretch& stretch = stretches_[s];
      for (std::size_t b = stretch.begin / kBlock; b * kBlock < stretch.end; ++b) {
        const std::size_t begin = std::max(stretch.begin, b * kBlock);
        const std::size_t end = std::min(stretch.end, (b + 1) * kBlock);
        if (!add_block(s, b, begin, end) && !add_slices(s, b, begin, end)) add_points(s, b, begin, end);
      }
    }
    return collect();
  }

 private:
  double position(const Point& point) const noexcept {
    return axis_ == Axis::step ? static_cast<double>(point.step) : point.time;
  }
  bool inside(const Point& point) const noexcept {
    return point.step >= range_.first_step && point.step <= range_.last_step && !(point.time < range_.first_time) &&
           !(point.time > range_.last_time);
  }
  std::size_t cell_of(std::int64_t step, double time) const noexcept {
    // Differences first: steps beyond 2^53 are not doubles, their distances mostly are.
    const double distance =
        axis_ == Axis::step
            ? static_cast<double>(static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(first_step_))
            : time - low_;
    const double column = distance * scale_;
    const auto last = cells_.size() - 1;
    return column > 0 ? std::min(last, static_cast<std::size_t>(std::min(column, 1e9))) : 0;
  }

  void find_limits() {
    first_step_ = range_.first_step;
    std::int64_t last_step = range_.last_step;
    low_ = range_.first_time;
    double high = range_.last_time;
    const bool open_steps = first_step_ == Range{}.first_step || last_step == Range{}.last_step;
    const bool open_times = std::isinf(low_) || std::isinf(high);
    if (axis_ == Axis::step ? open_steps : open_times) {
      const Extent extent = find_extent();
      if (first_step_ == Range{}.first_step) first_step_ = extent.first_step;
      if (last_step == Range{}.last_step) last_step = extent.last_step;
      if (std::isinf(low_)) low_ = extent.low;
      if (std::isinf(high)) high = extent.high;
    }
    const double span =
        axis_ == Axis::step
            ? static_cast<double>(static_cast<std::uint64_t>(last_step) - static_cast<std::uint64_t>(first_step_)) + 1
            : high - low_;
    scale_ = span > 0 ? static_cast<double>(cells_.size()) / span : 0;
  }

  struct Extent {
    std::int64_t first_step = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_step = std::numeric_limits<std::int64_t>::min();
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
  };
  // Of the points in the range. Steps ascend in a stretch, and stretches are in the range of steps already.
  Extent find_extent() const {
    Extent extent;
    Points points;
    for (const ColumnStretch& stretch : stretches_) {
      extent.first_step = std::min(extent.first_step, stretch.column->step_at(stretch.begin));
      extent.last_step = std::max(extent.last_step, stretch.column->step_at(stretch.end - 1));
      if (axis_ == Axis::step) continue;
      const auto add_time = [&](double time) {
        if (std::isnan(time) || time < range_.first_time || time > range_.last_time) return;
        extent.low = std::min(extent.low, time);
        extent.high = std::max(extent.high, time);
      };
      for (std::size_t b = stretch.begin / kBlock; b * kBlock < stretch.end; ++b) {
        const std::size_t begin = std::max(stretch.begin, b * kBlock);
        const std::size_t end = std::min(stretch.end, (b + 1) * kBlock);
        const Column::Block* block = stretch.column->block(b);
        const bool narrow = !std::isinf(range_.first_time) || !std::isinf(range_.last_time);
        if (block != nullptr && block->times_ascend && !narrow && end - begin == block->count) {
          add_time(block->first.time);
          add_time(block->last.time);
          continue;
        }
        stretch.column->unpack(b, points);
        for (std::size_t i = begin - b * kBlock; i < end - b * kBlock; ++i) add_time(points.times[i]);
      }
    }
    return extent;
  }

  // Points out of order that were sorted by step have times that go up and down, which count only where times are asked
  // for.
  bool times_suffice(const Column::Block& block) const noexcept {
    const bool any_time = std::isinf(range_.first_time) && std::isinf(range_.last_time);
    return block.has_times_between() || (axis_ == Axis::step && any_time);
  }

  // From the block's summary; false if that is not enough.
  bool add_block(std::size_t s, std::size_t b, std::size_t begin, std::size_t end) {
    const Column& column = *stretches_[s].column;
    const Column::Block* block = column.block(b);
    if (block == nullptr || !block->all_finite() || !times_suffice(*block) || end - begin != block->count) return false;
    const Point& first = block->first;
    const Point& last = block->last;
    if (last.step < range_.first_step || first.step > range_.last_step || last.time < range_.first_time ||
        first.time > range_.last_time) {
      return true;  // none of it
    }
    if (!inside(first) || !inside(last)) return false;
    const std::size_t cell = cell_of(first.step, first.time);
    if (cell != cell_of(last.step, last.time)) return false;
    total_ += block->count;
    if (smoothed_ == nullptr) {
      add_slice(cells_[cell],
                {s, begin, end, first, last, block->min, block->max, begin + block->min_at, begin + block->max_at});
      return true;
    }
    const Smoothed::Block& averages = smoothed_->block(stretches_[s].number, b);
    add_slice(cells_[cell], {s,
                             begin,
                             end,
                             {first.step, first.time, averages.first},
                             {last.step, last.time, averages.last},
                             averages.min,
                             averages.max,
                             begin + averages.min_at,
                             begin + averages.max_at});
    return true;
  }

  // Points [begin, end) of a column, all finite and in the same cell.
  struct Slice {
    std::size_t stretch = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    Point first;
    Point last;
    double min = 0;
    double max = 0;
    std::size_t min_at = 0;
    std::size_t max_at = 0;
  };
  // As if its points had been added one after the other.
  void add_slice(Cell& cell, const Slice& slice) noexcept {
    const auto candidate = [&](std::size_t at, double value) {
      const Column& column = *stretches_[slice.stretch].column;
      return Candidate{{column.step_at(at), column.time_at(at), value}, slice.stretch, at};
    };
    if (!cell.any || slice.min < cell.min.point.value) cell.min = candidate(slice.min_at, slice.min);
    if (!cell.any || slice.max > cell.max.point.value) cell.max = candidate(slice.max_at, slice.max);
    if (!cell.any || position(slice.first) < position(cell.first.point)) {
      cell.first = {slice.first, slice.stretch, slice.begin};
    }
    if (!cell.any || position(slice.last) >= position(cell.last.point)) {
      cell.last = {slice.last, slice.stretch, slice.end - 1};
    }
    cell.any = true;
  }

  // A block that is in a few cells: only its values are unpacked, and the borders of the cells are searched for.
  // False if it is in many, or its points are not in the order of the cells.
  bool add_slices(std::size_t s, std::size_t b, std::size_t begin, std::size_t end) {
    constexpr std::size_t kMostCells = 16;
    const Column& column = *stretches_[s].column;
    const Column::Block* block = column.block(b);
    if (block == nullptr || !block->all_finite() || !times_suffice(*block)) return false;
    const auto first_where = [&](std::size_t from, auto reached) {
      std::size_t low = from;
      std::size_t high = end;
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (reached(middle)) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    };
    const auto cell_at = [&](std::size_t at) {  // only one of the two is needed, and unpacked
      return axis_ == Axis::step ? cell_of(column.step_at(at), 0) : cell_of(0, column.time_at(at));
    };
    // Stretches are cut to the range of steps already, but not to that of times.
    if (block->first.time < range_.first_time) {
      begin = first_where(begin, [&](std::size_t at) { return column.time_at(at) >= range_.first_time; });
    }
    if (block->last.time > range_.last_time) {
      end = first_where(begin, [&](std::size_t at) { return column.time_at(at) > range_.last_time; });
    }
    if (begin == end) return true;
    if (cell_at(end - 1) - cell_at(begin) >= kMostCells) return false;
    double values[kBlock];
    const std::size_t count = column.unpack_values(b, values);
    if (smoothed_ != nullptr) smoothed_->apply(stretches_[s].number, b, count, values);
    total_ += end - begin;
    while (begin < end) {
      const std::size_t cell = cell_at(begin);
      const std::size_t behind = first_where(begin + 1, [&](std::size_t at) { return cell_at(at) != cell; });
      const double* const from = values + (begin - b * kBlock);
      const Extremes found = extremes_of_finite(from, behind - begin);
      const auto point_at = [&](std::size_t at) {
        return Point{column.step_at(at), column.time_at(at), values[at - b * kBlock]};
      };
      add_slice(cells_[cell], {s, begin, behind, point_at(begin), point_at(behind - 1), found.min, found.max,
                               begin + found.min_at, begin + found.max_at});
      begin = behind;
    }
    return true;
  }

  void add_points(std::size_t s, std::size_t b, std::size_t begin, std::size_t end) {
    Points points;
    const std::size_t count = stretches_[s].column->unpack(b, points);
    if (smoothed_ != nullptr) smoothed_->apply(stretches_[s].number, b, count, points.values);
    for (std::size_t index = begin; index < end; ++index) {
      const std::size_t i = index - b * kBlock;
      const Point point = {points.steps[i], points.times[i], points.values[i]};
      if (!inside(point)) continue;
      ++total_;
      Cell& cell = cells_[cell_of(point.step, point.time)];
      if (std::isfinite(point.value)) {
        add_finite(cell, {point, s, index});
      } else if (smoothed_ == nullptr) {
        add_non_finite(cell, point);
      }
    }
  }

  // The earlier of two points at one place comes first, in the order of the stretches.
  void add_finite(Cell& cell, const Candidate& candidate) noexcept {
    if (!cell.any) {
      cell.any = true;
      cell.first = cell.last = cell.min = cell.max = candidate;
      return;
    }
    const double at = position(candidate.point);
    if (at < position(cell.first.point)) cell.first = candidate;
    if (at >= position(cell.last.point)) cell.last = candidate;
    if (candidate.point.value < cell.min.point.value) cell.min = candidate;
    if (candidate.point.value > cell.max.point.value) cell.max = candidate;
  }

  void add_non_finite(Cell& cell, const Point& point) noexcept {
    Drawing::NonFinite& found = cell.non_finite;
    const double at = axis_ == Axis::step ? static_cast<double>(found.step) : found.wall_time;
    if (!cell.has_non_finite() || position(point) < at) {
      found.step = point.step;
      found.wall_time = point.time;
    }
    if (std::isnan(point.value)) {
      ++found.nan;
    } else if (point.value > 0) {
      ++found.positive_infinity;
    } else {
      ++found.negative_infinity;
    }
  }

  Drawing collect() const {
    Drawing drawing;
    drawing.total = total_;
    for (const Cell& cell : cells_) {
      if (cell.has_non_finite()) drawing.non_finite.push_back(cell.non_finite);
      if (!cell.any) continue;
      Candidate found[] = {cell.first, cell.min, cell.max, cell.last};
      const auto before = [this](const Candidate& a, const Candidate& b) {
        const double pa = position(a.point);
        const double pb = position(b.point);
        if (pa != pb) return pa < pb;
        return a.stretch != b.stretch ? a.stretch < b.stretch : a.index < b.index;
      };
      std::ranges::sort(found, before);
      const Candidate* previous = nullptr;
      for (const Candidate& candidate : found) {
        if (previous != nullptr && previous->stretch == candidate.stretch && previous->index == candidate.index) {
          continue;
        }
        drawing.points.steps.push_back(candidate.point.step);
        drawing.points.wall_times.push_back(candidate.point.time);
        drawing.points.values.push_back(candidate.point.value);
        previous = &candidate;
      }
    }
    return drawing;
  }

  std::span<const ColumnStretch> stretches_;
  Range range_;
  Axis axis_;
  const Smoothed* smoothed_;
  std::vector<Cell> cells_;
  std::int64_t first_step_ = 0;
  double low_ = 0;
  double scale_ = 0;
  std::uint64_t total_ = 0;
};

// Finds the nearest finite point next to a range, on one side of it.
class Neighbour {
 public:
  enum class Side : std::uint8_t { before, behind };
  Neighbour(const Range& range, Axis axis, Side side, const Smoothed* smoothed)
      : range_(range), axis_(axis), side_(side), smoothed_(smoothed) {}

  std::optional<Point> find(std::span<const ColumnStretch> stretches) {
    if (!is_limited()) return std::nullopt;
    for (const ColumnStretch& stretch : stretches) look_through(axis_ == Axis::step ? outer_part(stretch) : stretch);
    return found_;
  }

 private:
  bool is_limited() const noexcept {
    if (axis_ == Axis::step) {
      return side_ == Side::before ? range_.first_step != Range{}.first_step : range_.last_step != Range{}.last_step;
    }
    return !std::isinf(side_ == Side::before ? range_.first_time : range_.last_time);
  }
  // Steps ascend in a stretch, so that those on one side are contiguous.
  ColumnStretch outer_part(ColumnStretch stretch) const noexcept {
    std::size_t low = stretch.begin;
    std::size_t high = stretch.end;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      const std::int64_t step = stretch.column->step_at(middle);
      if (side_ == Side::before ? step < range_.first_step : step <= range_.last_step) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    (side_ == Side::before ? stretch.end : stretch.begin) = low;
    return stretch;
  }
  // The nearest block first. By steps, the first point that is found is the nearest of the stretch.
  void look_through(const ColumnStretch& stretch) {
    if (stretch.begin == stretch.end) return;
    const std::size_t first = stretch.begin / kBlock;
    const std::size_t blocks = (stretch.end - 1) / kBlock + 1 - first;
    for (std::size_t i = 0; i < blocks; ++i) {
      const bool found = look_at(stretch, side_ == Side::before ? first + blocks - 1 - i : first + i);
      if (found && axis_ == Axis::step) return;
    }
  }
  bool is_outside(std::int64_t step, double time) const noexcept {
    if (axis_ == Axis::step) return side_ == Side::before ? step < range_.first_step : step > range_.last_step;
    return side_ == Side::before ? time < range_.first_time : time > range_.last_time;
  }
  bool is_nearer(std::int64_t step, double time) const noexcept {
    if (!found_) return true;
    if (axis_ == Axis::step) return side_ == Side::before ? step > found_->step : step < found_->step;
    return side_ == Side::before ? time > found_->time : time < found_->time;
  }
  // Whether the block's summary rules it out.
  bool is_useless(const Column::Block& block) const noexcept {
    if (block.count == block.nan + block.positive_infinity + block.negative_infinity) return true;
    if (axis_ != Axis::step && !block.times_ascend) return false;
    const Point& outer = side_ == Side::before ? block.first : block.last;
    const Point& inner = side_ == Side::before ? block.last : block.first;
    return !is_outside(outer.step, outer.time) || !is_nearer(inner.step, inner.time);
  }
  // Whether it has a finite point on the side.
  bool look_at(const ColumnStretch& stretch, std::size_t b) {
    const Column::Block* block = stretch.column->block(b);
    if (block != nullptr && is_useless(*block)) return false;
    Points points;
    const std::size_t count = stretch.column->unpack(b, points);
    if (smoothed_ != nullptr) smoothed_->apply(stretch.number, b, count, points.values);
    const std::size_t begin = std::max(stretch.begin, b * kBlock) - b * kBlock;
    const std::size_t end = std::min(stretch.end - b * kBlock, count);
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(points.values[i]) || !is_outside(points.steps[i], points.times[i])) continue;
      any = true;
      if (is_nearer(points.steps[i], points.times[i])) found_ = {points.steps[i], points.times[i], points.values[i]};
    }
    return any;
  }

  const Range& range_;
  Axis axis_;
  Side side_;
  const Smoothed* smoothed_;
  std::optional<Point> found_;
};

}  // namespace

Drawing draw(std::span<const ColumnStretch> stretches, int width, const Range& range, Axis axis,
             const Smoothed* smoothed) {
  return Canvas(stretches, width, range, axis, smoothed).draw();
}

void add_neighbours(std::span<const ColumnStretch> stretches, const Range& range, Axis axis, const Smoothed* smoothed,
                    Scalars& points) {
  if (const auto before = Neighbour(range, axis, Neighbour::Side::before, smoothed).find(stretches)) {
    points.steps.insert(points.steps.begin(), before->step);
    points.wall_times.insert(points.wall_times.begin(), before->time);
    points.values.insert(points.values.begin(), before->value);
  }
  if (const auto behind = Neighbour(range, axis, Neighbour::Side::behind, smoothed).find(stretches)) {
    points.steps.push_back(behind->step);
    points.wall_times.push_back(behind->time);
    points.values.push_back(behind->value);
  }
}

}  // namespace sonde::index
