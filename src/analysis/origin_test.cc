// Who produced the NaN: every rule of find_origin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "analysis/origin_testing.h"

namespace sonde {
namespace {

using namespace origin_testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(FindOrigin, FindsNothingIfAllIsFinite) {
  const Origin origin = find_origin(after_a_healthy_step({tensor("activation/a", kFinite)}));
  EXPECT_FALSE(origin.found);
  EXPECT_EQ(origin.text(), "all values are finite\n");
}

// ---- Evaluation passes

TEST(FindOrigin, IsThatOfTrainingEvenIfAnEarlierEvaluationWasNonFinite) {
  const std::vector<CapturedTensor> finite = {tensor("input/x", kFinite), tensor("activation/a", kFinite, {"x"}),
                                              tensor("activation/metric", kFinite, {"a"})};
  CaptureInfo info = capture({step(1, finite), evaluation(0, finite), step(2, finite)});
  info.steps[1].tensors[2].nan = 1;
  info.steps[1].scalars = {{"eval/metric", NAN}};
  info.steps[2].tensors[1].nan = 1;
  EXPECT_EQ(
      find_origin(info).text(),
      "step 2: activation/a was the first to hold non-finite values (1 NaN of 4), although all of its inputs "
      "were finite: input/x\n"
      "note: non-finite too, but training does not continue from there: eval/activation/metric in evaluation pass "
      "0\n");
}

TEST(FindOrigin, IsThatOfAnEvaluationOnlyWhereTrainingIsFinite) {
  const std::vector<CapturedTensor> finite = {tensor("input/x", kFinite), tensor("activation/a", kFinite, {"x"})};
  CaptureInfo info = capture({step(1, finite), evaluation(3, finite), step(2, finite)});
  info.steps[1].tensors[1].nan = 1;
  const Origin origin = find_origin(info);
  ASSERT_THAT(certain(origin), ElementsAre("eval/activation/a"));
  EXPECT_TRUE(origin.producers[0].evaluation);
  EXPECT_EQ(origin.text(),
            "evaluation pass 3: eval/activation/a was the first to hold non-finite values (1 NaN of 4), although all "
            "of its inputs were finite: eval/input/x\n");
}

TEST(FindOrigin, AnEvaluationBetweenTwoStepsChangesNoWeight) {
  const Origin origin = find_origin(
      capture({step(4, {tensor("update/k", kFinite), tensor("weight/k", kFinite)}),
               evaluation(0, {tensor("activation/a", kFinite)}),
               step(5, {tensor("activation/a", kNan, {"weight/k"}), tensor("weight/k", kNan, {"update/k"})})}));
  ASSERT_THAT(certain(origin), ElementsAre("activation/a"));
  EXPECT_THAT(origin.producers[0].inputs, ElementsAre("weight/k of step 4"));
}

TEST(FindOrigin, AFirstTrainingStepThatIsNonFiniteMayHaveAnOlderOrigin) {
  const Origin origin =
      find_origin(capture({evaluation(0, {tensor("input/x", kFinite)}), step(3, {tensor("input/x", kNan)})}));
  EXPECT_THAT(origin.caveats, ElementsAre("step 3 is the first that the capture holds, so the origin may be older"));
}

// ---- Who produced it, and who passed it on

TEST(FindOrigin, NamesTheTensorWhoseInputsWereFiniteAndThoseThatPassedItOn) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("input/x", kFinite),
      tensor("weight/w", kFinite, {"gradient/w"}),
      tensor("activation/a", kFinite, {"x", "w"}),
      tensor("activation/b", kNan, {"a"}),
      tensor("activation/c", kNan, {"b", "a"}),
      tensor("gradient/b", kInfinite, {"activation/c"}),
  }));
  ASSERT_TRUE(origin.found);
  EXPECT_THAT(certain(origin), ElementsAre("activation/b"));
  EXPECT_THAT(unclear(origin), IsEmpty());
  EXPECT_THAT(origin.propagators, ElementsAre("activation/c", "gradient/b"));
  EXPECT_THAT(origin.caveats, IsEmpty());
  EXPECT_EQ(origin.producers[0].step, 7);
  EXPECT_EQ(origin.producers[0].nan, 1U);
  EXPECT_EQ(origin.producers[0].count, 4U);
  EXPECT_THAT(origin.producers[0].inputs, ElementsAre("activation/a"));
  EXPECT_EQ(
      origin.text(),
      "step 7: activation/b was the first to hold non-finite values (1 NaN of 4), although all of its inputs were "
      "finite: activation/a\n"
      "passed them on: activation/c, gradient/b\n");
}

