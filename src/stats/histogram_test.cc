#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "stats/reference.h"
#include "stats/summary.h"
#include "stats/summary_testing.h"

namespace sonde::stats {
namespace {

using Bin = Histogram::Bin;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HistogramKey, FollowsItsDefinition) {
  EXPECT_EQ(Histogram::key_of(0.0), 0);
  EXPECT_EQ(Histogram::key_of(-0.0), 0);
  EXPECT_EQ(Histogram::key_of(1.0), 1 + 1074 * 16);
  EXPECT_EQ(Histogram::key_of(std::nextafter(1.0, 0.0)), 1074 * 16);
  EXPECT_EQ(Histogram::key_of(1.0625), 2 + 1074 * 16);
  EXPECT_EQ(Histogram::key_of(-6.5), -(1 + 1076 * 16 + 10));
  EXPECT_EQ(Histogram::key_of(0x1p-1074), 1);
  EXPECT_EQ(Histogram::key_of(0x3p-1074), 1 + 16 + 8);
  EXPECT_EQ(Histogram::key_of(0x1p-149), 1 + 925 * 16);  // the smallest subnormal float is like any other number
  EXPECT_EQ(Histogram::key_of(std::numeric_limits<double>::max()), Histogram::kMaxKey);
  EXPECT_EQ(Histogram::key_of(std::numeric_limits<double>::lowest()), -Histogram::kMaxKey);
}

TEST(HistogramKey, EveryBinHoldsExactlyTheValuesBetweenItsBounds) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Histogram::lower(0), 0);
  EXPECT_EQ(Histogram::upper(0), 0);
  EXPECT_EQ(Histogram::upper(Histogram::kMaxKey), infinity);
  for (std::int32_t key = 1; key <= Histogram::kMaxKey; ++key) {
    const double lower = Histogram::lower(key);
    const double upper = Histogram::upper(key);
    ASSERT_EQ(Histogram::lower(-key), -upper);
    ASSERT_EQ(Histogram::upper(-key), -lower);
    ASSERT_LE(lower, upper);
    if (key < Histogram::kMaxKey) {
      ASSERT_EQ(Histogram::lower(key + 1), upper);
    }
    if (lower == upper) continue;  // narrower than the doubles there: always empty
    ASSERT_EQ(Histogram::key_of(lower), key);
    ASSERT_EQ(Histogram::key_of(std::nextafter(upper, 0)), key);
    ASSERT_EQ(Histogram::key_of(-lower), -key);
    ASSERT_LT(Histogram::key_of(std::nextafter(lower, 0)), key);
  }
}

RC_GTEST_PROP(HistogramKey, OrdersBinsAsNumbers, (std::uint64_t a, std::uint64_t b)) {
  const auto x = std::bit_cast<double>(a);
  const auto y = std::bit_cast<double>(b);
  RC_PRE(std::isfinite(x) && std::isfinite(y) && x <= y);
  RC_ASSERT(Histogram::key_of(x) <= Histogram::key_of(y));
}

TEST(HistogramFromBins, SortsMergesAndDropsEmptyBins) {
  const auto histogram = Histogram::from_bins({{5, 2}, {-3, 1}, {0, 0}, {5, 4}, {7, 0}, {-3, 1}});
  ASSERT_TRUE(histogram.ok());
  EXPECT_THAT(histogram->bins(), ElementsAre(Bin{-3, 2}, Bin{5, 6}));
  EXPECT_EQ(histogram->total(), 8U);
}

TEST(HistogramFromBins, RejectsKeysOutsideTheGrid) {
  for (const std::int32_t key : {Histogram::kMaxKey + 1, -Histogram::kMaxKey - 1, std::numeric_limits<int>::min()}) {
    const auto histogram = Histogram::from_bins({{1, 1}, {key, 1}});
    ASSERT_FALSE(histogram.ok());
    EXPECT_EQ(histogram.error().code(), Code::corrupt);
    EXPECT_THAT(histogram.error().message(), HasSubstr(std::to_string(key)));
  }
  EXPECT_TRUE(Histogram::from_bins({{Histogram::kMaxKey, 1}, {-Histogram::kMaxKey, 1}}).ok());
}

TEST(HistogramMerge, AddsEqualKeysAndKeepsTheRest) {
  Histogram a = *Histogram::from_bins({{-2, 1}, {0, 1}, {4, 1}});
  a.merge(*Histogram::from_bins({{-3, 2}, {0, 2}, {5, 2}}));
  EXPECT_THAT(a.bins(), ElementsAre(Bin{-3, 2}, Bin{-2, 1}, Bin{0, 3}, Bin{4, 1}, Bin{5, 2}));
  const Histogram before = a;
  a.merge(Histogram{});
  EXPECT_EQ(a, before);
}

RC_GTEST_PROP(HistogramMerge, OfAnyPartsIsTheHistogramOfTheWhole, ()) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<double> values = adversarial<double>(random, *rc::gen::inRange<std::size_t>(0, 300));
  const auto middle = *rc::gen::inRange<std::size_t>(0, values.size() + 1);
  Histogram merged = reference_histogram(std::span(values).first(middle));
  merged.merge(reference_histogram(std::span(values).subspan(middle)));
  RC_ASSERT(merged == reference_histogram(values));
}

}  // namespace
}  // namespace sonde::stats
