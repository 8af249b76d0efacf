// Gathering and deciding a step, without files.
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "record/open_steps.h"
#include "record/step_decider.h"
#include "record/step_gatherer.h"

namespace sonde::record {
namespace {

struct StepTest : testing::Test {
  base::TaskPool pool{"test", 2};
  StepGatherer gatherer{30, pool};
  OpenSteps open;
  ErrorQueue errors{{}};

  // The job of a tensor all of whose parts are due.
  static ProbeJob job(const ProbeEntry* probe) {
    const policy::Plan* plan = probe->plan.load();
    policy::Parts due = 0;
    for (std::size_t i = 0; i < plan->parts.size(); ++i) due |= policy::Parts{1} << i;
    return {.probe = probe, .plan = plan, .due = due};
  }

  StepData& begin(std::int64_t step) { return open.begin({}, step); }

  StepData::Tensor& add(const ProbeJob& from, const TensorView& view) {
    auto added = gatherer.add(*open.training(), from, view, policy::Level::full);
    EXPECT_TRUE(added.ok()) << added.error().message();
    return **added;
  }

  static StepDecider::OwnCondition always() {
    return [](const StepData::Tensor&) { return true; };
  }
};

struct InForce {
  explicit InForce(ErrorQueue& errors, const Policy& policy = {}) : policy_(policy, errors) {
    EXPECT_TRUE(policy_.start().ok());
  }
  PolicyInForce policy_;
};

TEST_F(StepTest, GathersStatisticsAndNumbersThoseOfOneName) {
  InForce in_force(errors);
  const ProbeEntry* probe = in_force.policy_.probe("dense", {});
  const StepData& step = begin(5);
  const std::vector<float> values = {1, 2, 6};
  EXPECT_EQ(add(job(probe), view(values)).record.occurrence, 0U);
  const StepData::Tensor& second = add(job(probe), view(values));
  EXPECT_EQ(second.record.occurrence, 1U);
  EXPECT_EQ(second.record.summary.mean, 3);
  ASSERT_TRUE(second.record.histogram);
  EXPECT_EQ(second.record.histogram->total(), 3U);
  EXPECT_FALSE(second.buckets.empty());
  EXPECT_EQ(step.tensors.size(), 2U);
}

TEST_F(StepTest, ComputesNoUnneededHistogram) {
  InForce in_force(errors);
  const ProbeEntry* probe = in_force.policy_.probe("dense", {.keep = Keep::stats});
  begin(1);
  EXPECT_FALSE(add(job(probe), view(std::vector<float>{1, 2})).record.histogram);
}

TEST_F(StepTest, SummarisesOnlyTheRowsThatAWatchWants) {
  Policy policy;
  policy.watches.push_back({.tensors = "dense", .sample = {.rows = 1}, .record = Keep::stats});
  policy.watches.push_back({.tensors = "dense", .record = Keep::histogram});
  InForce in_force(errors, policy);
  const ProbeEntry* probe = in_force.policy_.probe("dense", {});
  begin(1);
  const std::vector<float> values = {1, 3, 100, 200};
  StepData::Tensor& tensor = add(job(probe), view(values, {2, 2}));
  EXPECT_EQ(tensor.record.summary.max, 200);
  ASSERT_EQ(tensor.of_rows.size(), 1U);
  EXPECT_EQ(tensor.of_rows[0].summary.max, 3);
  StepDecider::take_rows(tensor, tensor.due, Keep::stats);
  EXPECT_EQ(tensor.record.summary.max, 3);
}

TEST_F(StepTest, ComplexTensorsHaveStatisticsOfTheirPartsForConditions) {
  InForce in_force(errors);
  const ProbeEntry* probe = in_force.policy_.probe("spectrum", {});
  begin(1);
  const std::vector<std::complex<float>> values = {{1, std::numeric_limits<float>::quiet_NaN()}, {2, 3}};
  const StepData::Tensor& tensor = add(job(probe), view(values));
  EXPECT_EQ(tensor.record.summary.nan, 1U);
  EXPECT_FALSE(tensor.record.histogram);
}

TEST_F(StepTest, KeepsWhatIsDueIfItsConditionIsTrue) {
  Policy policy;
  policy.watches.push_back({.tensors = "dense", .when = "scalar('loss') > 5", .record = Keep::stats});
  policy.watches.push_back({.tensors = "dense", .record = Keep::histogram});
  InForce in_force(errors, policy);
  const ProbeEntry* probe = in_force.policy_.probe("dense", {});
  const auto engine = in_force.policy_.engine();
  StepDecider decider;
  for (const double loss : {9.0, 1.0}) {
    StepData& step = begin(1);
    add(job(probe), view(std::vector<float>{1, 2}));
    open.set_scalar(0, "loss", loss, 1);
    decider.end_step(*engine, step, false);
    const Decision decision = StepDecider::decide(*engine, step, false, policy::Level::full, always());
    EXPECT_EQ(decision.keeps.at(0), loss > 5 ? Keep::stats | Keep::histogram : Keep::histogram) << loss;
  }
}

TEST_F(StepTest, EvaluatesACodeConditionOnlyIfThereIsOne) {
  InForce in_force(errors);
  const ProbeEntry* with = in_force.policy_.probe("with", {.when = [](const StepValues&) { return true; }});
  const ProbeEntry* without = in_force.policy_.probe("without", {});
  const auto engine = in_force.policy_.engine();
  StepData& step = begin(1);
  const std::vector<float> values = {1};
  EXPECT_TRUE(StepDecider::decides_later(add(job(with), view(values))));
  EXPECT_FALSE(StepDecider::decides_later(add(job(without), view(values))));
  StepDecider().end_step(*engine, step, false);
  std::vector<std::string> asked;
  const Decision decision =
      StepDecider::decide(*engine, step, false, policy::Level::full, [&](const StepData::Tensor& tensor) {
        asked.push_back(tensor.probe->name);
        return false;
      });
  EXPECT_EQ(asked, std::vector<std::string>{"with"});
  EXPECT_EQ(decision.keeps.at(0), Keep::nothing);
  EXPECT_EQ(decision.keeps.at(1), Keep::stats | Keep::histogram);
}

TEST_F(StepTest, ABudgetLimitsWhatIsKept) {
  InForce in_force(errors);
  const ProbeEntry* probe = in_force.policy_.probe("dense", {.keep = Keep::stats | Keep::npy});
  const auto engine = in_force.policy_.engine();
  StepData& step = begin(1);
  EXPECT_TRUE(StepDecider::decides_later(add(job(probe), view(std::vector<float>{1}))));
  StepDecider().end_step(*engine, step, false);
  EXPECT_EQ(StepDecider::decide(*engine, step, false, policy::Level::full, always()).keeps.at(0),
            Keep::stats | Keep::npy);
  EXPECT_EQ(StepDecider::decide(*engine, step, false, policy::Level::statistics, always()).keeps.at(0), Keep::stats);
}

}  // namespace
}  // namespace sonde::record
