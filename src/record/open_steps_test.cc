#include "record/open_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sonde::record {
namespace {

constexpr Pass kTraining = {};
constexpr Pass kFirst = {.id = 1};
constexpr Pass kSecond = {.id = 2};
constexpr Pass kEvaluation = {.id = 3, .evaluation = true};

double loss_of(const StepData& step) { return step.values().scalar("loss"); }

TEST(OpenSteps, KeepsPassesWithEqualNumbersApart) {
  OpenSteps steps;
  StepData& one = steps.begin(kFirst, 7);
  StepData& other = steps.begin(kSecond, 7);
  StepData& training = steps.begin(kTraining, 7);
  EXPECT_EQ(steps.find(kFirst, 7), &one);
  EXPECT_EQ(steps.find(kSecond, 7), &other);
  EXPECT_EQ(steps.find(kTraining, 7), &training);
  EXPECT_EQ(one.next_occurrence(5), 0U);
  EXPECT_EQ(other.next_occurrence(5), 0U);
  steps.remove(one);
  EXPECT_EQ(steps.find(kFirst, 7), nullptr);
  EXPECT_EQ(steps.find(kSecond, 7), &other);
  EXPECT_THAT(steps.all(), ::testing::ElementsAre(&training, &other));
}

TEST(OpenSteps, FindsNothingUnderAnotherNumber) {
  OpenSteps steps;
  steps.begin(kFirst, 7);
  steps.begin(kTraining, 9);
  EXPECT_EQ(steps.find(kFirst, 8), nullptr);
  EXPECT_EQ(steps.find(kTraining, 8), nullptr);
}

TEST(OpenSteps, StartEachPassEmpty) {
  OpenSteps steps;
  StepData& one = steps.begin(kEvaluation, 7);
  steps.set_scalar(0, "loss", 1, 7);
  (void)one.next_occurrence(0);
  one.tensors.emplace_back();
  steps.remove(one);
  StepData& next = steps.begin(kSecond, 8);
  EXPECT_TRUE(std::isnan(loss_of(next)));
  EXPECT_EQ(next.next_occurrence(0), 0U);
  EXPECT_TRUE(next.tensors.empty());
  EXPECT_FALSE(next.pass.evaluation);
}

TEST(OpenSteps, GiveAScalarToThePassOfItsNumber) {
  OpenSteps steps;
  const StepData& one = steps.begin(kFirst, 1);
  const StepData& other = steps.begin(kSecond, 2);
  steps.set_scalar(0, "loss", 0.1, 1);
  steps.set_scalar(0, "loss", 0.2, 2);
  EXPECT_EQ(loss_of(one), 0.1);
  EXPECT_EQ(loss_of(other), 0.2);
}

TEST(OpenSteps, GiveAScalarOfAnEvaluationToATrainingStepWithoutIt) {
  OpenSteps steps;
  const StepData& training = steps.begin(kTraining, 5);
  steps.set_scalar(0, "loss", 1, 5);
  const StepData& evaluation = steps.begin(kEvaluation, 5);
  steps.set_scalar(0, "loss", 2, 5);
  steps.set_scalar(1, "accuracy", 0.5, 5);
  EXPECT_EQ(loss_of(training), 1);
  EXPECT_EQ(loss_of(evaluation), 2);
  EXPECT_EQ(training.values().scalar("accuracy"), 0.5);
}

TEST(OpenSteps, KnowWhetherOneIsInProgressAtWhoseEndTriggersAreLookedAt) {
  OpenSteps steps;
  EXPECT_FALSE(steps.any_but_evaluation());
  steps.begin(kEvaluation, 1);
  EXPECT_FALSE(steps.any_but_evaluation());
  StepData& pass = steps.begin(kFirst, 1);
  EXPECT_TRUE(steps.any_but_evaluation());
  steps.remove(pass);
  steps.begin(kTraining, 1);
  EXPECT_TRUE(steps.any_but_evaluation());
}

}  // namespace
}  // namespace sonde::record
