#include "downsample.h"

#include <algorithm>
#include <limits>

namespace sonde::data_server {
namespace {

// Below this a drawing has too few columns to be one.
constexpr std::uint64_t kFewestToDraw = 20;
// A column of a drawing has up to four finite points, and one for those that are not.
constexpr std::uint64_t kPointsPerColumn = 5;

void append(Scalars& to, std::int64_t step, double wall_time, double value) {
  to.steps.push_back(step);
  to.wall_times.push_back(wall_time);
  to.values.push_back(value);
}

double value_of(const Drawing::NonFinite& column) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (column.nan > 0) return std::numeric_limits<double>::quiet_NaN();
  return column.positive_infinity > 0 ? kInfinity : -kInfinity;
}

// Both lists of a drawing as one, by ascending step.
Scalars merge(const Drawing& drawing) {
  Scalars merged;
  const Scalars& finite = drawing.points;
  std::size_t next = 0;
  const auto take_finite = [&] {
    append(merged, finite.steps[next], finite.wall_times[next], finite.values[next]);
    ++next;
  };
  for (const Drawing::NonFinite& column : drawing.non_finite) {
    while (next < finite.size() && finite.steps[next] < column.step) take_finite();
    append(merged, column.step, column.wall_time, value_of(column));
  }
  while (next < finite.size()) take_finite();
  return merged;
}

Result<Scalars> last_point(const Run& run, const Tag& tag) {
  auto points = run.scalars(tag.name, {.first_step = tag.last_step});
  if (!points || points->size() <= 1) return points;
  return Scalars{{points->steps.back()}, {points->wall_times.back()}, {points->values.back()}};
}

Result<Scalars> draw(const Run& run, const Tag& tag, std::uint64_t limit) {
  constexpr std::uint64_t kWidest = std::numeric_limits<int>::max();
  // One point is reserved for the last one: a drawing reports non-finite points only where they begin.
  const std::uint64_t width = std::min((limit - 1) / kPointsPerColumn, kWidest);
  const auto drawing = run.draw(tag.name, static_cast<int>(width));
  if (!drawing) return drawing.error();
  const auto last = last_point(run, tag);
  if (!last) return last.error();
  Scalars points = merge(*drawing);
  if (last->size() == 1 && (points.size() == 0 || points.steps.back() < last->steps.back())) {
    append(points, last->steps.back(), last->wall_times.back(), last->values.back());
  }
  return points;
}

}  // namespace

std::vector<std::size_t> evenly(std::size_t size, std::size_t limit) {
  const std::size_t count = std::min(size, limit);
  std::vector<std::size_t> chosen(count);
  // The product does not overflow: no series has 2^32 points.
  for (std::size_t i = 0; i < count; ++i) chosen[i] = count == 1 ? size - 1 : i * (size - 1) / (count - 1);
  return chosen;
}

Result<Scalars> sample(const Run& run, const Tag& tag, std::uint64_t limit) {
  if (limit == 0) return Scalars{};
  if (limit == 1) return last_point(run, tag);
  if (tag.points > limit && limit >= kFewestToDraw) return draw(run, tag, limit);
  auto all = run.scalars(tag.name);
  if (!all || all->size() <= limit) return all;
  Scalars chosen;
  for (const std::size_t i : evenly(all->size(), limit)) {
    append(chosen, all->steps[i], all->wall_times[i], all->values[i]);
  }
  return chosen;
}

}  // namespace sonde::data_server
