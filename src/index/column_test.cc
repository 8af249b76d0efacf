#include "index/column.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>

namespace sonde::index {
namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

bool same(const Point& a, const Point& b) {
  const bool values = bits(a.value) == bits(b.value) || (std::isnan(a.value) && std::isnan(b.value));
  return a.step == b.step && bits(a.time) == bits(b.time) && values;
}

void expect_same(const Column& column, const std::vector<Point>& points) {
  ASSERT_EQ(column.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    ASSERT_TRUE(same(column.at(i), points[i])) << i;
    ASSERT_EQ(column.step_at(i), points[i].step);
    ASSERT_EQ(bits(column.time_at(i)), bits(points[i].time));
  }
  Points unpacked;
  std::size_t index = 0;
  for (std::size_t b = 0; b < column.blocks(); ++b) {
    const std::size_t count = column.unpack(b, unpacked);
    for (std::size_t i = 0; i < count; ++i, ++index) {
      ASSERT_TRUE(same({unpacked.steps[i], unpacked.times[i], unpacked.values[i]}, points[index])) << index;
    }
  }
  ASSERT_EQ(index, points.size());
}

// Anything a file may hold: mostly plain, now and then absurd.
Point any_point(std::int64_t i, int kind) {
  switch (kind) {
    case 0: return {i, 1.7e9 + static_cast<double>(i) * 0.1, static_cast<double>(static_cast<float>(i) * 0.37F)};
    case 1: return {i * 100, 1.7e9, 0.1 * static_cast<double>(i)};  // a value that is no float
    case 2: return {-i, -static_cast<double>(i), std::numeric_limits<double>::quiet_NaN()};
    case 3: return {std::numeric_limits<std::int64_t>::min(), 0, std::numeric_limits<double>::infinity()};
    case 4: return {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<double>::quiet_NaN(), -0.0};
    default: return {i * i, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  }
}

RC_GTEST_PROP(ColumnProperty, GivesBackEveryPointWhateverItIs, ()) {
  const auto kinds = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
  const int repeat = *rc::gen::inRange(1, 40);
  Column column;
  std::vector<Point> points;
  for (int round = 0; round < repeat; ++round) {
    for (const int kind : kinds) {
      const Point point = any_point(static_cast<std::int64_t>(points.size()), kind);
      points.push_back(point);
      column.append(point.step, point.time, point.value);
      if (points.size() % 97 == 0) column.pack();
    }
  }
  expect_same(column, points);
  column.pack();
  expect_same(column, points);
}

TEST(Column, KnowsWhetherItsPointsAreInOrder) {
  const auto is_sorted = [](std::initializer_list<std::pair<int, double>> points) {
    Column column;
    for (const auto& [step, time] : points) column.append(step, time, 0);
    return column.is_sorted();
  };
  EXPECT_TRUE(is_sorted({{0, 1}, {1, 0}, {1, 0}, {2, 0}}));
  EXPECT_FALSE(is_sorted({{0, 1}, {2, 0}, {1, 0}}));
  EXPECT_FALSE(is_sorted({{0, 1}, {1, 5}, {1, 4}}));
}

TEST(Column, CanBeCutShortAndGrowsOn) {
  for (const std::size_t count : {0U, 1U, 255U, 256U, 257U, 700U, 1'000U}) {
    for (const bool packed : {false, true}) {
      Column column;
      std::vector<Point> points;
      const auto add = [&](std::size_t i) {
        points.push_back({static_cast<std::int64_t>(i), 1.5 * static_cast<double>(i), static_cast<double>(i % 7)});
        column.append(points.back());
      };
      for (std::size_t i = 0; i < 1'000; ++i) add(i);
      if (packed) column.pack();
      column.truncate(count);
      points.resize(count);
      expect_same(column, points);
      for (std::size_t i = 2'000; i < 2'600; ++i) add(i);
      expect_same(column, points);
      EXPECT_TRUE(column.is_sorted());
    }
  }
}

TEST(Column, TakesAlmostNothingForConstantStridesAndRepeatedTimes) {
  Column column;
  constexpr std::size_t kCount = 100 * Column::kBlock;
  for (std::size_t i = 0; i < kCount; ++i) column.append(static_cast<std::int64_t>(i) * 10, 1.7e9, 0.5);
  column.pack();
  EXPECT_LT(column.memory(), kCount);  // less than a byte per point, where all three are regular
}

TEST(Column, TakesLittleMoreThanItsValuesForAnOrdinaryRun) {
  Column column;
  constexpr std::size_t kCount = 100 * Column::kBlock;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto n = static_cast<double>(i);
    column.append(static_cast<std::int64_t>(i), 1.7e9 + n * 0.1, static_cast<double>(static_cast<float>(std::sin(n))));
  }
  column.pack();
  EXPECT_LT(column.memory(), kCount * 6);
}

TEST(Column, KnowsTheExtremesOfItsBlocks) {
  Column column;
  for (int i = 0; i < 256; ++i) column.append(i, i, i == 7 ? -3 : i == 200 ? 9 : 1);
  column.pack();
  const Column::Block* block = column.block(0);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->min, -3);
  EXPECT_EQ(block->min_at, 7);
  EXPECT_EQ(block->max, 9);
  EXPECT_EQ(block->max_at, 200);
  EXPECT_TRUE(block->all_finite());
  EXPECT_TRUE(block->times_ascend);
}

TEST(Column, RoundTripsAndGrowsAfterwards) {
  Column column;
  std::vector<Point> points;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Point point = any_point(i, static_cast<int>(i % 7 == 0 ? 1 : 0));
    points.push_back(point);
    column.append(point.step, point.time, point.value);
  }
  column.pack();
  auto bytes = std::make_shared<std::string>();
  column.save(*bytes);
  Column restored;
  base::ByteReader reader(base::as_bytes(*bytes));
  ASSERT_TRUE(restored.restore(reader, bytes));
  EXPECT_TRUE(reader.done());
  expect_same(restored, points);
  for (std::int64_t i = 1000; i < 1600; ++i) {
    points.push_back(any_point(i, 0));
    restored.append(points.back().step, points.back().time, points.back().value);
  }
  expect_same(restored, points);
}

TEST(Column, RejectsTruncatedBytes) {
  Column column;
  for (std::int64_t i = 0; i < 600; ++i) column.append(i, static_cast<double>(i), static_cast<double>(i) * 0.1);
  column.pack();
  std::string bytes;
  column.save(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Column restored;
    base::ByteReader reader(base::as_bytes(std::string_view(bytes).substr(0, size)));
    EXPECT_FALSE(restored.restore(reader, nullptr)) << size;
  }
}

}  // namespace
}  // namespace sonde::index
