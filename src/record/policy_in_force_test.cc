#include "record/policy_in_force.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "record/counter_set.h"
#include "record/loss_log.h"

namespace sonde::record {
namespace {

Policy watching(const std::string& tensors, std::int64_t every) {
  Policy policy;
  policy.watches.push_back({.tensors = tensors, .every = every, .record = Keep::stats});
  return policy;
}

struct PolicyInForceTest : testing::Test {
  std::vector<std::string> told;
  ErrorQueue errors{[this](const Status& status) { told.push_back(status.message()); }};

  static const policy::Plan& plan(const ProbeEntry* probe) { return *probe->plan.load(); }
};

TEST_F(PolicyInForceTest, UsesTheProgramsOptionsIfThePolicyIsEmpty) {
  PolicyInForce policy({}, errors);
  ASSERT_TRUE(policy.start().ok());
  const ProbeEntry* probe = policy.probe("dense", {.keep = Keep::stats, .every = 10});
  EXPECT_NE(policy.due(plan(probe), 20, false), 0U);
  EXPECT_EQ(policy.due(plan(probe), 21, false), 0U);
}

TEST_F(PolicyInForceTest, PlansKnownProbesAgainForANewPolicy) {
  PolicyInForce policy({}, errors);
  ASSERT_TRUE(policy.start().ok());
  const ProbeEntry* probe = policy.probe("dense", {});
  const std::uint64_t before = policy.engine_version();
  ASSERT_TRUE(policy.set_policy(watching("dense", 7)).ok());
  EXPECT_GT(policy.engine_version(), before);
  EXPECT_NE(policy.due(plan(probe), 7, false), 0U);
  EXPECT_EQ(policy.due(plan(probe), 8, false), 0U);
}

TEST_F(PolicyInForceTest, KeepsThePolicyIfAnotherOneIsRejected) {
  PolicyInForce policy(watching("dense", 7), errors);
  ASSERT_TRUE(policy.start().ok());
  const std::uint64_t before = policy.engine_version();
  EXPECT_FALSE(policy.set_policy(watching("((", 1)).ok());
  EXPECT_EQ(policy.engine_version(), before);
  EXPECT_EQ(policy.engine()->policy().watches.at(0).tensors, "dense");
}

TEST_F(PolicyInForceTest, LaysAControlFileOnTopOfThePolicyAndTakesItAway) {
  PolicyInForce policy(watching("dense", 7), errors);
  ASSERT_TRUE(policy.start().ok());
  policy::ControlFile control;
  control.policy = watching("conv", 1);
  control.has_watches = true;
  ASSERT_TRUE(policy.set_control(control).ok());
  EXPECT_EQ(policy.engine()->policy().watches.at(0).tensors, "conv");
  ASSERT_TRUE(policy.set_policy(watching("other", 3)).ok());
  EXPECT_EQ(policy.engine()->policy().watches.at(0).tensors, "conv");
  ASSERT_TRUE(policy.set_control(std::nullopt).ok());
  EXPECT_EQ(policy.engine()->policy().watches.at(0).tensors, "other");
}

TEST_F(PolicyInForceTest, ReturnsOneProbePerNameAndReportsOtherOptionsOnce) {
  PolicyInForce policy({}, errors);
  ASSERT_TRUE(policy.start().ok());
  const ProbeEntry* first = policy.probe("dense", {.every = 2});
  EXPECT_EQ(policy.probe("dense", {}), first);
  EXPECT_EQ(policy.probe("dense", {.every = 3}), first);
  EXPECT_EQ(policy.probe("dense", {.every = 4}), first);
  EXPECT_NE(policy.probe("dense", {.kind = Kind::gradient}), first);
  EXPECT_EQ(policy.probes().size(), 2U);
  errors.deliver();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("'dense' already exists with other options"), std::string::npos);
}

TEST_F(PolicyInForceTest, WantsLessAtALowerLevel) {
  PolicyInForce policy({}, errors);
  ASSERT_TRUE(policy.start().ok());
  policy::Plan ring_only;
  ring_only.flight = true;
  EXPECT_TRUE(policy.wants(ring_only, 0));
  policy.set_level(policy::Level::statistics);
  EXPECT_FALSE(policy.wants(ring_only, 0));
  EXPECT_TRUE(policy.wants(ring_only, 1));
  policy.set_level(policy::Level::nothing);
  EXPECT_FALSE(policy.wants(ring_only, 1));
}

TEST_F(PolicyInForceTest, CountsTheFirstStepAfterAnEpochBeganAsTheEpochsFirst) {
  Policy epochs = watching("dense", 1);
  epochs.watches[0].epochs = true;
  PolicyInForce policy(epochs, errors);
  ASSERT_TRUE(policy.start().ok());
  const ProbeEntry* probe = policy.probe("dense", {});
  EXPECT_FALSE(policy.has_epochs());
  policy.begin_step(4);
  EXPECT_EQ(policy.due(plan(probe), 4, false), 0U);
  policy.begin_epoch(1);
  policy.begin_step(5);
  EXPECT_TRUE(policy.has_epochs());
  EXPECT_NE(policy.due(plan(probe), 5, false), 0U);
  policy.begin_step(6);
  EXPECT_EQ(policy.due(plan(probe), 6, false), 0U);
  EXPECT_NE(policy.due(plan(probe), 0, true), 0U);  // an evaluation pass is within the epoch
}

TEST(LossLog, CountsEachLossAndMakesOneGapOfAProbesLosses) {
  CounterSet counters;
  LossLog losses(counters);
  ProbeEntry probe;
  probe.id = 3;
  probe.name = "dense";
  const ProbeJob job = {.probe = &probe};
  losses.lose_tensor(&job, 12);
  losses.lose_tensor(&job, 10);
  losses.lose_tensor(nullptr, 11);
  losses.lose_scalar(9);
  EXPECT_EQ(counters.read().dropped_tensors, 3U);
  EXPECT_EQ(counters.read().dropped_scalars, 1U);
  const auto taken = losses.take();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].probe->name, "dense");
  EXPECT_EQ(taken[0].first_step, 10);
  EXPECT_EQ(taken[0].last_step, 12);
  EXPECT_EQ(taken[0].count, 2U);
  EXPECT_FALSE(taken[1].probe);
  EXPECT_EQ(taken[1].count, 2U);
  EXPECT_TRUE(losses.take().empty());
}

}  // namespace
}  // namespace sonde::record
