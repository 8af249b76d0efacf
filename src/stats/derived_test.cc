#include "stats/derived.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "stats/reference.h"
#include "stats/summary_testing.h"
#include "tensor/convert.h"

namespace sonde::stats {
namespace {

struct Both {
  Summary summary;
  Histogram histogram;
};
Both of(std::span<const double> values) { return {reference_summary(values), reference_histogram(values)}; }

std::vector<double> finite_sorted(std::vector<double> values) {
  std::erase_if(values, [](double x) { return !std::isfinite(x); });
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> normal(std::size_t count, double mean, double deviation) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> distribution(mean, deviation);
  std::vector<double> values(count);
  for (double& value : values) value = distribution(random);
  return values;
}

TEST(Percentile, OfNothingFiniteIsNan) {
  EXPECT_TRUE(std::isnan(percentile({}, {}, 0.5)));
  const auto [summary, histogram] = of(std::vector{std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(std::isnan(percentile(summary, histogram, 0.5)));
}

TEST(Percentile, IsExactAtBothEndsAndForDataThatAreAllEqual) {
  const auto [summary, histogram] = of(normal(1000, 3, 2));
  EXPECT_EQ(percentile(summary, histogram, 0), summary.min);
  EXPECT_EQ(percentile(summary, histogram, 1), summary.max);
  const auto equal = of(std::vector<double>(100, 0.1));
  for (const double q : {0.0, 0.3, 0.5, 1.0}) EXPECT_EQ(percentile(equal.summary, equal.histogram, q), 0.1);
}

TEST(Percentile, OfANormalDistributionIsWithinASixteenth) {
  const auto [summary, histogram] = of(normal(100'000, 0, 1));
  EXPECT_NEAR(percentile(summary, histogram, 0.8413), 1, 0.02);  // far better, since bins are interpolated
  EXPECT_NEAR(percentile(summary, histogram, 0.1587), -1, 0.02);
  EXPECT_NEAR(percentile(summary, histogram, 0.5), 0, 0.02);
}

RC_GTEST_PROP(Percentile, IsInTheBinOfTheTrueOne, ()) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<double> values = adversarial<double>(random, *rc::gen::inRange<std::size_t>(1, 200));
  const std::vector<double> sorted = finite_sorted(values);
  RC_PRE(!sorted.empty());
  const double q = *rc::gen::inRange(1, 1000) / 1000.0;
  const auto n = static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q * n)));
  const auto [summary, histogram] = of(values);
  const double got = percentile(summary, histogram, q);
  const double truth = sorted[rank - 1];
  RC_ASSERT(Histogram::key_of(got) == Histogram::key_of(truth));
  RC_ASSERT(std::abs(got - truth) <= std::abs(truth) / 16);
}

TEST(TensorboardBuckets, OfNothingFiniteAreNone) {
  EXPECT_TRUE(tensorboard_buckets({}, {}, 30).empty());
  const auto [summary, histogram] = of(std::vector{std::numeric_limits<double>::quiet_NaN()});
  EXPECT_TRUE(tensorboard_buckets(summary, histogram, 30).empty());
}

TEST(TensorboardBuckets, OfEqualDataAreOneFromTheValueToItself) {
  const auto [summary, histogram] = of(std::vector<double>(7, -2.5));
  const std::vector<Bucket> buckets = tensorboard_buckets(summary, histogram, 30);
  ASSERT_EQ(buckets.size(), 1U);
  EXPECT_EQ(buckets[0].left, -2.5);
  EXPECT_EQ(buckets[0].right, -2.5);
  EXPECT_EQ(buckets[0].count, 7);
}

TEST(TensorboardBuckets, KeepPointsWhole) {
  const auto [summary, histogram] = of(std::vector<double>{0, 0, 0, 1});
  const std::vector<Bucket> buckets = tensorboard_buckets(summary, histogram, 4);
  ASSERT_EQ(buckets.size(), 4U);
  EXPECT_EQ(buckets[0].count, 3);
  EXPECT_EQ(buckets[1].count, 0);
  EXPECT_EQ(buckets[2].count, 0);
  EXPECT_EQ(buckets[3].count, 1);  // the last one includes its right edge
}

TEST(TensorboardBuckets, SpanTheWholeRangeOfDoubles) {
  const double max = std::numeric_limits<double>::max();
  const auto [summary, histogram] = of(std::vector<double>{-max, 0, max});
  const std::vector<Bucket> buckets = tensorboard_buckets(summary, histogram, 3);
  ASSERT_EQ(buckets.size(), 3U);
  for (const Bucket& bucket : buckets) EXPECT_EQ(bucket.count, 1);
  EXPECT_EQ(buckets[0].left, -max);
  EXPECT_EQ(buckets[2].right, max);
}

TEST(TensorboardBuckets, AreAtLeastOne) {
  const auto [summary, histogram] = of(normal(100, 0, 1));
  for (const int buckets : {-5, 0, 1}) {
    const std::vector<Bucket> got = tensorboard_buckets(summary, histogram, buckets);
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].count, 100);
  }
}

