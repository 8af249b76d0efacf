// What charts and tables ask about the scalar series of a run.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "index/draw.h"
#include "index/ordered.h"
#include "index/run_index.h"
#include "index/select.h"
#include "index/smooth.h"
#include "index/stat_select.h"

namespace sonde::index {
namespace {

constexpr std::size_t kBlock = Column::kBlock;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The parts of the stretches that are in the range of steps.
std::vector<ColumnStretch> cut_to(std::span<const ColumnStretch> stretches, const Range& range) {
  std::vector<ColumnStretch> cut;
  for (const ColumnStretch& stretch : stretches) {
    Selected<Column> selected = {stretch.column, stretch.begin, stretch.end, 0};
    narrow(selected, range);
    if (selected.begin < selected.end) cut.push_back({stretch.column, selected.begin, selected.end, stretch.number});
  }
  return cut;
}

// Several writers at once: an average over all points by ascending step goes from one stretch to the other and back.
bool overlap(std::span<const ColumnStretch> stretches) {
  for (std::size_t i = 1; i < stretches.size(); ++i) {
    const ColumnStretch& before = stretches[i - 1];
    if (stretches[i].column->step_at(stretches[i].begin) < before.column->step_at(before.end - 1)) return true;
  }
  return false;
}

// Calls `visit(point)` for each point of the stretches in the range, unless `take(column, block, its first point)` has
// taken the whole block, which is offered if the stretch contains all of it and the range all of its times.
template <class Take, class Visit>
void visit_blocks(std::span<const ColumnStretch> stretches, const Range& range, Take take, Visit visit) {
  const bool any_time = std::isinf(range.first_time) && std::isinf(range.last_time);
  Points points;
  for (const ColumnStretch& stretch : stretches) {
    for (std::size_t b = stretch.begin / kBlock; b * kBlock < stretch.end; ++b) {
      const std::size_t begin = std::max(stretch.begin, b * kBlock) - b * kBlock;
      const std::size_t end = std::min(stretch.end - b * kBlock, kBlock);
      const Column::Block* block = stretch.column->block(b);
      const bool whole = block != nullptr && end - begin == block->count &&
                         (any_time || (block->has_times_between() && block->first.time >= range.first_time &&
                                       block->last.time <= range.last_time));
      if (whole && take(*stretch.column, *block, b * kBlock)) continue;
      stretch.column->unpack(b, points);
      for (std::size_t i = begin; i < end; ++i) {
        if (contains(range, points.steps[i], points.times[i])) {
          visit(Point{points.steps[i], points.times[i], points.values[i]});
        }
      }
    }
  }
}

template <class Visit>
void visit_points(std::span<const ColumnStretch> stretches, const Range& range, Visit visit) {
  visit_blocks(stretches, range, [](const Column&, const Column::Block&, std::size_t) { return false; }, visit);
}

// All finite points by ascending step, as one column.
Column merged(std::span<const ColumnStretch> stretches) {
  std::vector<Point> all;
  visit_points(stretches, {}, [&](const Point& point) {
    if (std::isfinite(point.value)) all.push_back(point);
  });
  std::ranges::stable_sort(all, BeforeByStep());
  Column column;
  for (const Point& point : all) column.append(point.step, point.time, point.value);
  column.pack();
  return column;
}

// The average at a point of a stretch.
double smoothed_at(const Smoothed& smoothed, const ColumnStretch& stretch, std::size_t index) {
  Points points;
  const std::size_t count = stretch.column->unpack(index / kBlock, points);
  smoothed.apply(stretch.number, index / kBlock, count, points.values);
  const double value = points.values[index % kBlock];
  return std::isfinite(value) ? value : kNaN;
}

// The last point at or before a step, else the first one: a stretch with that point alone.
ColumnStretch nearest_point(std::span<const ColumnStretch> stretches, std::int64_t step) {
  ColumnStretch found;
  for (const ColumnStretch& one : cut_to(stretches, {.last_step = step})) {
    const ColumnStretch last = {one.column, one.end - 1, one.end, one.number};
    if (found.column == nullptr || last.column->step_at(last.begin) >= found.column->step_at(found.begin)) found = last;
  }
  if (found.column != nullptr) return found;
  for (const ColumnStretch& one : stretches) {
    const ColumnStretch first = {one.column, one.begin, one.begin + 1, one.number};
    if (found.column == nullptr || first.column->step_at(first.begin) < found.column->step_at(found.begin))
      found = first;
  }
  return found;
}

LineSummary summarize(std::span<const ColumnStretch> stretches, const Range& range) {
  LineSummary summary;
  summary.min.value = summary.max.value = kNaN;
  double sum = 0;
  std::uint64_t finite = 0;
  const auto take_ends = [&](const Point& first, const Point& last) {
    if (summary.count == 0 || first.step < summary.first.step) summary.first = first;
    if (summary.count == 0 || last.step >= summary.last.step) summary.last = last;
  };
  const auto take_block = [&](const Column& column, const Column::Block& block, std::size_t begin) {
    take_ends(block.first, block.last);
    summary.count += block.count;
    const std::size_t here = block.count - block.not_finite();
    if (here == 0) return true;
    if (finite == 0 || block.min < summary.min.value) summary.min = column.at(begin + block.min_at);
    if (finite == 0 || block.max > summary.max.value) summary.max = column.at(begin + block.max_at);
    sum += block.sum;
    finite += here;
    return true;
  };
  visit_blocks(stretches, range, take_block, [&](const Point& point) {
    take_ends(point, point);
    ++summary.count;
    if (!std::isfinite(point.value)) return;
    if (finite == 0 || point.value < summary.min.value) summary.min = point;
    if (finite == 0 || point.value > summary.max.value) summary.max = point;
    sum += point.value;
    ++finite;
  });
  summary.mean = finite > 0 ? sum / static_cast<double>(finite) : kNaN;
  return summary;
}

}  // namespace

std::vector<ColumnStretch> RunIndex::newest_stretches(const Series& series) const {
  std::vector<ColumnStretch> stretches;
  for (const Selected<Column>& one : select(data_, series.columns, series, data_.timeline(), History::newest)) {
    if (one.begin < one.end) stretches.push_back({one.source, one.begin, one.end, stretches.size()});
  }
  return stretches;
}

// Points out of order are mostly in the order of their times: a drawing over time uses them as written, if no restart
// has replaced any and no steps are selected, since blocks of ascending times are drawn quickly.
RunIndex::Stretches RunIndex::stretches_for(const Series& series, Axis axis, const Range& range) const {
  std::vector<ColumnStretch> whole = newest_stretches(series);
  const bool all_steps = range.first_step == Range().first_step && range.last_step == Range().last_step;
  if (axis == Axis::wall_time && all_steps) {
    std::size_t points = 0;
    for (const ColumnStretch& stretch : whole) points += stretch.end - stretch.begin;
    if (points == written_points(series.columns)) {
      whole.clear();
      for (const auto& entry : series.columns.entries()) {
        if (entry.source.size() > 0) whole.push_back({&entry.source, 0, entry.source.size(), whole.size()});
      }
      return {whole, whole};
    }
  }
  std::vector<ColumnStretch> part = cut_to(whole, range);
  return {std::move(whole), std::move(part)};
}

std::shared_ptr<const Smoothed> RunIndex::smooth(const Series& series, std::span<const ColumnStretch> stretches,
                                                 const Smoothing& smoothing,
                                                 std::shared_ptr<const Smoothed>& kept) const {
  std::uint64_t generation = data_.generation;
  for (const auto& entry : series.columns.entries()) {
    if (entry.sorted != nullptr) generation = std::max(generation, entry.sorted->generation());
  }
  kept = Smoothed::make(stretches, smoothing, generation, std::move(kept));
  return kept;
}

Result<DrawnLine> RunIndex::line(std::string_view tag, const LineRequest& request,
                                 std::shared_ptr<const Smoothed>& smoothed) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const std::shared_ptr<const Series> series = find_line(tag);
  if (series == nullptr) return no_such_tag(tag, TagKind::scalars);
  const std::vector<ColumnStretch> whole = newest_stretches(*series);
  const std::vector<ColumnStretch> part = cut_to(whole, request.range);
  const Range& range = request.range;
  DrawnLine line;
  const Stretches raw = stretches_for(*series, request.axis, range);
  line.raw = index::draw(raw.part, request.width, range, request.axis);
  add_neighbours(raw.whole, range, request.axis, nullptr, line.raw.points);
  if (request.smooth.weight <= 0) return line;

