// What find_origin does not claim, and its notes instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/origin_testing.h"

namespace sonde {
namespace {

using namespace origin_testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Unknown inputs

TEST(FindOrigin, IsUnknownIfNoTensorWasKept) {
  CaptureInfo info = capture({step(1, {}), step(2, {})});
  info.steps[1].scalars = {{"loss", NAN}};
  EXPECT_EQ(find_origin(info).text(),
            "unknown, because no tensor was kept\n"
            "note: the capture holds no tensor of 2 steps, from step 1 to step 2\n"
            "note: the scalar loss was not finite in step 2, and no tensor that was captured shows why\n");
}

TEST(FindOrigin, OfACrashSaysThatLaterStepsMayBeMissing) {
  CaptureInfo info = after_a_healthy_step({tensor("input/x", kFinite)});
  info.cause = CaptureInfo::Cause::crash;
  EXPECT_EQ(find_origin(info).text(),
            "all values that were seen are finite\n"
            "note: later steps may be missing: the last data may not have reached the ring when the process "
            "ended\n");
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
  EXPECT_EQ(find_origin(CaptureInfo()).text(),
            "unknown, because no tensor was kept\nnote: the capture holds no step\n");
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

TEST(FindOrigin, SaysWhatIsMissingEvenIfStepsGoBack) {
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

TEST(FindOrigin, ANonFiniteScalarAmongFiniteTensorsIsNotedOnce) {
  CaptureInfo info = capture({step(1, {tensor("input/x", kFinite)}), step(2, {tensor("input/x", kFinite)})});
  info.steps[0].scalars = {{"loss", INFINITY}, {"rate", 0.1}};
  info.steps[1].scalars = {{"loss", NAN}};
  const std::string sentence = "the scalar loss was not finite in step 1, and no tensor that was captured shows why";
  EXPECT_THAT(find_origin(info).caveats, ElementsAre(sentence));
  EXPECT_EQ(find_origin(info).text(), "all values that were seen are finite\nnote: " + sentence + "\n");
  // Even if a later step has the first tensor: the origin is older.
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

TEST(FindOrigin, InAStepWithLostTensorsOnlyRecordedInputsAreCertain) {
  const auto with = [](std::vector<CapturedTensor> tensors) {
    CaptureInfo info = capture({step(1, tensors), step(2, tensors)});
    for (CapturedTensor& one : info.steps[0].tensors) one.nan = 0;
    info.dropped = {{"tensors", 1, 2, 1, "no room"}};
    return certain(find_origin(info));
  };
  EXPECT_THAT(with({tensor("activation/a", kFinite, {"x"}), tensor("activation/b", kNan, {"a"})}),
              ElementsAre("activation/b"));
  // activation/w, or weight/w#1, may be the lost tensor.
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

}  // namespace
}  // namespace sonde