// Up to any edge, the counts differ from the true ones by no more than what is in the fine bin of that edge.
RC_GTEST_PROP(TensorboardBuckets, AreWrongOnlyWithinTheBinsAtTheirEdges, ()) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<double> values = adversarial<double>(random, *rc::gen::inRange<std::size_t>(1, 300));
  const std::vector<double> sorted = finite_sorted(values);
  RC_PRE(!sorted.empty());
  const auto [summary, histogram] = of(values);
  const std::vector<Bucket> buckets = tensorboard_buckets(summary, histogram, *rc::gen::inRange(1, 40));
  RC_ASSERT(buckets.front().left == sorted.front());
  RC_ASSERT(buckets.back().right == sorted.back());
  double sum = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double edge = buckets[i].right;
    RC_ASSERT(buckets[i].left <= edge);
    RC_ASSERT(buckets[i].count >= 0);
    if (i > 0) RC_ASSERT(buckets[i].left == buckets[i - 1].right);
    sum += buckets[i].count;
    if (i + 1 == buckets.size()) break;
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), edge) - sorted.begin();
    const auto straddling = std::count_if(sorted.begin(), sorted.end(), [&](double x) {
      return x != 0 && Histogram::key_of(x) == Histogram::key_of(edge);
    });
    RC_ASSERT(std::abs(sum - static_cast<double>(below)) <= static_cast<double>(straddling) + 1e-9);
  }
  RC_ASSERT(std::abs(sum - static_cast<double>(sorted.size())) <= 1e-9 * sum);
}

// What really happens to a value in a cast, by the conversions of the tensor module.
struct Fate {
  bool overflows;
  bool vanishes;
  bool subnormal;
};
struct TargetCase {
  Target target;
  double min_normal;
  std::function<float(float)> round_trip;
};
std::vector<TargetCase> targets() {
  return {{Target::f16, 0x1p-14, [](float x) { return tensor::to_float(tensor::to_float16(x)); }},
          {Target::bf16, 0x1p-126, [](float x) { return tensor::to_float(tensor::to_bfloat16(x)); }},
          {Target::f8_e4m3, 0x1p-6, [](float x) { return tensor::to_float(tensor::to_float8_e4m3(x)); }},
          {Target::f8_e5m2, 0x1p-14, [](float x) { return tensor::to_float(tensor::to_float8_e5m2(x)); }}};
}
Fate fate_of(double value, const TargetCase& target) {
  const double rounded = static_cast<double>(target.round_trip(static_cast<float>(value)));
  return {!std::isfinite(rounded), value != 0 && rounded == 0, rounded != 0 && std::abs(rounded) < target.min_normal};
}

void expect_bounds(std::span<const double> values, const TargetCase& target) {
  double total = 0;
  double overflow = 0;
  double underflow = 0;
  double subnormal = 0;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    const Fate fate = fate_of(x, target);
    total += 1;
    overflow += fate.overflows ? 1 : 0;
    underflow += fate.vanishes ? 1 : 0;
    subnormal += fate.subnormal ? 1 : 0;
  }
  if (total == 0) return;
  const auto [summary, histogram] = of(values);
  const CastRisk risk = cast_risk(summary, histogram, target.target);
  const auto expect_within = [&](const char* what, const Share& share, double truth) {
    EXPECT_LE(share.low, truth) << what << " of target " << static_cast<int>(target.target);
    EXPECT_GE(share.high, truth) << what << " of target " << static_cast<int>(target.target);
  };
  expect_within("overflow", risk.overflow, overflow / total);
  expect_within("underflow", risk.underflow, underflow / total);
  expect_within("subnormal", risk.subnormal, subnormal / total);
}