TEST(FindOrigin, LooksOnlyAtTheFirstNonFiniteStep) {
  const Origin origin = find_origin(capture({
      step(1, {tensor("input/x", kFinite), tensor("activation/a", kFinite, {"x"})}),
      step(2, {tensor("input/x", kFinite), tensor("activation/a", kInfinite, {"x"})}),
      step(3, {tensor("input/x", kNan), tensor("activation/a", kNan, {"x"})}),
  }));
  EXPECT_THAT(certain(origin), ElementsAre("activation/a"));
  EXPECT_EQ(origin.producers[0].step, 2);
  EXPECT_EQ(origin.producers[0].infinite, 2U);
  EXPECT_THAT(origin.propagators, IsEmpty());
}

TEST(FindOrigin, NamesEveryProducerInOrder) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("input/x", kFinite),
      tensor("activation/a", kNan, {"x"}),
      tensor("activation/b", kInfinite, {"x"}),
      tensor("activation/c", kNan, {"a", "b"}),
  }));
  EXPECT_THAT(certain(origin), ElementsAre("activation/a", "activation/b"));
  EXPECT_THAT(origin.text(), HasSubstr("step 7: activation/b held non-finite values too (2 infinite of 4), although"));
}

TEST(FindOrigin, DataThatAreNonFiniteAreTheOriginThemselves) {
  const Origin origin =
      find_origin(after_a_healthy_step({tensor("input/x", kNan), tensor("activation/a", kNan, {"x"})}));
  EXPECT_THAT(certain(origin), ElementsAre("input/x"));
  EXPECT_THAT(origin.propagators, ElementsAre("activation/a"));
  EXPECT_THAT(origin.text(),
              HasSubstr("input/x was the first to hold non-finite values (1 NaN of 4): the data themselves\n"));
}

TEST(FindOrigin, WithoutDeclaredInputsATensorIsOnlyTheEarliestSeen) {
  const Origin origin = find_origin(after_a_healthy_step(
      {tensor("weight/w", kNan), tensor("activation/a", kNan), tensor("activation/b", kNan, {"a"})}));
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(unclear(origin), ElementsAre("weight/w", "activation/a"));
  EXPECT_THAT(origin.propagators, ElementsAre("activation/b"));
  EXPECT_EQ(
      origin.text(),
      "step 7: weight/w was the first tensor in the capture to hold non-finite values (1 NaN of 4), but they may come "
      "from an input that the capture does not show\n"
      "  not seen: what it is computed from, which the program did not declare\n"
      "passed them on: activation/b\n"
      "non-finite too, from inputs that the capture does not show: activation/a\n");
}

TEST(FindOrigin, NamesTheInputsThatWereNotRecorded) {
  const Origin origin = find_origin(
      after_a_healthy_step({tensor("input/x", kFinite), tensor("activation/b", kNan, {"x", "a", "weight/w"})}));
  ASSERT_THAT(unclear(origin), ElementsAre("activation/b"));
  EXPECT_THAT(origin.producers[0].inputs, ElementsAre("input/x"));
  EXPECT_THAT(origin.producers[0].unseen, ElementsAre("a (not in the capture)", "weight/w (not in the capture)"));
}

TEST(FindOrigin, ANonFiniteInputOutweighsOnesThatWereNotSeen) {
  const Origin origin =
      find_origin(after_a_healthy_step({tensor("input/x", kNan), tensor("activation/b", kNan, {"unknown", "x"})}));
  EXPECT_THAT(origin.propagators, ElementsAre("activation/b"));
}

TEST(FindOrigin, AnInputThatWasRecordedOnlyAfterwardsWasNotSeen) {
  const Origin origin =
      find_origin(capture({step(1, {tensor("activation/z", kFinite)}),
                           step(3, {tensor("activation/b", kNan, {"a"}), tensor("activation/a", kNan, {"x"})})}));
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(origin.producers[0].unseen, ElementsAre("activation/a (recorded only after it)"));
}

// ---- Which tensor a name means

TEST(FindOrigin, ANameMeansTheSameKindFirst) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("activation/a", kFinite, {"x"}),
      tensor("gradient/b", kNan, {"gradient/a"}),
      tensor("gradient/a", kNan, {"b"}),
      tensor("activation/b", kFinite, {"a"}),
  }));
  EXPECT_THAT(origin.propagators, ElementsAre("gradient/a"));
}

TEST(FindOrigin, AKindThatIsWrittenOutWins) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("activation/a", kFinite, {"x"}),
      tensor("gradient/a", kNan, {"activation/a"}),
      tensor("gradient/b", kNan, {"activation/a"}),
  }));
  EXPECT_THAT(certain(origin), ElementsAre("gradient/a", "gradient/b"));
}

