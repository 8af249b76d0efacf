#include "stats/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace sonde::stats {
namespace {

// Buckets by the definition: the last one whose left edge is not above the value.
std::vector<double> expected(const std::vector<float>& values, const std::vector<Bucket>& buckets) {
  std::vector<double> counts(buckets.size());
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    std::size_t i = buckets.size() - 1;
    while (i > 0 && buckets[i].left > static_cast<double>(value)) --i;
    counts[i] += 1;
  }
  return counts;
}

std::vector<Bucket> buckets_of(const TensorView& view, int count) {
  Histogram histogram;
  const auto summary = summarize(view, histogram);
  return tensorboard_buckets(view, *summary, histogram, count);
}

void expect_exact(const std::vector<float>& values) {
  const auto buckets = buckets_of(view(values), 30);
  const auto counts = expected(values, buckets);
  for (std::size_t i = 0; i < buckets.size(); ++i) EXPECT_EQ(buckets[i].count, counts[i]) << i;
}

std::vector<float> sample(const std::function<float(std::mt19937&)>& draw) {
  std::mt19937 random(3);
  std::vector<float> values(20'000);
  std::ranges::generate(values, [&] { return draw(random); });
  return values;
}

TEST(Buckets, AreExactForDataThatAreNarrowBesideTheirMean) {
  for (const auto& [mean, deviation] : {std::pair(1.0F, 0.01F), std::pair(1000.0F, 0.01F), std::pair(-5.0F, 0.1F)}) {
    std::normal_distribution<float> normal(mean, deviation);
    expect_exact(sample([&](std::mt19937& random) { return normal(random); }));
  }
}

TEST(Buckets, AreExactForFewIntegersWithNanAndInfinitiesLeftOut) {
  auto values = sample([](std::mt19937& random) { return static_cast<float>(random() % 10); });
  values[7] = std::numeric_limits<float>::quiet_NaN();
  values[8] = std::numeric_limits<float>::infinity();
  values[9] = -std::numeric_limits<float>::infinity();
  expect_exact(values);
}

// Values at an edge, and one float beside it, among those that are estimated in vectors and the rest.
TEST(Buckets, AreExactForValuesAtTheirEdges) {
  for (const auto& [low, high] :
       {std::pair(-1.0F, 1.0F), std::pair(0.0F, 1.0F), std::pair(1000.0F, 1000.01F), std::pair(-3.4e38F, 3.4e38F),
        std::pair(1e-25F, 1e-24F), std::pair(-1e-38F, 1e-38F), std::pair(1e-44F, 1e-43F)}) {
    std::vector<float> values;
    for (int i = 0; i <= 30; ++i) {
      const auto edge = static_cast<float>(std::lerp(double{low}, double{high}, i / 30.0));
      for (const float value : {std::nextafter(edge, low), edge, std::nextafter(edge, high)}) {
        values.insert(values.end(), 3, std::clamp(value, low, high));
      }
    }
    // Many in one bin with an edge inside, so that values are counted one by one.
    values.insert(values.end(), values.size(), static_cast<float>(std::lerp(double{low}, double{high}, 10 / 30.0)));
    SCOPED_TRACE(low);
    expect_exact(values);
    values[100] = std::numeric_limits<float>::quiet_NaN();
    values[101] = -std::numeric_limits<float>::infinity();
    expect_exact(values);
  }
}

// A frozen tensor whose owner breaks the promise: other values are counted than were summed.
TEST(Buckets, AreNeverNegativeForValuesThatChangeBetweenPasses) {
  std::vector<float> values(1000, 1.0F);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 1.001F;
  Histogram histogram;
  const auto summary = summarize(view(values), histogram);
  values.assign(values.size(), -std::numeric_limits<float>::infinity());
  values[0] = std::numeric_limits<float>::quiet_NaN();
  double total = 0;
  for (const Bucket& bucket : tensorboard_buckets(view(values), *summary, histogram, 30)) {
    EXPECT_GE(bucket.count, 0);
    total += bucket.count;
  }
  EXPECT_EQ(total, 1000);
}

TEST(Buckets, CountStridedViewsAndOtherTypes) {
  std::vector<double> doubles;
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 1000; ++i) {
    doubles.push_back(i % 2 == 0 ? 1 + i % 7 * 0.001 : 1e9);
    bytes.push_back(static_cast<std::uint8_t>(i % 5));
  }
  const auto every_second = buckets_of(view(doubles.data(), {500}, {2}), 7);
  ASSERT_EQ(every_second.size(), 7U);
  for (const Bucket& bucket : every_second) EXPECT_NEAR(bucket.count, 500.0 / 7, 1);
  const auto small = buckets_of(view(bytes), 5);
  for (const Bucket& bucket : small) EXPECT_EQ(bucket.count, 200);
}

TEST(Buckets, TakeARangeThatNoDoubleHolds) {
  const std::vector<double> values = {-1.7e308, -1.7e308, 0, 1.7e308};
  const auto buckets = buckets_of(view(values), 4);
  ASSERT_EQ(buckets.size(), 4U);
  EXPECT_EQ(buckets[0].count, 2);
  EXPECT_EQ(buckets[2].count, 1);
  EXPECT_EQ(buckets[3].count, 1);
}

TEST(Buckets, OneValueGivesOneBucketAndNoValueGivesNone) {
  EXPECT_EQ(buckets_of(view(std::vector<float>(10, 3.0F)), 30).size(), 1U);
  EXPECT_TRUE(buckets_of(view(std::vector<float>()), 30).empty());
}

}  // namespace
}  // namespace sonde::stats
