#include "index/draw.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace sonde::index {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Column column_of(const std::vector<Point>& points) {
  Column column;
  for (const Point& point : points) column.append(point.step, point.time, point.value);
  column.pack();
  return column;
}

// The definition, point by point.
struct Expected {
  bool any = false;
  double first = 0, last = 0, min = 0, max = 0;
  std::uint64_t nan = 0, positive = 0, negative = 0;
};
std::map<std::size_t, Expected> reference(const std::vector<Point>& points, int width) {
  std::map<std::size_t, Expected> columns;
  if (points.empty()) return columns;
  const auto low = points.front().step;
  const double span = static_cast<double>(points.back().step - low) + 1;
  for (const Point& point : points) {
    const double at = static_cast<double>(point.step - low) * (static_cast<double>(width) / span);
    Expected& column = columns[std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(width) - 1)];
    if (std::isnan(point.value)) {
      ++column.nan;
    } else if (std::isinf(point.value)) {
      ++(point.value > 0 ? column.positive : column.negative);
    } else {
      if (!column.any) column.first = column.min = column.max = point.value;
      column.any = true;
      column.last = point.value;
      column.min = std::min(column.min, point.value);
      column.max = std::max(column.max, point.value);
    }
  }
  return columns;
}

RC_GTEST_PROP(DrawProperty, KeepsFirstLastMinimumAndMaximumOfEachPixelColumn, ()) {
  const int width = *rc::gen::inRange(1, 50);
  const auto count = *rc::gen::inRange<std::int64_t>(1, 5000);
  const auto stride = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  const auto oddity = *rc::gen::inRange<std::uint64_t>(2, 3000);
  std::uint64_t state = seed;
  std::vector<Point> points;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t random = state >> 33;
    double value = static_cast<double>(random % 1000) - 500;
    if (random % oddity == 0) value = random % 3 == 0 ? kNaN : random % 3 == 1 ? kInfinity : -kInfinity;
    points.push_back({i * stride, 1.7e9 + static_cast<double>(i), value});
  }
  const Column column = column_of(points);
  const ColumnStretch stretches[] = {{&column, 0, column.size()}};
  const Drawing drawing = draw(stretches, width, {}, Axis::step);
  RC_ASSERT(drawing.total == points.size());

  const auto expected = reference(points, width);
  std::size_t at = 0;
  std::size_t odd = 0;
  for (const auto& [pixel, cell] : expected) {
    if (cell.nan + cell.positive + cell.negative > 0) {
      RC_ASSERT(drawing.non_finite[odd].nan == cell.nan);
      RC_ASSERT(drawing.non_finite[odd].positive_infinity == cell.positive);
      RC_ASSERT(drawing.non_finite[odd].negative_infinity == cell.negative);
      ++odd;
    }
    if (!cell.any) continue;
    // The points of this pixel column: at most four, by ascending step.
    std::vector<double> found;
    const double span = static_cast<double>(points.back().step) + 1;
    while (at < drawing.points.size()) {
      const double place = static_cast<double>(drawing.points.steps[at]) * (static_cast<double>(width) / span);
      if (std::min(static_cast<std::size_t>(place), static_cast<std::size_t>(width) - 1) != pixel) break;
      found.push_back(drawing.points.values[at++]);
    }
    RC_ASSERT(found.size() >= 1 && found.size() <= 4);
    RC_ASSERT(found.front() == cell.first);
    RC_ASSERT(found.back() == cell.last);
    RC_ASSERT(*std::ranges::min_element(found) == cell.min);
    RC_ASSERT(*std::ranges::max_element(found) == cell.max);
  }
  RC_ASSERT(at == drawing.points.size());
  RC_ASSERT(odd == drawing.non_finite.size());
  RC_ASSERT(std::ranges::is_sorted(drawing.points.steps));
}