TEST(FindOrigin, AGradientThatNamesAnActivationMayMeanAGradientThatWasNotRecorded) {
  const Origin origin =
      find_origin(after_a_healthy_step({tensor("activation/b", kFinite, {"x"}), tensor("gradient/a", kNan, {"b"})}));
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(origin.producers[0].unseen, ElementsAre("gradient/b (not in the capture; activation/b was finite)"));
}

TEST(FindOrigin, AnUpdateComesFromTheGradientOfItsName) {
  const std::vector<CapturedTensor> tensors = {tensor("gradient/w", kNan, {"activation/a"}),
                                               tensor("weight/w", kFinite), tensor("update/w", kNan, {"w"})};
  EXPECT_THAT(find_origin(after_a_healthy_step(tensors)).propagators, ElementsAre("update/w"));
  EXPECT_THAT(unclear(find_origin(after_a_healthy_step({tensors[1], tensors[2]}))), ElementsAre("update/w"));
}

TEST(FindOrigin, AScalarIsNeverSeenBeforeATensor) {
  // It may have been recorded only after the tensor, or once in each of several passes: the capture does not tell.
  CaptureInfo info = after_a_healthy_step({tensor("gradient/a", kNan, {"loss"})});
  info.steps[1].scalars = {{"loss", 2.5}};
  Origin origin = find_origin(info);
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(origin.producers[0].unseen,
              ElementsAre("the scalar loss at that moment (its last value in this step was finite)"));
  EXPECT_THAT(origin.text(), Not(HasSubstr("all of its inputs")));
  info.steps[1].scalars = {{"loss", std::nan("")}};
  origin = find_origin(info);
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(origin.producers[0].unseen, ElementsAre("how the scalar loss was computed, which was not finite"));
}

TEST(FindOrigin, ANameThatMayMeanATensorThatWasNotSeenIsNotSeen) {
  const Origin origin = find_origin(capture({
      step(6, {tensor("input/w", kFinite), tensor("weight/w", kFinite), tensor("activation/a", kFinite, {"w"})}),
      step(7, {tensor("input/w", kFinite), tensor("activation/a", kNan, {"w"})}),
  }));
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(origin.producers[0].unseen,
              ElementsAre("weight/w at the beginning of the step (it was finite in step 6), where w means that"));
}

TEST(FindOrigin, StepsMayBeTheSmallestAndTheLargestNumbers) {
  constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  const std::vector<CapturedTensor> healthy = {tensor("input/x", kFinite), tensor("activation/a", kFinite, {"x"})};
  const std::vector<CapturedTensor> ill = {tensor("input/x", kFinite), tensor("activation/a", kNan, {"x"})};
  CaptureInfo info = capture(
      {step(kFirst, healthy), step(kFirst + 1, healthy), step(0, healthy), step(kLast - 1, healthy), step(kLast, ill)});
  EXPECT_THAT(certain(find_origin(info)), ElementsAre("activation/a"));
  info.dropped = {{"tensors", kFirst, kLast, 1, "no room"}};
  EXPECT_THAT(find_origin(info).text(), HasSubstr("in steps -9223372036854775808 to 9223372036854775807"));
  info.dropped.clear();
  info.steps = {step(kLast, healthy), step(kFirst, ill)};  // a job that went back
  EXPECT_THAT(certain(find_origin(info)), ElementsAre("activation/a"));
}

// ---- Several occurrences in a step

TEST(FindOrigin, AnOccurrenceIsComputedFromTheSameOccurrence) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("weight/w", kFinite, {"x"}),
      tensor("activation/a", kFinite, {"w"}),
      tensor("activation/b", kFinite, {"a"}),
      tensor("activation/a#1", kNan, {"w"}),
      tensor("activation/b#1", kNan, {"a"}),
  }));
  EXPECT_THAT(certain(origin), ElementsAre("activation/a#1"));  // the weight occurs only once
  EXPECT_THAT(origin.propagators, ElementsAre("activation/b#1"));
}

TEST(FindOrigin, AMissingOccurrenceIsNotReplacedByAnother) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("activation/a", kFinite, {"x"}),
      tensor("activation/a#2", kFinite, {"x"}),
      tensor("activation/b#1", kNan, {"a"}),
  }));
  EXPECT_THAT(origin.producers[0].unseen, ElementsAre("activation/a#1 (not in the capture)"));
}

