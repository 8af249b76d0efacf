// Series as charts draw them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "query/answers.h"
#include "query/binary.h"

namespace sonde::query {
namespace {

// A number of the request as a step: the first one that is not below it, or the last that is not above.
std::int64_t step_of(double number, double rounded) {
  constexpr double kBeyond = 9223372036854775807.0;
  (void)number;
  if (rounded >= kBeyond) return std::numeric_limits<std::int64_t>::max();
  if (rounded <= -kBeyond) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(rounded);
}

Range range_of(const Run& run, AxisName axis, const Span& span) {
  Range range;
  if (axis == AxisName::step) {
    if (span.first) range.first_step = step_of(*span.first, std::ceil(*span.first));
    if (span.last) range.last_step = step_of(*span.last, std::floor(*span.last));
    return range;
  }
  const double start = axis == AxisName::relative && (span.first || span.last) ? run.start_time() : 0;
  if (span.first) range.first_time = start + *span.first;
  if (span.last) range.last_time = start + *span.last;
  return range;
}

void put_points(BinaryWriter& out, const Scalars& points) {
  for (const std::int64_t step : points.steps) out.put(static_cast<double>(step));
  out.column(std::span<const double>(points.wall_times));
  out.column(std::span<const double>(points.values));
}

std::uint32_t count_of(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

void put_series(BinaryWriter& out, const Drawing& drawing, const Scalars& smoothed, bool found) {
  out.put(std::uint32_t{found ? 0U : 1U});
  out.put(count_of(drawing.points.size()));
  out.put(count_of(smoothed.size()));
  out.put(count_of(drawing.non_finite.size()));
  out.put(drawing.total);
  put_points(out, drawing.points);
  put_points(out, smoothed);
  for (const auto& one : drawing.non_finite) out.put(static_cast<double>(one.step));
  for (const auto& one : drawing.non_finite) out.put(one.wall_time);
  for (const auto& one : drawing.non_finite) out.put(count_of(one.nan));
  for (const auto& one : drawing.non_finite) out.put(count_of(one.positive_infinity));
  for (const auto& one : drawing.non_finite) out.put(count_of(one.negative_infinity));
  out.align();
}

Answer binary_answer(BinaryWriter& out) {
  Answer answer;
  answer.content_type = "application/octet-stream";
  answer.body = out.take();
  return answer;
}

}  // namespace

Result<Answer> answer_series(const Context& context, const Body& body) {
  BinaryWriter out;
  out.text("SNDS");
  out.put(std::uint32_t{1});
  out.put(static_cast<std::uint32_t>(body.series.size()));
  out.put(std::uint32_t{0});
  for (const SeriesName& name : body.series) {
    const Catalogue::Item* item = context.catalogue->find(name.run);
    Drawing drawing;
    bool found = false;
    if (item != nullptr) {
      const Run& run = item->entry->run;
      auto drawn = run.draw(name.tag, body.width, range_of(run, body.axis, body.range),
                            body.axis == AxisName::step ? Axis::step : Axis::wall_time);
      found = drawn.ok();
      if (found) drawing = *std::move(drawn);
    }
    put_series(out, drawing, {}, found);
  }
  return binary_answer(out);
}

}  // namespace sonde::query
