#include "stats/parts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "stats/buckets.h"

namespace sonde::stats {
namespace {

std::vector<float> normal(std::size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> distribution(3, 2);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

bool same_bits(const Summary& a, const Summary& b) {
  return a.count == b.count && a.nan == b.nan && a.positive_infinity == b.positive_infinity &&
         a.negative_infinity == b.negative_infinity && a.zeros == b.zeros && a.negatives == b.negatives &&
         a.min == b.min && a.max == b.max && a.mean == b.mean && a.m2 == b.m2 && a.sum_abs == b.sum_abs;
}

TEST(Parts, ASmallTensorIsOnePart) {
  const std::vector<float> values(kPartElements);
  const TensorView all = view(values);
  const auto parts = parts_of(all);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].size(), kPartElements);
}

TEST(Parts, CoverTheTensorInOrder) {
  const std::vector<float> values(3 * kPartElements + 5);
  std::int64_t at = 0;
  for (const TensorView& part : parts_of(view(values))) {
    EXPECT_EQ(part.data, values.data() + at);
    EXPECT_LE(part.size(), kPartElements);
    at += part.size();
  }
  EXPECT_EQ(at, static_cast<std::int64_t>(values.size()));
}

TEST(Parts, CutAStridedTensorAlongItsFirstLongAxis) {
  const std::vector<float> values(2 * 1000 * 1000);
  const TensorView columns = view(values.data(), {1, 1000, 1000}, {0, 1, 1000});  // transposed
  std::int64_t rows = 0;
  for (const TensorView& part : parts_of(columns)) {
    EXPECT_TRUE(part.valid());
    EXPECT_EQ(part.data, values.data() + rows);
    EXPECT_EQ(part.shape[2], 1000);
    rows += part.shape[1];
  }
  EXPECT_EQ(rows, 1000);
}

TEST(Parts, GiveTheSameBitsForAnyNumberOfThreads) {
  std::vector<float> values = normal(5 * kPartElements + 321);
  values[17] = std::numeric_limits<float>::quiet_NaN();
  values[kPartElements + 3] = std::numeric_limits<float>::infinity();
  base::TaskPool one("test", 1);
  Histogram expected;
  const auto alone = summarize(view(values), &expected, one);
  ASSERT_TRUE(alone.ok());
  for (const int threads : {2, 3, 8}) {
    base::TaskPool pool("test", threads);
    Histogram histogram;
    const auto together = summarize(view(values), &histogram, pool);
    ASSERT_TRUE(together.ok());
    EXPECT_TRUE(same_bits(*alone, *together)) << threads << " threads";
    EXPECT_EQ(histogram, expected);
  }
}

TEST(Parts, AgreeWithOnePass) {
  std::vector<float> values = normal(4 * kPartElements + 1);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[6] = 0;
  base::TaskPool pool("test", 2);
  Histogram in_parts;
  Histogram in_one;
  const auto parts = summarize(view(values), &in_parts, pool);
  const auto one = summarize(view(values), in_one);
  ASSERT_TRUE(parts.ok());
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(in_parts, in_one);
  EXPECT_EQ(parts->count, one->count);
  EXPECT_EQ(parts->nan, 1U);
  EXPECT_EQ(parts->zeros, one->zeros);
  EXPECT_EQ(parts->negatives, one->negatives);
  EXPECT_EQ(parts->min, one->min);
  EXPECT_EQ(parts->max, one->max);
  const double largest = std::max(std::abs(one->min), std::abs(one->max));
  EXPECT_NEAR(parts->mean, one->mean, 2e-11 * largest);
  EXPECT_NEAR(parts->m2, one->m2, 2 * (1e-9 + 1e-11 * largest / one->stddev()) * one->m2);
  EXPECT_NEAR(parts->sum_abs, one->sum_abs, 2e-11 * one->sum_abs);
}

TEST(Parts, GiveTheSameBucketsForAnyNumberOfThreads) {
  std::vector<float> values(3 * kPartElements + 7);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 5);  // few: counted one by one
  Histogram histogram;
  const auto summary = summarize(view(values), histogram);
  ASSERT_TRUE(summary.ok());
  const auto alone = tensorboard_buckets(view(values), *summary, histogram, 30);
  base::TaskPool pool("test", 3);
  const auto together = tensorboard_buckets(view(values), *summary, histogram, 30, pool);
  ASSERT_EQ(together.size(), alone.size());
  double total = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(together[i].count, alone[i].count) << "bucket " << i;
    total += together[i].count;
  }
  EXPECT_EQ(total, static_cast<double>(values.size()));
}

TEST(Parts, RejectWhatSummarizeRejects) {
  base::TaskPool pool("test", 2);
  const std::vector<double> pairs(4 * kPartElements);
  EXPECT_FALSE(summarize(view(pairs.data(), DType::c64, {2 * kPartElements}), nullptr, pool).ok());
  EXPECT_FALSE(summarize(view(nullptr, DType::f32, {2 * kPartElements}), nullptr, pool).ok());
}

}  // namespace
}  // namespace sonde::stats