TEST(FindOrigin, AMissingOccurrenceMakesNoTensorAPropagator) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("activation/a", kNan, {"x"}),
      tensor("activation/a#2", kFinite, {"x"}),
      tensor("activation/b#1", kNan, {"a"}),
  }));
  EXPECT_THAT(origin.propagators, IsEmpty());
  EXPECT_THAT(unclear(origin), ElementsAre("activation/a", "activation/b#1"));
}

TEST(FindOrigin, InAStepThatWasNotCompletedTheOtherOccurrencesMayBeStillToCome) {
  CaptureInfo info =
      after_a_healthy_step({tensor("activation/a", kFinite, {"input/x"}), tensor("activation/b#1", kNan, {"a"})});
  EXPECT_THAT(certain(find_origin(info)), ElementsAre("activation/b#1"));
  info.steps[1].complete = false;
  EXPECT_THAT(certain(find_origin(info)), IsEmpty());
}

TEST(FindOrigin, ASumOverOccurrencesIsNotAProducerIfOneOfThemWasNonFinite) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("input/x", kFinite),
      tensor("activation/a", kFinite, {"input/x"}),
      tensor("input/x#1", kFinite),
      tensor("activation/a#1", kNan, {"input/x"}),
      tensor("activation/sum", kNan, {"a"}),
  }));
  EXPECT_THAT(certain(origin), ElementsAre("activation/a#1"));
  EXPECT_THAT(unclear(origin), ElementsAre("activation/sum"));
}

TEST(FindOrigin, AStateComesFromThePreviousOccurrence) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("activation/h", kFinite, {"h"}),
      tensor("activation/h#1", kNan, {"h"}),
      tensor("activation/h#2", kNan, {"h"}),
  }));
  EXPECT_THAT(certain(origin), ElementsAre("activation/h#1"));
  EXPECT_THAT(origin.propagators, ElementsAre("activation/h#2"));
}

// ---- The step before

TEST(FindOrigin, AWeightOfTheStepBeforeIsNotTakenForThisStepsUnlessNothingChangedIt) {
  const auto with = [](std::vector<CapturedTensor> before, std::vector<CapturedTensor> now) {
    return find_origin(capture({step(1, std::move(before)), step(2, std::move(now))}));
  };
  const CapturedTensor weight = tensor("weight/w", kFinite);
  const CapturedTensor bad_weight = tensor("weight/w", kNan, {"gradient/w"});
  const CapturedTensor update = tensor("update/w", kFinite);
  const CapturedTensor product = tensor("activation/a", kNan, {"w"});
  // An update after it was recorded may have spoiled it.
  EXPECT_THAT(with({weight}, {product, bad_weight}).producers[0].unseen,
              ElementsAre("weight/w at the beginning of the step (it was finite in step 1)"));
  EXPECT_THAT(with({weight, update}, {product}).producers[0].unseen, Not(IsEmpty()));
  // It is finite afterwards, too.
  EXPECT_THAT(certain(with({weight}, {product, weight})), ElementsAre("activation/a"));
  // It was recorded after its update.
  EXPECT_THAT(certain(with({update, weight}, {product, bad_weight})), ElementsAre("activation/a"));
}

TEST(FindOrigin, WhatIsFiniteBeforeAndAfterWasFiniteInBetweenOnlyIfItIsAWeight) {
  const auto with = [](const std::string& tag) {
    return certain(find_origin(capture(
        {step(1, {tensor(tag, kFinite)}), step(2, {tensor("activation/a", kNan, {tag}), tensor(tag, kFinite)})})));
  };
  EXPECT_THAT(with("weight/w"), ElementsAre("activation/a"));
  for (const char* tag : {"activation/h", "input/x", "gradient/w", "update/w", "output/y"}) {
    EXPECT_THAT(with(tag), IsEmpty()) << tag;
  }
}

TEST(FindOrigin, AnUpdateAfterAWeightsLastRecordMakesItUnknown) {
  const CapturedTensor weight = tensor("weight/w", kFinite);
  const CapturedTensor update = tensor("update/w", kFinite);
  const CapturedTensor other = tensor("update/v", kFinite);
  const CapturedTensor product = tensor("activation/a", kNan, {"weight/w"});
  const auto with = [](std::vector<CapturedTensor> before, std::vector<CapturedTensor> now) {
    return certain(find_origin(capture({step(1, std::move(before)), step(2, std::move(now))})));
  };
  EXPECT_THAT(with({update, weight}, {product}), ElementsAre("activation/a"));
  EXPECT_THAT(with({update, weight, other}, {other, product}), ElementsAre("activation/a"));
  EXPECT_THAT(with({update, weight, update}, {product}), IsEmpty());
  EXPECT_THAT(with({update, weight}, {update, product}), IsEmpty());
  EXPECT_THAT(with({weight}, {weight, product}), ElementsAre("activation/a"));
  EXPECT_THAT(with({weight}, {weight, update, product}), IsEmpty());
  EXPECT_THAT(with({weight}, {weight, update, tensor("weight/w#1", kFinite), product}), ElementsAre("activation/a"));
}

