#include "stats/computed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace sonde::stats {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// As a device would hand them over: from our own kernels here.
Statistics statistics_of(const std::vector<float>& data) {
  Histogram histogram;
  const Summary s = *summarize(view(data), histogram);
  Statistics made = {.shape = {static_cast<std::int64_t>(data.size())},
                     .count = s.count,
                     .nan = s.nan,
                     .positive_infinity = s.positive_infinity,
                     .negative_infinity = s.negative_infinity,
                     .zeros = s.zeros,
                     .negatives = s.negatives,
                     .min = s.min,
                     .max = s.max,
                     .mean = s.mean,
                     .m2 = s.m2,
                     .sum_abs = s.sum_abs};
  made.histogram.assign(histogram.bins().begin(), histogram.bins().end());
  return made;
}

Statistics some() { return statistics_of({-2, 0, 1, 3, static_cast<float>(kInf), static_cast<float>(kNaN)}); }

RC_GTEST_PROP(ComputedStatistics, AreTakenAsTheyAreWhereATensorHasThem, (const std::vector<float>& data)) {
  const Statistics given = statistics_of(data);
  const auto taken = take(given);
  RC_ASSERT(bool{taken});
  Histogram histogram;
  const Summary expected = *summarize(view(data), histogram);
  RC_ASSERT(taken->summary.count == expected.count);
  RC_ASSERT(taken->summary.m2 == expected.m2);
  RC_ASSERT(taken->summary.mean == expected.mean || std::isnan(expected.mean));
  RC_ASSERT(taken->histogram.value_or(Histogram()) == histogram);
}

TEST(ComputedStatistics, AreTakenFieldByField) {
  const Statistics given = {.shape = {28},
                            .count = 28,
                            .nan = 2,
                            .positive_infinity = 3,
                            .negative_infinity = 4,
                            .zeros = 5,
                            .negatives = 6,
                            .min = -7,
                            .max = 8,
                            .mean = 0.5,
                            .m2 = 9,
                            .sum_abs = 10};
  const auto taken = take(given);
  ASSERT_TRUE(taken.ok()) << taken.error().message();
  const Summary& s = taken->summary;
  EXPECT_THAT((std::vector{s.count, s.nan, s.positive_infinity, s.negative_infinity, s.zeros, s.negatives}),
              ElementsAre(28, 2, 3, 4, 5, 6));
  EXPECT_THAT((std::vector{s.min, s.max, s.mean, s.m2, s.sum_abs}), ElementsAre(-7, 8, 0.5, 9, 10));
}

TEST(ComputedStatistics, MayLackAHistogramAndFiniteValues) {
  Statistics without = some();
  without.histogram.clear();
  ASSERT_TRUE(take(without).ok());
  EXPECT_FALSE(take(without)->histogram.has_value());
  EXPECT_TRUE(statistics_of({}).check().ok());
  EXPECT_TRUE(statistics_of({static_cast<float>(kNaN)}).check().ok());
}

TEST(ComputedStatistics, MayHaveAMeanThatWasRounded) {
  Statistics same = statistics_of({0.1F, 0.1F});
  same.mean = std::nextafter(same.max, kInf);
  ASSERT_TRUE(take(same).ok());
  EXPECT_EQ(take(same)->summary.mean, same.max);
}

TEST(ComputedStatistics, AreRejectedWithAMessageIfTheyAreInconsistent) {
  const std::vector<std::pair<std::function<void(Statistics&)>, const char*>> cases = {
      {[](Statistics& s) { s.shape = {7}; }, "the shape has 7 elements, and the count is 6"},
      {[](Statistics& s) { s.shape = {-1}; }, "a shape or an element type that no tensor has"},
      {[](Statistics& s) { s.dtype = static_cast<DType>(99); }, "a shape or an element type that no tensor has"},
      {[](Statistics& s) { s.dtype = DType::c64; }, "complex numbers have no order"},
      {[](Statistics& s) { s.nan = 6; }, "more NaN and infinities than elements"},
      {[](Statistics& s) { s.nan = UINT64_MAX; }, "more NaN and infinities than elements"},
      {[](Statistics& s) { s.zeros = 4; }, "more zeros and negatives than finite elements"},
      {[](Statistics& s) { s.min = kNaN; }, "one of them is not finite"},
      {[](Statistics& s) { s.max = kInf; }, "one of them is not finite"},
      {[](Statistics& s) { s.max = -5; }, "min -2 is above max -5"},
      {[](Statistics& s) { s.mean = 4; }, "mean 4 is not between min -2 and max 3"},
      {[](Statistics& s) { s.m2 = -1; }, "m2 and sum_abs"},
      {[](Statistics& s) { s.sum_abs = kNaN; }, "m2 and sum_abs"},
      {[](Statistics& s) { s.negatives = 0; }, "min is -2 and 0 elements are below 0"},
      {[](Statistics& s) { s.histogram[0].key = 1 << 20; }, "which the grid does not have"},
      {[](Statistics& s) { s.histogram[0].count = 9; }, "the histogram has 12 values, and 4 elements are finite"},
      {[](Statistics& s) { s.histogram[0].key = 5; }, "other zeros or negatives"},
  };
  for (const auto& [spoil, expected] : cases) {
    Statistics spoilt = some();
    spoil(spoilt);
    const Status status = spoilt.check();
    ASSERT_FALSE(status.ok()) << expected;
    EXPECT_THAT(status.message(), HasSubstr(expected));
    EXPECT_FALSE(take(spoilt).ok());
  }
  Statistics nothing = statistics_of({static_cast<float>(kNaN)});
  nothing.mean = 0;
  EXPECT_THAT(nothing.check().message(), HasSubstr("nothing is finite"));
  Statistics positive = statistics_of({1, 2});
  positive.zeros = 1;
  EXPECT_THAT(positive.check().message(), HasSubstr("zeros outside of min and max"));
}

RC_GTEST_PROP(ComputedStatistics, HaveTheKeysOfTheGrid, (double value)) {
  if (std::isfinite(value)) RC_ASSERT(histogram_key(value) == Histogram::key_of(value));
}

TEST(ComputedStatistics, HaveTheKeysOfTheGridAtItsEnds) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 1.0, -1.0, Limits::denorm_min(), -Limits::denorm_min(), Limits::min(),
                             Limits::max(), Limits::lowest(), 0.1, 1.0625, std::nextafter(1.0625, 0.0)}) {
    EXPECT_EQ(histogram_key(value), Histogram::key_of(value)) << value;
  }
}

}  // namespace
}  // namespace sonde::stats
