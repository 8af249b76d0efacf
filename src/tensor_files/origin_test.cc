// Who produced the NaN: every rule of find_origin, and random networks in which it is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>

#include "formats/tensor_tags.h"
#include "sonde/capture.h"

namespace sonde {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- Steps as a program would leave them

enum Value : std::uint8_t { kFinite, kNan, kInfinite, kMinusInfinite };

CapturedTensor tensor(std::string_view tag, Value value, std::vector<std::string> inputs = {}) {
  const auto tagged = tags::tensor_of(tag);
  EXPECT_TRUE(tagged.has_value()) << tag;
  CapturedTensor made;
  made.key = tag;
  made.name = tagged->id.name;
  made.kind = tagged->id.kind;
  made.occurrence = tagged->id.occurrence;
  made.inputs = std::move(inputs);
  made.shape = {4};
  made.count = 4;
  made.nan = value == kNan ? 1 : 0;
  made.positive_infinity = value == kInfinite ? 2 : 0;
  made.negative_infinity = value == kMinusInfinite ? 3 : 0;
  return made;
}

CapturedStep step(std::int64_t number, std::vector<CapturedTensor> tensors) {
  CapturedStep made;
  made.step = number;
  made.tensors = std::move(tensors);
  return made;
}

CaptureInfo capture(std::vector<CapturedStep> steps) {
  CaptureInfo made;
  made.steps = std::move(steps);
  return made;
}

// A finite step before it, so that the first non-finite one is not the first of the capture.
CaptureInfo after_a_healthy_step(std::vector<CapturedTensor> tensors) {
  std::vector<CapturedTensor> healthy = tensors;
  for (CapturedTensor& one : healthy) one.nan = one.positive_infinity = one.negative_infinity = 0;
  return capture({step(6, std::move(healthy)), step(7, std::move(tensors))});
}

std::vector<std::string> certain(const Origin& origin) {
  std::vector<std::string> keys;
  for (const Origin::Place& place : origin.producers) {
    if (place.unseen.empty()) keys.push_back(place.key);
  }
  return keys;
}
std::vector<std::string> unclear(const Origin& origin) {
  std::vector<std::string> keys;
  for (const Origin::Place& place : origin.producers) {
    if (!place.unseen.empty()) keys.push_back(place.key);
  }
  return keys;
}

TEST(FindOrigin, FindsNothingWhereAllIsFinite) {
  const Origin origin = find_origin(after_a_healthy_step({tensor("activation/a", kFinite)}));
  EXPECT_FALSE(origin.found);
  EXPECT_EQ(origin.text(), "all values are finite\n");
}

// ---- Evaluation passes

CapturedStep evaluation(std::int64_t number, std::vector<CapturedTensor> tensors) {
  CapturedStep made = step(number, std::move(tensors));
  made.evaluation = true;
  for (CapturedTensor& one : made.tensors) one.key = "eval/" + one.key;
  return made;
}

TEST(FindOrigin, IsThatOfTrainingWhereAnEvaluationBeforeItWasNonFiniteToo) {
  const std::vector<CapturedTensor> finite = {tensor("input/x", kFinite), tensor("activation/a", kFinite, {"x"}),
                                              tensor("activation/metric", kFinite, {"a"})};
  CaptureInfo info = capture({step(1, finite), evaluation(0, finite), step(2, finite)});
  info.steps[1].tensors[2].nan = 1;
  info.steps[1].scalars = {{"eval/metric", NAN}};
  info.steps[2].tensors[1].nan = 1;
  EXPECT_EQ(find_origin(info).text(),
            "step 2: activation/a was the first to hold non-finite values (1 NaN of 4), although all of its inputs "
            "were finite: input/x\n"
            "note: non-finite too, but training does not go on from there: eval/activation/metric in evaluation pass "
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

// ---- What is not known

TEST(FindOrigin, IsUnknownWhereNoTensorWasKept) {
  CaptureInfo info = capture({step(1, {}), step(2, {})});
  info.steps[1].scalars = {{"loss", NAN}};
  EXPECT_EQ(find_origin(info).text(),
            "unknown, as no tensor was kept\n"
            "note: the capture holds no tensor of 2 steps, from step 1 to step 2\n"
            "note: the scalar loss was not finite in step 2, and no tensor that was captured shows why\n");
}

TEST(FindOrigin, OfACrashSaysThatLaterStepsMayBeMissing) {
  CaptureInfo info = after_a_healthy_step({tensor("input/x", kFinite)});
  info.cause = CaptureInfo::Cause::crash;
  EXPECT_EQ(find_origin(info).text(),
            "all values that were seen are finite\n"
            "note: later steps may be missing: what the process handed over last need not have reached the ring when "
            "it ended\n");
  info.steps[1].tensors[0].nan = 1;
  EXPECT_THAT(find_origin(info).caveats, IsEmpty()) << "what came later does not matter";
}

TEST(FindOrigin, SaysInOneLineWhatManyStepsLack) {
  std::vector<CapturedStep> steps;
  for (int i = 0; i < 60; ++i) {
    steps.push_back(step(i < 2 ? i : i * 3, {tensor("input/x", kFinite)}));
    steps.back().complete = i % 2 == 0;
  }
  CaptureInfo info = capture(std::move(steps));
  for (const CapturedStep& one : info.steps) {
    info.dropped.push_back({"tensors", one.step, one.step, 2, "no room"});
    if (one.complete) info.dropped.push_back({"weight/w", one.step, one.step, 1, "complex"});
  }
  EXPECT_THAT(
      find_origin(info).caveats,
      ElementsAre("the capture does not hold the end of 30 steps, from step 1 to step 177: what came later in "
                  "them is missing",
                  "the capture holds nothing between step 1 and step 6, and steps are missing in 57 more places",
                  "the capture lacks tensors (120) in steps 0 to 177",
                  "the capture lacks weight/w (30) in some of the steps 0 to 174"));
  for (int i = 0; i < 40; ++i) info.dropped.push_back({"weight/" + std::to_string(i), 3, 3, 1, "complex"});
  EXPECT_THAT(find_origin(info).caveats, Contains("the capture lacks 37 more tensors: capture.json names all"));
}

TEST(FindOrigin, SaysThatAnEmptyCaptureShowsNothing) {
  EXPECT_EQ(find_origin(CaptureInfo()).text(), "unknown, as no tensor was kept\nnote: the capture holds no step\n");
}

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

TEST(FindOrigin, AScalarCanBeAnInput) {
  CaptureInfo info = after_a_healthy_step({tensor("gradient/a", kNan, {"loss"})});
  info.steps[1].scalars = {{"loss", 2.5}};
  EXPECT_THAT(certain(find_origin(info)), ElementsAre("gradient/a"));
  info.steps[1].scalars = {{"loss", std::nan("")}};
  const Origin origin = find_origin(info);
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(origin.producers[0].unseen, ElementsAre("how the scalar loss was computed, which was not finite"));
}

TEST(FindOrigin, AScalarOfOneOfSeveralPassesIsNotSeen) {
  // The gradient is the sum over two micro-batches, and the loss of the first was overwritten by that of the second.
  CaptureInfo info = after_a_healthy_step(
      {tensor("input/x", kFinite), tensor("input/x#1", kFinite), tensor("gradient/w", kNan, {"loss"})});
  info.steps[1].scalars = {{"loss", 2.5}};
  const Origin origin = find_origin(info);
  EXPECT_THAT(certain(origin), IsEmpty());
  EXPECT_THAT(origin.producers[0].unseen, ElementsAre("the values of the scalar loss in all passes of the step"));
  // Nor where only other steps show that there are several passes, as this one lost tensors.
  info.steps[1].tensors.erase(info.steps[1].tensors.begin() + 1);
  info.dropped = {{"tensors", 7, 7, 1, "no room"}};
  EXPECT_THAT(certain(find_origin(info)), IsEmpty());
  // Evaluation passes tell nothing about it.
  info.steps[0].evaluation = true;
  info.dropped.clear();
  EXPECT_THAT(certain(find_origin(info)), ElementsAre("gradient/w"));
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

// ---- Several occurrences in a step

TEST(FindOrigin, AnOccurrenceIsComputedFromTheSameOccurrence) {
  const Origin origin = find_origin(after_a_healthy_step({
      tensor("weight/w", kFinite, {"x"}),
      tensor("activation/a", kFinite, {"w"}),
      tensor("activation/b", kFinite, {"a"}),
      tensor("activation/a#1", kNan, {"w"}),
      tensor("activation/b#1", kNan, {"a"}),
  }));
  EXPECT_THAT(certain(origin), ElementsAre("activation/a#1"));  // the weight is there only once
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

TEST(FindOrigin, AMissingOccurrenceMakesNobodyAPropagator) {
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

TEST(FindOrigin, ASumOverOccurrencesIsNoProducerWhereOneOfThemWasNonFinite) {
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

TEST(FindOrigin, AStateComesFromTheOccurrenceBefore) {
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
  // It was recorded behind its update.
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

TEST(FindOrigin, AnUpdateBehindAWeightsLastRecordMakesItUnknown) {
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

TEST(FindOrigin, AStepBeforeThatLostTensorsTellsNothingOfItsEnd) {
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

TEST(FindOrigin, AllowedMinusInfinityIsFiniteButSaid) {
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

TEST(FindOrigin, AllowedMinusInfinityIsSaidAlsoWhereNothingWasFound) {
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

TEST(FindOrigin, AWrongPatternAllowsNothingAndIsSaid) {
  CaptureInfo info = after_a_healthy_step({tensor("input/mask", kMinusInfinite)});
  info.allow_negative_infinity = {"(mask"};
  const Origin origin = find_origin(info);
  EXPECT_THAT(certain(origin), ElementsAre("input/mask"));
  EXPECT_THAT(origin.caveats, ElementsAre(HasSubstr("no -inf was allowed by '(mask'")));
}

// ---- What the capture does not show

TEST(FindOrigin, TheOriginMayBeOlderThanTheCapture) {
  const Origin origin = find_origin(capture({step(7, {tensor("input/x", kNan)})}));
  EXPECT_THAT(origin.caveats, ElementsAre("step 7 is the first that the capture holds, so the origin may be older"));
}

TEST(FindOrigin, SaysWhatIsMissingUpToTheStep) {
  CaptureInfo info = capture({step(1, {}), step(2, {}), step(5, {tensor("input/x", kNan)}), step(9, {})});
  info.steps[2].complete = false;
  info.dropped = {{"tensors", 2, 5, 17, "no room"}, {"weight/w", 6, 6, 1, "later"}};
  EXPECT_THAT(find_origin(info).caveats,
              ElementsAre("the capture holds no tensor of 2 steps, from step 1 to step 2",
                          "the capture does not hold the end of step 5: what came later in it is missing",
                          "the capture holds nothing between step 2 and step 5",
                          "the capture lacks tensors (17) in steps 2 to 5"));
}

TEST(FindOrigin, SaysWhatIsMissingAlsoWhereStepsGoBack) {
  CaptureInfo info = after_a_healthy_step({tensor("input/x", kNan)});
  info.steps[0].step = 90;  // then the job went back to 7
  info.dropped = {{"tensors", 90, 90, 2, "no room"}, {"weight/w", 91, 91, 1, "later"}};
  EXPECT_THAT(find_origin(info).caveats, ElementsAre("the capture lacks tensors (2) in step 90"));
}

TEST(FindOrigin, SaysOfWhichStepsItHasNoTensor) {
  CaptureInfo info = capture({step(1, {}), step(2, {tensor("input/x", kFinite)})});
  info.steps[0].evaluation = true;
  EXPECT_EQ(find_origin(info).text(),
            "all values that were seen are finite\nnote: the capture holds no tensor of evaluation pass 1\n");
}

TEST(FindOrigin, AScalarThatWasNotFiniteWhileAllTensorsWereIsSaidOnce) {
  CaptureInfo info = capture({step(1, {tensor("input/x", kFinite)}), step(2, {tensor("input/x", kFinite)})});
  info.steps[0].scalars = {{"loss", INFINITY}, {"rate", 0.1}};
  info.steps[1].scalars = {{"loss", NAN}};
  const std::string sentence = "the scalar loss was not finite in step 1, and no tensor that was captured shows why";
  EXPECT_THAT(find_origin(info).caveats, ElementsAre(sentence));
  EXPECT_EQ(find_origin(info).text(), "all values that were seen are finite\nnote: " + sentence + "\n");
  // Also where a later step has the first tensor: the origin is older than that.
  info.steps[1].tensors[0].nan = 1;
  const Origin origin = find_origin(info);
  EXPECT_TRUE(origin.found);
  EXPECT_THAT(origin.caveats, ElementsAre(sentence));
}

TEST(FindOrigin, AScalarOfTheSameStepNeedsNoExplanation) {
  CaptureInfo info = after_a_healthy_step({tensor("input/x", kNan)});
  info.steps[1].scalars = {{"loss", NAN}};
  EXPECT_THAT(find_origin(info).caveats, IsEmpty());
}

TEST(FindOrigin, InAStepThatLostTensorsOnlyWhatIsThereIsCertain) {
  const auto with = [](std::vector<CapturedTensor> tensors) {
    CaptureInfo info = capture({step(1, tensors), step(2, tensors)});
    for (CapturedTensor& one : info.steps[0].tensors) one.nan = 0;
    info.dropped = {{"tensors", 1, 2, 1, "no room"}};
    return certain(find_origin(info));
  };
  EXPECT_THAT(with({tensor("activation/a", kFinite, {"x"}), tensor("activation/b", kNan, {"a"})}),
              ElementsAre("activation/b"));
  // activation/w, or weight/w#1, may be what was lost.
  EXPECT_THAT(with({tensor("weight/w", kFinite, {"x"}), tensor("activation/b", kNan, {"w"})}), IsEmpty());
  EXPECT_THAT(with({tensor("weight/w", kFinite, {"x"}), tensor("activation/b#1", kNan, {"weight/w"})}), IsEmpty());
}

TEST(FindOrigin, ShortensLongLists) {
  std::vector<CapturedTensor> tensors = {tensor("input/x", kNan)};
  for (int i = 0; i < 12; ++i) tensors.push_back(tensor("activation/a" + std::to_string(i), kNan, {"x"}));
  EXPECT_THAT(find_origin(after_a_healthy_step(tensors)).text(),
              HasSubstr("passed them on: activation/a0, activation/a1, activation/a2, activation/a3, activation/a4, "
                        "activation/a5, ... (12 tensors)\n"));
}

TEST(FindOrigin, TakesNoLongForManyTensors) {
  std::vector<CapturedTensor> tensors = {tensor("input/t0", kNan)};
  for (int i = 1; i < 20'000; ++i) {
    const std::string before = std::to_string(i - 1);
    tensors.push_back(tensor("activation/t" + std::to_string(i), kNan,
                             {i == 1 ? "input/t0" : "activation/t" + before, "t" + before}));
  }
  const Origin origin = find_origin(after_a_healthy_step(std::move(tensors)));
  EXPECT_THAT(certain(origin), ElementsAre("input/t0"));
  EXPECT_EQ(origin.propagators.size(), 19'999U);
}

// ---- Random networks. The truth: which tensors were made non-finite, and which got it from an input.

struct Network {
  CaptureInfo info;
  std::set<std::string> planted;  // non-finite although all inputs are finite
};

Network random_network(std::mt19937& random) {
  const auto chance = [&](double p) { return std::bernoulli_distribution(p)(random); };
  const int size = std::uniform_int_distribution(3, 30)(random);
  std::vector<CapturedTensor> tensors;
  Network network;
  for (int i = 0; i < size; ++i) {
    const char* kind = i < 2 ? "input" : chance(0.2) ? "weight" : chance(0.3) ? "gradient" : "activation";
    CapturedTensor made = tensor(std::string(kind) + "/t" + std::to_string(i), kFinite);
    bool bad_input = false;
    for (int k = 0; i >= 2 && k < 1 + static_cast<int>(chance(0.6)); ++k) {
      const CapturedTensor& from = tensors[std::uniform_int_distribution<std::size_t>(0, tensors.size() - 1)(random)];
      // By name where that is clear, else written out.
      made.inputs.push_back(chance(0.5) && made.kind != Kind::gradient ? from.name : from.key);
      bad_input = bad_input || from.nan > 0;
    }
    // What is non-finite may also end here, as in a maximum.
    if (bad_input ? chance(0.9) : chance(0.1)) made.nan = 1;
    if (made.nan > 0 && !bad_input) network.planted.insert(made.key);
    tensors.push_back(std::move(made));
  }
  network.info = after_a_healthy_step(std::move(tensors));
  return network;
}

TEST(FindOriginInRandomNetworks, FindsExactlyTheProducersWhereAllWasRecorded) {
  std::mt19937 random(1);
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    const Network network = random_network(random);
    const Origin origin = find_origin(network.info);
    ASSERT_EQ(origin.found, !network.planted.empty());
    std::set<std::string> producers;
    for (const Origin::Place& place : origin.producers) {
      ASSERT_THAT(place.unseen, IsEmpty()) << place.key;
      producers.insert(place.key);
    }
    ASSERT_EQ(producers, network.planted);
    found += static_cast<int>(producers.size());
  }
  EXPECT_GT(found, 1000);
}

TEST(FindOriginInRandomNetworks, NeverClaimsForCertainWhatIsWrongWhereSomeWasNot) {
  std::mt19937 random(2);
  const auto chance = [&](double p) { return std::bernoulli_distribution(p)(random); };
  int certain_claims = 0;
  int unclear_claims = 0;
  for (int round = 0; round < 5000; ++round) {
    Network network = random_network(random);
    const double share = std::uniform_real_distribution(0.0, 0.7)(random);
    std::vector<CapturedStep>& steps = network.info.steps;
    if (chance(0.5)) {  // the policy left some out, in every step
      std::set<std::string> without;
      for (const CapturedTensor& one : steps[1].tensors) {
        if (chance(share)) without.insert(one.key);
      }
      for (CapturedStep& one : steps) {
        std::erase_if(one.tensors, [&](const CapturedTensor& lost) { return without.contains(lost.key); });
      }
    } else {  // the ring lost some, in this step
      const std::size_t lost = std::erase_if(steps[1].tensors, [&](const CapturedTensor&) { return chance(share); });
      if (lost > 0) network.info.dropped.push_back({"tensors", 7, 7, lost, "no room"});
    }
    if (chance(0.2)) std::erase_if(steps[1].tensors, [&](CapturedTensor& one) { return one.inputs.clear(), false; });
    const Origin origin = find_origin(network.info);
    for (const Origin::Place& place : origin.producers) {
      ASSERT_TRUE(!place.unseen.empty() || network.planted.contains(place.key)) << place.key;
      ++(place.unseen.empty() ? certain_claims : unclear_claims);
    }
    ASSERT_EQ(origin.found, !origin.producers.empty());
    // Who is said to have passed it on did have a non-finite input.
    for (const std::string& key : origin.propagators) ASSERT_FALSE(network.planted.contains(key)) << key;
  }
  EXPECT_GT(certain_claims, 1000);
  EXPECT_GT(unclear_claims, 1000);
}

}  // namespace
}  // namespace sonde