// With one value the bounds must meet: its bin has shrunk to it.
TEST(CastRisk, OfASingleValueIsExactAroundEveryLimit) {
  for (const TargetCase& target : targets()) {
    for (int exponent = -149; exponent < 128; ++exponent) {
      for (int sixteenths = 0; sixteenths < 16; ++sixteenths) {
        const float edge = std::ldexp(static_cast<float>(16 + sixteenths), exponent - 4);
        for (const float x : {std::nextafter(edge, 0.0F), edge, std::nextafter(edge, 1e38F), -edge}) {
          const Fate fate = fate_of(static_cast<double>(x), target);
          const auto [summary, histogram] = of(std::vector{static_cast<double>(x)});
          const CastRisk risk = cast_risk(summary, histogram, target.target);
          ASSERT_EQ(risk.overflow.low, fate.overflows ? 1 : 0) << x;
          ASSERT_EQ(risk.overflow.high, risk.overflow.low) << x;
          ASSERT_EQ(risk.underflow.low, fate.vanishes ? 1 : 0) << x;
          ASSERT_EQ(risk.underflow.high, risk.underflow.low) << x;
          ASSERT_EQ(risk.subnormal.low, fate.subnormal ? 1 : 0) << x;
          ASSERT_EQ(risk.subnormal.high, risk.subnormal.low) << x;
        }
      }
    }
  }
}

TEST(CastRisk, RoundsToNearestEvenAtTheLimitsThemselves) {
  const auto overflow = [](double x, Target target) {
    const auto [summary, histogram] = of(std::vector{x});
    return cast_risk(summary, histogram, target).overflow.low;
  };
  EXPECT_EQ(overflow(std::nextafter(65520.0, 0), Target::f16), 0);
  EXPECT_EQ(overflow(65520, Target::f16), 1);
  EXPECT_EQ(overflow(464, Target::f8_e4m3), 0);  // the tie goes to 448, which is even
  EXPECT_EQ(overflow(std::nextafter(464.0, 500), Target::f8_e4m3), 1);
  EXPECT_EQ(overflow(61440, Target::f8_e5m2), 1);
  EXPECT_EQ(overflow(std::nextafter(0x1p128 - 0x1p119, 0), Target::bf16), 0);
  EXPECT_EQ(overflow(0x1p128 - 0x1p119, Target::bf16), 1);
  EXPECT_EQ(overflow(1e300, Target::bf16), 1);
}

TEST(CastRisk, OfNothingIsNothing) {
  const CastRisk risk = cast_risk({}, {}, Target::f16);
  EXPECT_EQ(risk.overflow.high, 0);
  EXPECT_EQ(risk.underflow.high, 0);
  EXPECT_EQ(risk.subnormal.high, 0);
}

TEST(CastRisk, DoesNotCountZerosAsVanishing) {
  const auto [summary, histogram] = of(std::vector<double>{0, -0.0, 1});
  EXPECT_EQ(cast_risk(summary, histogram, Target::f8_e4m3).underflow.high, 0);
}

TEST(CastRisk, IsTightForSmallGradientsInHalfPrecision) {
  const auto [summary, histogram] = of(normal(100'000, 0, 1e-6));
  const CastRisk risk = cast_risk(summary, histogram, Target::f16);
  EXPECT_EQ(risk.overflow.high, 0);
  EXPECT_NEAR(risk.subnormal.low, 0.976, 0.01);  // P(|x| > 2^-25) for this distribution
  EXPECT_LE(risk.subnormal.high - risk.subnormal.low, 0.01);
}

RC_GTEST_PROP(CastRisk, BoundsTheTrueShares, ()) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const std::vector<float> floats = adversarial<float>(random, *rc::gen::inRange<std::size_t>(1, 300));
  const std::vector<double> values(floats.begin(), floats.end());
  for (const TargetCase& target : targets()) expect_bounds(values, target);
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace sonde::stats
