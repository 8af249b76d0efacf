#include "inspect/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "inspect/health.h"

namespace sonde::inspect {
namespace {

Difference between(const std::vector<float>& one, const std::vector<float>& other) {
  return difference(view(one), view(other));
}

TEST(Difference, IsCountedInStepsOfTheType) {
  EXPECT_TRUE(between({1, 2}, {1, 2}).bitwise);
  EXPECT_EQ(between({1, 2}, {std::nextafter(1.0F, 2.0F), 2}).ulp, 1U);
  EXPECT_EQ(between({0}, {-0.0F}).ulp, 0U);
  EXPECT_EQ(between({std::nextafter(0.0F, 1.0F)}, {std::nextafter(0.0F, -1.0F)}).ulp, 2U);
  EXPECT_EQ(between({NAN}, {1}).ulp, std::numeric_limits<std::uint64_t>::max());
}

TEST(Difference, RelatesToTheNorm) {
  EXPECT_DOUBLE_EQ(between({3, 4}, {3, 5}).relative, 0.2);
  EXPECT_FALSE(difference(view(std::vector<float>{1}), view(std::vector<double>{1})).comparable);
}

TEST(Verification, OfSeveralInputsHasTheWorstDifferences) {
  Verification all;
  all.outputs = {{"y", {.bitwise = true}}};
  all.consumers = {{0, 1, {.bitwise = true}, false, ""}, {0, 2, {}, false, "not shown"}};
  Verification next;
  next.outputs = {{"y", {.ulp = 3, .relative = 0.5}}};
  next.consumers = {{0, 1, {.ulp = 2, .relative = NAN}, true, ""}, {0, 2, {.ulp = 7}, false, ""}};
  all.merge(next);
  EXPECT_EQ(all.inputs, 2U);
  EXPECT_FALSE(all.outputs[0].difference.bitwise);
  EXPECT_EQ(all.outputs[0].difference.ulp, 3U);
  EXPECT_TRUE(all.consumers[0].not_the_value_used);
  EXPECT_EQ(all.consumers[1].difference.ulp, 7U);
  EXPECT_EQ(all.consumers[1].skipped, "");
  all.merge(all);
  EXPECT_TRUE(std::isnan(all.consumers[0].difference.relative));
}

TEST(Health, CountsUnitsThatAreAlwaysZero) {
  Layer relu;
  relu.op = "Relu";
  UnitActivity units;
  const std::vector<float> first = {0, 0, 1, 0, 0, 0};
  units.add(relu, view(first, {2, 3}), false);
  EXPECT_EQ(units.units(), 3);
  EXPECT_EQ(units.dead(), 2);
  const std::vector<float> second = {0, 4, 0};
  units.add(relu, view(second, {1, 3}), false);
  EXPECT_EQ(units.dead(), 1);
}

TEST(Health, FindsChannelsWhereTheModelHasThem) {
  Layer relu;
  relu.op = "Relu";
  const std::vector<float> values = {1, 1, 0, 0};  // [1,2,2,1] or [1,2,1,2]
  UnitActivity first;
  first.add(relu, view(values, {1, 2, 2, 1}), false);
  EXPECT_EQ(first.dead(), 1);
  UnitActivity last;
  last.add(relu, view(values, {1, 2, 1, 2}), true);
  EXPECT_EQ(last.dead(), 0);
}

TEST(Health, NamesTypesInWhichALayerOverflows) {
  const std::vector<float> values = {1, -70000};
  stats::Histogram histogram;
  const auto summary = stats::summarize(view(values), histogram);
  Layer layer;
  const HealthReport report = health_of(layer, DType::f32, *summary, histogram, {});
  ASSERT_EQ(report.casts.size(), 4U);
  EXPECT_EQ(report.casts[0].type, "fp16");
  EXPECT_EQ(report.casts[0].risk.overflow.low, 0.5);
  EXPECT_EQ(report.casts[1].risk.overflow.high, 0);  // bf16
  EXPECT_EQ(report.lost_in_int8, 0.5);
}

TEST(Health, SeesASaturatedSigmoid) {
  const std::vector<float> values = {0.001F, 0.999F, 0.5F, 1};
  stats::Histogram histogram;
  const auto summary = stats::summarize(view(values), histogram);
  Layer layer;
  layer.op = "Sigmoid";
  EXPECT_EQ(health_of(layer, DType::f32, *summary, histogram, {}).saturated, 0.75);
}

}  // namespace
}  // namespace sonde::inspect
