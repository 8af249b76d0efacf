// Questions of the page, compared with their definitions, point by point.
#include "index/lines.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "formats/stats_record.h"
#include "index/index_testing.h"
#include "index/run_access.h"

namespace sonde::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string path_in(const base::TempDir& dir) { return dir / std::string("r/") + std::string(kEvents); }

TEST(Revision, GrowsOnlyWithNewData) {
  base::TempDir dir;
  append(path_in(dir), version() + scalar("x", 1, 1));
  Log log = open(dir.path());
  log.wait();
  RunIndex& run = RunAccess::index(*log.run("r"));
  const std::uint64_t first = run.revision();
  EXPECT_GT(first, 0U);
  const std::uint64_t told = log.version();
  log.refresh();
  EXPECT_EQ(run.revision(), first);
  EXPECT_EQ(log.version(), told);
  append(path_in(dir), scalar("x", 2, 1));
  log.refresh();
  EXPECT_GT(run.revision(), first);
  EXPECT_GT(log.version(), told);
}

TEST(Trash, IsNotLookedInto) {
  base::TempDir dir;
  append(dir / ".sonde-trash/1-old/" + std::string(kEvents), version() + scalar("x", 1, 1));
  append(dir / "a/.sonde-trash/" + std::string(kEvents), version() + scalar("x", 1, 1));
  Log log = open(dir.path());
  log.wait();
  EXPECT_THAT(log.runs(), IsEmpty());
}

TEST(NonFinite, IsOfTheNewestHistory) {
  base::TempDir dir;
  std::string file = version();
  for (int i = 0; i < 1'000; ++i) file += scalar("loss", i, i >= 900 ? kNaN : i);
  file += session_start(800, kStart + 2'000);
  for (int i = 800; i < 1'000; ++i) file += scalar("loss", i, i, kStart + 2'000 + i);
  file += scalar("other", 5, kNaN);
  append(path_in(dir), file);
  Log log = open(dir.path());
  const auto found = RunAccess::index(*log.run("r")).non_finite();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tag, "other");
  EXPECT_EQ(found[0].first_step, 5);
  EXPECT_EQ(found[0].nan, 1U);
  EXPECT_TRUE(found[0].until_the_end);
}

// A statistics file with one tensor of three steps.
std::string statistics(std::initializer_list<std::uint64_t> nan) {
  std::string file;
  stats_record::put_definition(file, {.id = 1, .name = "out"});
  std::int64_t step = 0;
  for (const std::uint64_t count : nan) {
    stats::Summary summary;
    summary.count = 10;
    summary.nan = count;
    stats_record::StepWriter writer(file, step++, kStart, false);
    writer.add({.id = 1}, summary, nullptr);
    writer.end();
  }
  return file;
}

TEST(NonFinite, StatisticsAreKnownWithoutReadingThemAgain) {
  base::TempDir dir;
  base::TempDir cache;
  append(dir / "r/stats.1.tfrecord", statistics({0, 3, 0, 1}));
  for (int i = 0; i < 2; ++i) {  // the second time from the cache
    RunIndex run("r", dir / "r", cache / "x.index");
    run.update();
    const auto found = run.non_finite();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tag, "activation/out");
    EXPECT_EQ(found[0].kind, TagKind::statistics);
    EXPECT_EQ(found[0].first_step, 1);
    EXPECT_EQ(found[0].count, 2U);
    EXPECT_FALSE(found[0].until_the_end);
    EXPECT_EQ(run.remember(1), i == 0);
  }
}