  if (!overlap(whole)) {
    const auto averages = smooth(*series, whole, request.smooth, smoothed);
    line.smoothed = index::draw(part, request.width, range, request.axis, averages.get()).points;
    add_neighbours(whole, range, request.axis, averages.get(), line.smoothed);
    return line;
  }
  const Column column = merged(whole);
  if (column.size() == 0) return line;
  const ColumnStretch one[] = {{&column, 0, column.size(), 0}};
  const auto averages = Smoothed::make(one, request.smooth, 0, nullptr);
  line.smoothed = index::draw(cut_to(one, range), request.width, range, request.axis, averages.get()).points;
  add_neighbours(one, range, request.axis, averages.get(), line.smoothed);
  return line;
}

Result<LineSummary> RunIndex::summary(std::string_view tag, const Range& range, std::optional<std::int64_t> nearest,
                                      const Smoothing& smoothing, std::shared_ptr<const Smoothed>& smoothed) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const std::shared_ptr<const Series> series = find_line(tag);
  if (series == nullptr) return no_such_tag(tag, TagKind::scalars);
  const std::vector<ColumnStretch> whole = newest_stretches(*series);
  if (whole.empty()) return LineSummary();
  std::vector<ColumnStretch> part =
      nearest ? std::vector<ColumnStretch>{nearest_point(whole, *nearest)} : cut_to(whole, range);
  LineSummary summary = summarize(part, nearest ? Range{} : range);
  if (summary.count == 0) return summary;
  if (smoothing.weight <= 0 || !std::isfinite(summary.last.value)) {
    summary.smoothed = summary.last.value;
    return summary;
  }
  if (!overlap(whole)) {
    const auto averages = smooth(*series, whole, smoothing, smoothed);
    const ColumnStretch at = nearest_point(whole, summary.last.step);
    summary.smoothed = smoothed_at(*averages, at, at.begin);
    return summary;
  }
  const Column column = merged(whole);
  const ColumnStretch one[] = {{&column, 0, column.size(), 0}};
  const auto averages = Smoothed::make(one, smoothing, 0, nullptr);
  const ColumnStretch at = nearest_point(one, summary.last.step);
  summary.smoothed = smoothed_at(*averages, at, at.begin);
  return summary;
}