TEST(FindOrigin, APreviousStepWithLostTensorsSaysNothingAboutItsEnd) {
  CaptureInfo info = capture({step(1, {tensor("update/w", kFinite), tensor("weight/w", kFinite)}),
                              step(2, {tensor("activation/a", kNan, {"w"})})});
  EXPECT_THAT(certain(find_origin(info)), ElementsAre("activation/a"));
  info.dropped = {{"tensors", 1, 1, 2, "no room"}};  // such as another update
  EXPECT_THAT(certain(find_origin(info)), IsEmpty());
}

TEST(FindOrigin, StepNumbersAtBothEndsAreStepsLikeOthers) {
  const std::vector<CapturedTensor> finite = {tensor("update/w", kFinite), tensor("weight/w", kFinite)};
  const std::vector<CapturedTensor> bad = {tensor("activation/a", kNan, {"w"})};
  EXPECT_THAT(certain(find_origin(capture({step(INT64_MAX, finite), step(INT64_MIN, bad)}))), IsEmpty());
  const Origin origin = find_origin(capture({step(INT64_MIN, finite), step(-1, finite), step(INT64_MAX, bad)}));
  EXPECT_TRUE(origin.found);
}

TEST(FindOrigin, OnlyTheStepRightBeforeCounts) {
  const auto distance = [](std::int64_t next, bool complete) {
    CaptureInfo info = capture({step(1, {tensor("update/w", kFinite), tensor("weight/w", kFinite)}),
                                step(next, {tensor("activation/a", kNan, {"w"})})});
    info.steps[0].complete = complete;
    return certain(find_origin(info));
  };
  EXPECT_THAT(distance(2, true), ElementsAre("activation/a"));
  EXPECT_THAT(distance(3, true), IsEmpty());
  EXPECT_THAT(distance(2, false), IsEmpty());
}

// ---- -inf that is intended

TEST(FindOrigin, AllowedMinusInfinityIsFiniteButNoted) {
  CaptureInfo info = after_a_healthy_step({
      tensor("input/mask", kMinusInfinite),
      tensor("activation/scores", kMinusInfinite, {"mask"}),
      tensor("activation/softmax", kNan, {"scores"}),
  });
  info.allow_negative_infinity = {"mask", "activation/sc.*"};
  const Origin origin = find_origin(info);
  EXPECT_THAT(certain(origin), ElementsAre("activation/softmax"));
  EXPECT_THAT(origin.caveats, ElementsAre("activation/scores holds -inf, which is allowed there and counts as finite"));
  info.allow_negative_infinity.clear();
  EXPECT_THAT(certain(find_origin(info)), ElementsAre("input/mask"));
}

TEST(FindOrigin, AllowedMinusInfinityIsNotedEvenIfNothingWasFound) {
  CaptureInfo info = after_a_healthy_step({tensor("input/mask", kMinusInfinite)});
  info.allow_negative_infinity = {".*"};
  EXPECT_EQ(find_origin(info).text(),
            "all values that were seen are finite\n"
            "note: input/mask holds -inf, which is allowed there and counts as finite\n");
  info.steps[1].tensors.push_back(tensor("activation/scores", kMinusInfinite));
  EXPECT_THAT(find_origin(info).caveats, ElementsAre("input/mask and 1 other tensor hold -inf, which is allowed there "
                                                     "and counts as finite"));
}

TEST(FindOrigin, OnlyMinusInfinityCanBeAllowed) {
  for (const Value value : {kNan, kInfinite}) {
    CaptureInfo info = after_a_healthy_step({tensor("input/mask", value)});
    info.allow_negative_infinity = {".*"};
    EXPECT_THAT(certain(find_origin(info)), ElementsAre("input/mask"));
  }
}

TEST(FindOrigin, AnInvalidPatternAllowsNothingAndIsNoted) {
  CaptureInfo info = after_a_healthy_step({tensor("input/mask", kMinusInfinite)});
  info.allow_negative_infinity = {"(mask"};
  const Origin origin = find_origin(info);
  EXPECT_THAT(certain(origin), ElementsAre("input/mask"));
  EXPECT_THAT(origin.caveats, ElementsAre(HasSubstr("no -inf was allowed by '(mask'")));
}

}  // namespace
}  // namespace sonde
