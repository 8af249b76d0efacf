#include "sonde/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numeric>
#include <vector>

#include "render/console.h"
#include "stats/summary.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST(Show, TheLineIsTheOneThatARecorderPrints) {
  const std::vector<float> values = numbers(60);
  const TensorView view = sonde::view(values, {5, 12});
  stats::Histogram histogram;
  const auto summary = stats::summarize(view, histogram);
  const auto shown = show("dense_1/out", view);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->line, render::one_line("dense_1/out", DType::f32, {5, 12}, *summary, histogram));
  EXPECT_THAT(show("", view)->line, StartsWith("f32[5,12] 0 |"));
}

TEST(Show, StatisticsAndBucketsCoverEveryValue) {
  std::vector<float> values = numbers(100);
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  values.push_back(-std::numeric_limits<float>::infinity());
  const auto shown = show("x", view(values), 10);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->statistics.count, 102u);
  EXPECT_EQ(shown->statistics.nan, 1u);
  EXPECT_EQ(shown->statistics.negative_infinity, 1u);
  EXPECT_EQ(shown->statistics.max, 99);
  EXPECT_TRUE(shown->statistics.check().ok());
  ASSERT_EQ(shown->buckets.size(), 10u);
  EXPECT_EQ(shown->buckets.front().left, 0);
  EXPECT_EQ(shown->buckets.back().right, 99);
  double total = 0;
  for (const Bucket& bucket : shown->buckets) total += bucket.count;
  EXPECT_NEAR(total, 100, 1e-6);
}

TEST(Show, ATensorWithoutFiniteValuesHasNoBuckets) {
  const std::vector<float> values(3, std::numeric_limits<float>::quiet_NaN());
  const auto shown = show("x", view(values));
  ASSERT_TRUE(shown);
  EXPECT_TRUE(shown->buckets.empty());
  EXPECT_THAT(shown->line, HasSubstr("NaN 3"));
  EXPECT_TRUE(show("empty", view(std::vector<float>()))->buckets.empty());
}

TEST(Show, WhatCannotBeShownIsAnError) {
  const std::vector<std::complex<float>> complex(3);
  EXPECT_THAT(show("x", view(complex)).error().message(), HasSubstr("complex"));
  EXPECT_FALSE(show("x", TensorView{nullptr, DType::f32, {3}}));
  EXPECT_FALSE(values_text(TensorView{nullptr, DType::f32, {3}}));
  const std::vector<float> values = numbers(3);
  EXPECT_THAT(show("x", view(values), 0).error().message(), HasSubstr("buckets"));
}

TEST(ValuesText, IsWhatNumPyPrints) {
  const std::vector<float> values = {1, 2.5f, -3, 4};
  EXPECT_EQ(*values_text(view(values, {2, 2})), "[[ 1.   2.5]\n [-3.   4. ]]");
  EXPECT_THAT(*values_text(view(numbers(2000))), HasSubstr("..."));
}

TEST(ValuesText, ShowsAsManyElementsOfEachAxisAsAskedFor) {
  const std::vector<float> values = numbers(10);
  EXPECT_EQ(*values_text(view(values), 2), "[0. 1. ... 8. 9.]");
  EXPECT_EQ(*values_text(view(values), -1), "[0. 1. 2. 3. 4. 5. 6. 7. 8. 9.]");
}

}  // namespace
}  // namespace sonde