TEST(FirstSince, IsFoundByItsTime) {
  base::TempDir dir;
  std::string file = version();
  for (int i = 0; i < 1'000; ++i) file += scalar("x", i * 2, i);
  append(path_in(dir), file);
  Log log = open(dir.path());
  RunIndex& run = RunAccess::index(*log.run("r"));
  EXPECT_EQ(run.first_since("x", kStart + 99.5)->step, 100);
  EXPECT_EQ(run.first_since("x", 0)->step, 0);
  EXPECT_FALSE(run.first_since("x", kStart + 5'000));
  EXPECT_FALSE(run.first_since("none", 0));
}

// Long enough for many blocks, with times that are no straight line; some values, but not in the middle, are odd.
class LongSeries : public testing::Test {
 protected:
  static constexpr int kPoints = 30'000;
  LongSeries() {
    std::uint64_t state = 1;
    double time = kStart;
    std::string file = version();
    for (int i = 0; i < kPoints; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const auto random = static_cast<double>(state >> 40) * 0x1p-24;
      time += random;
      const bool odd = (i < 3'000 || i > 28'000) && i % 97 == 0;
      Point point = {i * 3, time, static_cast<double>(static_cast<float>(100 * random))};
      if (odd) point.value = i % 2 == 0 ? kNaN : std::numeric_limits<double>::infinity();
      points_.push_back(point);
      file += scalar("x", point.step, point.value, point.time);
    }
    append(path_in(dir_), file);
    log_ = std::make_unique<Log>(open(dir_.path()));
    run_ = &RunAccess::index(*log_->run("r"));
  }

  // The definition of a drawing: first, smallest, largest and last point of each column, each once.
  std::vector<Point> drawn(const std::vector<Point>& points, int width, Axis axis, double low, double span) const {
    std::map<std::size_t, std::vector<Point>> cells;
    for (const Point& point : points) {
      if (!std::isfinite(point.value)) continue;
      const double at = (axis == Axis::step ? static_cast<double>(point.step) : point.time) - low;
      const auto cell = static_cast<std::size_t>(at * (static_cast<double>(width) / span));
      cells[std::min(cell, static_cast<std::size_t>(width) - 1)].push_back(point);
    }
    std::vector<Point> all;
    for (const auto& [at, cell] : cells) {
      std::vector<Point> four = {cell.front(), *std::ranges::min_element(cell, {}, &Point::value),
                                 *std::ranges::max_element(cell, {}, &Point::value), cell.back()};
      std::ranges::sort(four, {}, &Point::step);
      const auto repeated = std::ranges::unique(four, {}, &Point::step);
      four.erase(repeated.begin(), repeated.end());
      all.insert(all.end(), four.begin(), four.end());
    }
    return all;
  }
  std::vector<Point> smoothed(double weight) const {
    constexpr double kInterval = 3;  // steps between two points
    std::vector<Point> averages;
    double sum = 0;
    double mass = 0;
    std::int64_t last = 0;
    for (const Point& point : points_) {
      if (!std::isfinite(point.value)) continue;
      const double factor = std::pow(weight, static_cast<double>(point.step - last) / kInterval);
      last = point.step;
      sum = sum * factor + point.value;
      mass = mass * factor + 1;
      averages.push_back({point.step, point.time, sum / mass});
    }
    return averages;
  }

  base::TempDir dir_;
  std::vector<Point> points_;
  std::unique_ptr<Log> log_;
  RunIndex* run_ = nullptr;
};

TEST_F(LongSeries, IsDrawnAsItIsDefinedAtAnyWidthAndOnAnyAxis) {
  for (const Axis axis : {Axis::step, Axis::wall_time}) {
    const bool steps = axis == Axis::step;
    const double low = steps ? 0 : points_.front().time;
    const double span = steps ? static_cast<double>(points_.back().step) + 1 : points_.back().time - low;
    for (const int width : {1, 7, 100, 117, 1'000, 5'000, 60'000}) {
      std::shared_ptr<const Smoothed> kept;
      const auto line = run_->line("x", {.width = width, .axis = axis, .smooth = 0.97}, kept);
      ASSERT_TRUE(line);
      EXPECT_EQ(line->raw.total, points_.size());
      const std::vector<Point> raw = drawn(points_, width, axis, low, span);
      ASSERT_EQ(line->raw.points.size(), raw.size()) << width;
      for (std::size_t i = 0; i < raw.size(); ++i) {
        ASSERT_EQ(line->raw.points.steps[i], raw[i].step) << width;
        ASSERT_EQ(line->raw.points.wall_times[i], raw[i].time) << width;
        ASSERT_EQ(line->raw.points.values[i], raw[i].value) << width;
      }
      const std::vector<Point> smooth = drawn(smoothed(0.97), width, axis, low, span);
      ASSERT_EQ(line->smoothed.size(), smooth.size()) << width;
      for (std::size_t i = 0; i < smooth.size(); ++i) {
        ASSERT_EQ(line->smoothed.steps[i], smooth[i].step) << width;
        ASSERT_NEAR(line->smoothed.values[i], smooth[i].value, 1e-11) << width;
      }
    }
  }
}

TEST_F(LongSeries, IsSmoothedTheSameWayWithAnyWeight) {
  for (const double weight : {1e-6, 0.1, 0.6, 0.9, 0.999, 0.999'99}) {
    const std::vector<Point> expected = smoothed(weight);
    std::shared_ptr<const Smoothed> kept;
    const auto line = run_->line("x", {.width = 65'536, .range = {.first_step = 6'000}, .smooth = weight}, kept);
    ASSERT_TRUE(line);
    std::size_t at = 0;
    for (std::size_t i = 0; i < line->smoothed.size(); ++i) {
      while (expected[at].step < line->smoothed.steps[i]) ++at;
      ASSERT_EQ(expected[at].step, line->smoothed.steps[i]);
      ASSERT_NEAR(expected[at].value, line->smoothed.values[i], 1e-10) << weight;
    }
    EXPECT_GT(line->smoothed.size(), 20'000U);
  }
}

TEST_F(LongSeries, IsSummarizedAsPointByPoint) {
  for (const auto& [first, last] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 90'000}, {1, 89'999}, {30'000, 60'000}, {9'100, 9'200}, {300, 300}, {291, 291}, {1, 2}}) {
    std::vector<Point> finite;
    std::uint64_t count = 0;
    double sum = 0;
    for (const Point& point : points_) {
      if (point.step < first || point.step > last) continue;
      ++count;
      if (std::isfinite(point.value)) finite.push_back(point);
      if (std::isfinite(point.value)) sum += point.value;
    }
    std::shared_ptr<const Smoothed> kept;
    const auto found = run_->summary("x", {.first_step = first, .last_step = last}, std::nullopt, 0, kept);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->count, count);
    if (finite.empty()) {
      EXPECT_TRUE(count == 0 || std::isnan(found->mean));
      continue;
    }
    EXPECT_EQ(found->min.step, std::ranges::min_element(finite, {}, &Point::value)->step);
    EXPECT_EQ(found->max.step, std::ranges::max_element(finite, {}, &Point::value)->step);
    EXPECT_NEAR(found->mean, sum / static_cast<double>(finite.size()), 1e-11);
  }
}

TEST_F(LongSeries, IsAddedToTheColumnsOfAGridAsPointByPoint) {
  for (const Axis axis : {Axis::step, Axis::wall_time}) {
    for (const std::size_t width : {std::size_t{1}, std::size_t{10}, std::size_t{333}, std::size_t{20'000}}) {
      Grid grid = {.axis = axis, .origin = axis == Axis::step ? 0 : kStart, .low = 0, .width = width};
      const double span = axis == Axis::step ? 90'001 : points_.back().time - kStart;
      grid.scale = static_cast<double>(width) / span;
      const Range range = {.first_step = 5, .first_time = kStart + 11, .last_time = points_.back().time - 2'000};
      std::vector<GridCell> expected(width);
      std::uint64_t total = 0;
      for (const Point& point : points_) {
        if (point.step < 5 || point.time < range.first_time || point.time > range.last_time) continue;
        ++total;
        if (!std::isfinite(point.value)) continue;
        const double position = axis == Axis::step ? static_cast<double>(point.step) : point.time - kStart;
        GridCell& cell = expected[std::min(width - 1, static_cast<std::size_t>(position * grid.scale))];
        cell.sum += point.value;
        cell.position_sum += position;
        ++cell.count;
      }
      std::vector<GridCell> cells(width);
      const auto found = run_->accumulate("x", range, grid, cells);
      ASSERT_TRUE(found);
      EXPECT_EQ(*found, total);
      for (std::size_t i = 0; i < width; ++i) {
        ASSERT_EQ(cells[i].count, expected[i].count) << width << " " << i;
        ASSERT_NEAR(cells[i].sum, expected[i].sum, 1e-6);
        ASSERT_NEAR(cells[i].position_sum, expected[i].position_sum, 1e-9 * (1 + expected[i].position_sum));
      }
    }
  }
}

}  // namespace
}  // namespace sonde::index
