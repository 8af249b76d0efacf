#include "compare/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "compare/permutation.h"

namespace sonde::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Metrics between(const std::vector<float>& a, const std::vector<float>& b, const Limits& limits = {}) {
  base::TaskPool pool("test", 1);
  return *measure(view(a), view(b), limits, pool);
}

TEST(Tolerance, JudgesTheWholeTensorByDefault) {
  const Tolerance f32 = default_tolerance(DType::f32);
  EXPECT_EQ(to_string(f32), "norm-relative 1e-05");
  std::vector<float> b(1000, 1.0F);
  std::vector<float> a(1000, 1.000005F);
  EXPECT_TRUE(passes(between(a, b), f32));
  a.assign(1000, 1.001F);
  EXPECT_FALSE(passes(between(a, b), f32));
  EXPECT_EQ(to_string(default_tolerance(DType::i32)), "exact");
}

TEST(Tolerance, ThatWouldPassPasses) {
  const std::vector<float> a = {1.0F, 2.0F, 3.1F};
  const std::vector<float> b = {1.0F, 2.0F, 3.0F};
  const Metrics metrics = between(a, b);
  EXPECT_EQ(passing(metrics, default_tolerance(DType::f32)), "norm-relative 0.027");
  EXPECT_LE(metrics.norm_relative(), 0.027);
  EXPECT_EQ(passing(metrics, {.kind = Tolerance::Kind::elements, .norm = 0, .limits = {}}), "rtol 0.034, atol 0");
  EXPECT_EQ(passing(metrics, {}), "atol 0.1");
  const Metrics zeros = between({0, 1}, {0, 0});
  EXPECT_EQ(passing(zeros, default_tolerance(DType::f32)), "atol 1");
}

TEST(Tolerance, OfARuleComesBeforeTheOneForAll) {
  Tolerances tolerances;
  tolerances.set_all({.rtol = 1e-3, .atol = 0});
  ASSERT_TRUE(tolerances.add_rule("enc.*=0.5"));
  ASSERT_TRUE(tolerances.add_rule("encoder=0.25,1e-6"));
  ASSERT_TRUE(tolerances.add_rule("nothing=1,1"));
  EXPECT_EQ(to_string(tolerances.of("encoder", "e", DType::f32)), "rtol 0.25, atol 1e-06");
  EXPECT_EQ(to_string(tolerances.of("e", "enc/1", DType::f32)), "rtol 0.5, atol 0");
  EXPECT_EQ(to_string(tolerances.of("decoder", "decoder", DType::f32)), "rtol 0.001, atol 0");
  EXPECT_THAT(tolerances.unused(), ElementsAre("nothing=1,1"));
}

TEST(Tolerance, RejectsABadRule) {
  Tolerances tolerances;
  EXPECT_THAT(tolerances.add_rule("encoder").message(), HasSubstr("is not NAME=RTOL,ATOL"));
  EXPECT_THAT(tolerances.add_rule("encoder=a").message(), HasSubstr("ends in 'a'"));
  EXPECT_THAT(tolerances.add_rule("encoder=-1").message(), HasSubstr("not negative"));
  EXPECT_THAT(tolerances.add_rule("enc(=1").message(), HasSubstr("missing ')'"));
}

TEST(Permutation, FindsTheOrderOfAxes) {
  EXPECT_THAT(orders_between({1, 3, 28, 30}, {1, 28, 30, 3}), ElementsAre(AxisOrder{0, 2, 3, 1}));
  EXPECT_EQ(orders_between({1, 3, 28, 28}, {1, 28, 28, 3}).front(), (AxisOrder{0, 2, 3, 1}));
  EXPECT_TRUE(orders_between({2, 3}, {2, 4}).empty());
  EXPECT_TRUE(orders_between({2, 3}, {2, 3}).empty());
  EXPECT_TRUE(orders_between({6}, {2, 3}).empty());
  EXPECT_EQ(permutation_text({0, 2, 3, 1}), "B permuted by (0, 2, 3, 1), as NCHW to NHWC");
}

}  // namespace
}  // namespace sonde::compare