RC_GTEST_PROP(DrawProperty, AnswersAnyRangeAsIfTheOtherPointsWereNotThere, ()) {
  const auto first = *rc::gen::inRange<std::int64_t>(0, 3000);
  const auto last = *rc::gen::inRange<std::int64_t>(first, 3001);
  std::vector<Point> all;
  std::vector<Point> inside;
  for (std::int64_t i = 0; i < 3000; ++i) {
    const Point point = {i, 1.7e9 + static_cast<double>(i), std::sin(static_cast<double>(i * i))};
    all.push_back(point);
    if (i >= first && i <= last) inside.push_back(point);
  }
  const Column whole = column_of(all);
  const Column part = column_of(inside);
  const Range range = {.first_step = -1000,
                       .last_step = 10'000,
                       .first_time = 1.7e9 + static_cast<double>(first),
                       .last_time = 1.7e9 + static_cast<double>(last)};
  const ColumnStretch whole_stretch[] = {{&whole, 0, whole.size()}};
  const ColumnStretch part_stretch[] = {{&part, 0, part.size()}};
  const Drawing a = draw(whole_stretch, 100, range, Axis::wall_time);
  const Drawing b = draw(std::span(part_stretch).first(inside.empty() ? 0 : 1), 100, range, Axis::wall_time);
  RC_ASSERT(a.total == b.total);
  RC_ASSERT(a.points.steps == b.points.steps);
  RC_ASSERT(a.points.values == b.points.values);
}

TEST(Draw, ReportsNonFinitePointsAndExcludesThemFromAverages) {
  std::vector<Point> points;
  points.reserve(10'000);
  for (int i = 0; i < 10'000; ++i) points.push_back({i, 1.7e9 + i, 1});
  points[5000].value = kNaN;
  points[7000].value = kInfinity;
  const Column column = column_of(points);
  const ColumnStretch stretches[] = {{&column, 0, column.size()}};
  const Drawing drawing = draw(stretches, 10, {}, Axis::step);
  ASSERT_EQ(drawing.non_finite.size(), 2U);
  EXPECT_EQ(drawing.non_finite[0].step, 5000);
  EXPECT_EQ(drawing.non_finite[0].nan, 1U);
  EXPECT_EQ(drawing.non_finite[1].step, 7000);
  EXPECT_EQ(drawing.non_finite[1].positive_infinity, 1U);
  EXPECT_TRUE(std::ranges::all_of(drawing.points.values, [](double value) { return value == 1; }));
}

TEST(Draw, MergesWritersThatOverlap) {
  const Column even = column_of({{0, 0, 1}, {2, 2, 5}, {4, 4, 1}});
  const Column odd = column_of({{1, 1, 2}, {3, 3, -7}, {5, 5, 2}});
  const ColumnStretch stretches[] = {{&even, 0, 3}, {&odd, 0, 3}};
  const Drawing drawing = draw(stretches, 1, {}, Axis::step);
  EXPECT_EQ(drawing.points.steps, (std::vector<std::int64_t>{0, 2, 3, 5}));
  EXPECT_EQ(drawing.points.values, (std::vector<double>{1, 5, -7, 2}));
  EXPECT_EQ(drawing.total, 6U);
}

TEST(Draw, TakesTheWidestSteps) {
  const auto low = std::numeric_limits<std::int64_t>::min() + 1;
  const auto high = std::numeric_limits<std::int64_t>::max() - 1;
  const Column column = column_of({{low, 0, 1}, {0, 1, 2}, {high, 2, 3}});
  const ColumnStretch stretches[] = {{&column, 0, 3}};
  const Drawing drawing = draw(stretches, 100, {}, Axis::step);
  EXPECT_EQ(drawing.points.values, (std::vector<double>{1, 2, 3}));
}

TEST(Draw, OfNothingIsEmpty) {
  EXPECT_EQ(draw({}, 100, {}, Axis::step).points.size(), 0U);
  EXPECT_EQ(draw({}, 100, {}, Axis::wall_time).total, 0U);
}

}  // namespace
}  // namespace sonde::index
