#include "stats/summary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "stats/reference.h"
#include "stats/summary_testing.h"

namespace sonde::stats {
namespace {

Summary of(std::vector<double> values) { return reference_summary(values); }

TEST(Summary, WithoutValuesHasNoExtremesAndNoMean) {
  const Summary summary;
  EXPECT_EQ(summary.finite(), 0U);
  EXPECT_TRUE(std::isnan(summary.min) && std::isnan(summary.max) && std::isnan(summary.mean));
  EXPECT_TRUE(std::isnan(summary.stddev()));
  EXPECT_EQ(summary.l2(), 0);
}

TEST(Summary, DeviationIsThatOfThePopulation) {
  const Summary summary = of({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(summary.stddev(), std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(summary.l2(), std::sqrt(30.0));
}

TEST(Summary, L2OfHugeValuesDoesNotOverflow) { EXPECT_DOUBLE_EQ(of({3e300, 3e300, 3e300, 3e300}).l2(), 6e300); }

TEST(SummaryMerge, WithNothingChangesNothing) {
  Summary a = of({1, -2, 0});
  a.merge(Summary{});
  EXPECT_EQ(difference(a, of({1, -2, 0})), "");
  Summary b;
  b.merge(a);
  EXPECT_EQ(difference(b, a), "");
}

TEST(SummaryMerge, KeepsTheMeanOfPartsThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Summary a = of({nan, infinity, -infinity});
  a.merge(of({5, 7}));
  a.merge(of({nan}));
  EXPECT_EQ(difference(a, of({nan, infinity, -infinity, 5, 7, nan})), "");
}

TEST(SummaryMerge, KeepsTheMeanFiniteIfTheDifferenceOfTwoMeansIsNot) {
  Summary a = of({1.7e308});
  a.merge(of({-1.7e308, -1.7e308, -1.7e308}));
  EXPECT_DOUBLE_EQ(a.mean, -0.85e308);
  EXPECT_EQ(a.m2, std::numeric_limits<double>::infinity());
}

RC_GTEST_PROP(SummaryMerge, OfAnyPartsIsTheSummaryOfTheWhole, ()) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<double> values = adversarial<double>(random, *rc::gen::inRange<std::size_t>(0, 300));
  Summary merged;
  std::size_t first = 0;
  while (first < values.size()) {
    const auto size = *rc::gen::inRange<std::size_t>(1, values.size() - first + 1);
    merged.merge(reference_summary(std::span(values).subspan(first, size)));
    first += size;
  }
  RC_ASSERT(difference(merged, reference_summary(values)) == "");
}

}  // namespace
}  // namespace sonde::stats
