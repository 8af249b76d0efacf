#include "stats/bins.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "stats/reference.h"

namespace sonde::stats {
namespace {

template <class T>
Histogram count(BinTables& tables, const std::vector<T>& values) {
  const BlockSums sums = sum_block(values.data(), values.size(), Smallest::find);
  tables.add(values.data(), values.size(), sums);
  Histogram histogram;
  tables.drain(sums.zeros, histogram);
  return histogram;
}

template <class T>
Histogram expected(const std::vector<T>& values) {
  return reference_histogram(std::vector<double>(values.begin(), values.end()));
}

TEST(BinTables, AreEmptyAgainAfterDraining) {
  const auto tables = std::make_unique<BinTables>();
  const std::vector<std::vector<double>> tensors = {
      {1, 2, -3, 0}, {5e-324, -1e300, 1, -0.0}, {0, 0}, {1e-40, 3e38, 1e39, -1e-39}, {-7}, {0x1p-126, 0x1p127}};
  for (const auto& values : tensors) EXPECT_EQ(count(*tables, values), expected(values));
  EXPECT_EQ(tables->pending(), 0U);
}

TEST(BinTables, AddUpOverSeveralBlocks) {
  const auto tables = std::make_unique<BinTables>();
  const std::vector<float> a = {1e-20F, 1e-45F, 0};
  const std::vector<float> b = {1e20F, -1e-44F, -1e20F};
  for (const auto* values : {&a, &b, &a}) {
    tables->add(values->data(), values->size(), sum_block(values->data(), values->size(), Smallest::find));
  }
  Histogram histogram;
  tables->drain(2, histogram);
  EXPECT_EQ(histogram, expected(std::vector<float>{1e-20F, 1e-45F, 0, 1e20F, -1e-44F, -1e20F, 1e-20F, 1e-45F, 0}));
}

// With few values and with many, since those are counted in other ways.
TEST(BinTables, CountBlocksOfZerosAndSubnormalsExactly) {
  const auto tables = std::make_unique<BinTables>();
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const std::size_t size : {1U, 15U, 16U, 500U, 1000U, 2048U}) {
    for (const unsigned zeros_in_8 : {0U, 3U, 7U, 8U}) {
      for (const float scale : {1.0F, 1e-38F, 1e-42F, 1e-45F}) {
        std::vector<float> values(size);
        for (float& value : values) {
          value = random() % 8 < zeros_in_8 ? (random() % 2 == 0 ? 0.0F : -0.0F) : normal(random) * scale;
        }
        EXPECT_EQ(count(*tables, values), expected(values)) << size << ' ' << zeros_in_8 << ' ' << scale;
        EXPECT_EQ(tables->pending(), 0U);
      }
    }
  }
}

// A frozen tensor whose owner breaks the promise: other values are counted than were summed.
TEST(BinTables, SurviveValuesThatChangeBetweenPasses) {
  const auto tables = std::make_unique<BinTables>();
  using Limits = std::numeric_limits<double>;
  const std::vector<double> tame = {1, 2, 3, -4, 5, 6, 7};
  const std::vector<double> tame_and_far = {1, 2, 3, -4, 5, 6, 1e-320};
  const std::vector<double> wild = {
      Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), 1e300, 0, 1e-30, 5e-324};
  const std::vector<float> wild_floats = {std::numeric_limits<float>::quiet_NaN(), 1e-45F, 1e-30F, 0, -1e30F, 1, -1};
  for (const auto& before : {tame, tame_and_far}) {
    const BlockSums sums = sum_block(before.data(), before.size(), Smallest::find);
    Histogram ignored;
    tables->add(wild.data(), wild.size(), sums);
    tables->drain(0, ignored);
    EXPECT_EQ(count(*tables, tame), expected(tame));
    tables->add(wild_floats.data(), wild_floats.size(), sums);
    tables->drain(0, ignored);
    const std::vector<double> wide = {1e-37, -1e37, 1e-30, 1e30, 0, 1e-310};
    EXPECT_EQ(count(*tables, wide), expected(wide));
  }
}

}  // namespace
}  // namespace sonde::stats