Result<std::uint64_t> RunIndex::accumulate(std::string_view tag, const Range& range, const Grid& grid,
                                           std::span<GridCell> cells) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const std::shared_ptr<const Series> series = find_line(tag);
  if (series == nullptr) return no_such_tag(tag, TagKind::scalars);
  std::uint64_t total = 0;
  const auto position_of = [&](const Point& point) {
    return (grid.axis == Axis::step ? static_cast<double>(point.step) : point.time) - grid.origin;
  };
  const auto cell_of = [&](double position) -> GridCell& {
    const double column = std::clamp((position - grid.low) * grid.scale, 0.0, static_cast<double>(grid.width - 1));
    return cells[static_cast<std::size_t>(column)];
  };
  const auto take_block = [&](const Column&, const Column::Block& block, std::size_t) {
    if (!block.all_finite() || (grid.axis != Axis::step && !block.has_times_between())) return false;
    const double first = position_of(block.first);
    GridCell& cell = cell_of(first);
    if (&cell != &cell_of(position_of(block.last))) return false;
    total += block.count;
    cell.sum += block.sum;
    cell.position_sum += first * block.count + (grid.axis == Axis::step ? block.step_sum : block.time_sum);
    cell.count += block.count;
    return true;
  };
  visit_blocks(cut_to(newest_stretches(*series), range), range, take_block, [&](const Point& point) {
    ++total;
    const double position = position_of(point);
    if (!std::isfinite(point.value) || !std::isfinite(position)) return;
    GridCell& cell = cell_of(position);
    cell.sum += point.value;
    cell.position_sum += position;
    ++cell.count;
  });
  return total;
}

namespace {

// For a scalar series, from the summaries of its blocks.
NonFiniteSeries non_finite_of(std::span<const ColumnStretch> stretches) {
  NonFiniteSeries found;
  bool finite_behind = false;
  Points points;
  for (const ColumnStretch& stretch : stretches) {
    for (std::size_t b = stretch.begin / kBlock; b * kBlock < stretch.end; ++b) {
      const Column::Block* block = stretch.column->block(b);
      if (block != nullptr && block->all_finite()) {
        finite_behind |= found.count > 0;
        continue;
      }
      const std::size_t begin = std::max(stretch.begin, b * kBlock) - b * kBlock;
      const std::size_t end = std::min(stretch.end - b * kBlock, kBlock);
      if (found.count > 0 && block != nullptr && end - begin == block->count) {
        const std::uint64_t infinite = std::uint64_t{block->positive_infinity} + block->negative_infinity;
        found.nan += block->nan;
        found.infinite += infinite;
        found.count += block->nan + infinite;
        finite_behind |= block->nan + infinite < block->count;
        continue;
      }
      stretch.column->unpack(b, points);
      for (std::size_t i = begin; i < end; ++i) {
        if (std::isfinite(points.values[i])) {
          finite_behind |= found.count > 0;
          continue;
        }
        if (found.count++ == 0) {
          found.first_step = points.steps[i];
          found.first_time = points.times[i];
        }
        ++(std::isnan(points.values[i]) ? found.nan : found.infinite);
      }
    }
  }
  found.until_the_end = !finite_behind;
  return found;
}

}  // namespace

std::vector<NonFiniteSeries> RunIndex::non_finite() {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const Timeline timeline = data_.timeline();
  StatSelection statistics(data_, timeline);
  std::vector<NonFiniteSeries> all;
  for (const Series& series : data_.series()) {
    if (series.kind != TagKind::scalars && series.kind != TagKind::statistics) continue;
    NonFiniteSeries found = series.kind == TagKind::scalars ? non_finite_of(newest_stretches(series))
                                                            : non_finite_statistics(series, statistics);
    if (found.count == 0) continue;
    found.tag = series.tag;
    found.kind = series.kind;
    all.push_back(std::move(found));
  }
  std::ranges::stable_sort(all, {}, &NonFiniteSeries::first_step);
  return all;
}

std::optional<Point> RunIndex::first_since(std::string_view tag, double time) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const std::shared_ptr<const Series> series = find_line(tag);
  if (series == nullptr) return std::nullopt;
  for (const ColumnStretch& stretch : newest_stretches(*series)) {
    std::size_t low = stretch.begin;
    std::size_t high = stretch.end;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (stretch.column->time_at(middle) < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < stretch.end) return stretch.column->at(low);
  }
  return std::nullopt;
}

}  // namespace sonde::index
