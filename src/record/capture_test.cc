// Triggers, captures and the flight ring, as a user of the recorder sees them.
#include "sonde/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <limits>

#include "formats/flight.h"
#include "record/capture_testing.h"
#include "sonde/tensor_io.h"

namespace sonde::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Captures, HoldTheStepsBeforeAndAfterTheOneThatFired) {
  base::TempDir dir;
  Recorder rec =
      open(dir.path(), {.policy = triggered({.name = "nan", .when = "nonfinite('.*') > 0", .before = 3, .after = 2})});
  train(rec, 0, 20, 10);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  const CaptureInfo& info = captures[0].info();
  EXPECT_EQ(std::filesystem::path(captures[0].directory()).filename(), "1-nan");
  EXPECT_EQ(info.cause, CaptureInfo::Cause::trigger);
  EXPECT_EQ(info.step, 10);
  EXPECT_EQ(info.when, "nonfinite('.*') > 0");
  ASSERT_EQ(info.values.size(), 1U);
  EXPECT_EQ(info.values[0].second, 2);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(7, 8, 9, 10, 11, 12));
  EXPECT_THAT(info.dropped, IsEmpty());
  EXPECT_EQ(rec.counters().captures, 1U);
}

TEST(Captures, HoldEveryElement) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.when = "step == 4", .before = 1})});
  train(rec, 0, 5, 100);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  const CapturedStep& step = captures[0].steps().at(1);
  const auto file = captures[0].step_file(step);
  ASSERT_TRUE(file) << file.error().message();
  std::vector<std::string> names;
  for (const CapturedTensor& tensor : step.tensors) names.push_back(tensor.key);
  EXPECT_THAT(names, ElementsAre("input/in", "activation/one", "activation/two", "activation/three"));
  for (const std::string& name : names) {
    const Tensor tensor = *file->load(name);
    EXPECT_EQ(tensor.shape, (Shape{8, 8}));
    const auto* data = reinterpret_cast<const float*>(tensor.data.data());
    EXPECT_TRUE(std::all_of(data, data + 64, [](float x) { return x == 4; })) << name;
  }
  ASSERT_EQ(step.scalars.size(), 1U);
  EXPECT_EQ(step.scalars[0].first, "loss");
}

TEST(Captures, SeeTheScalarsOfAnEvaluationButPreferTheirOwn) {
  base::TempDir dir;
  Recorder rec =
      open(dir.path(), {.policy = triggered({.when = "loss == 1 and scalar('test/loss') == 3 and step == 2"})});
  for (std::int64_t n = 0; n < 4; ++n) {
    auto step = rec.step(n);
    rec.scalar("loss", 1, n);
    auto pass = rec.evaluation(n);
    rec.scalar("loss", 2, n);
    rec.scalar("test/loss", 3, n);
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(captures_of(dir.path()).size(), 1U);
}

TEST(Captures, NameTheProducer) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.rule = "nonfinite"})});
  train(rec, 0, 12, 8);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  const Origin origin = find_origin(captures[0].info());
  ASSERT_TRUE(origin.found);
  ASSERT_EQ(origin.producers.size(), 1U);
  EXPECT_EQ(origin.producers[0].key, "activation/two");
  EXPECT_EQ(origin.producers[0].step, 8);
  EXPECT_THAT(origin.producers[0].unseen, IsEmpty());
  EXPECT_THAT(origin.propagators, ElementsAre("activation/three"));
}

TEST(Captures, AreNotedInTheLog) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.name = "four", .when = "step == 4"})});
  train(rec, 0, 5, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(read_log(dir.path()).texts.at("sonde/captures"), ElementsAre(HasSubstr("four at step 4")));
}

TEST(Captures, MayBeAskedForByTheProgram) {
  base::TempDir dir;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  Recorder rec = open(dir.path(), {.policy = policy});
  train(rec, 0, 9, 100);
  rec.trigger("look", 2);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(captures[0].info().cause, CaptureInfo::Cause::manual);
  EXPECT_EQ(captures[0].info().reason, "look");
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(7, 8, 9));
}

TEST(Captures, AManualOneDoesNotFireTheOthersAgain) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.name = "big", .when = "step == 9"})});
  train(rec, 0, 9, 100);
  rec.trigger("mine");
  ASSERT_TRUE(rec.close().ok());
  std::vector<std::string> reasons;
  for (const Capture& capture : captures_of(dir.path())) reasons.push_back(capture.info().reason);
  EXPECT_THAT(reasons, ElementsAre("big", "mine"));
}

TEST(Captures, MayBeAskedForBySignal) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = flying(), .trigger_signal = SIGUSR2});
  train(rec, 0, 9, 100);
  ASSERT_EQ(::kill(::getpid(), SIGUSR2), 0);
  EXPECT_TRUE(comes_true([&] { return rec.counters().captures == 1; }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(captures_of(dir.path()).at(0).info().reason, "signal");
}

// Nobody waits for the backend here: it may be some steps late.
TEST(Captures, BySignalContainTheCurrentStep) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = flying(), .trigger_signal = SIGUSR2});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(64);
  for (std::int64_t n = 0; n < 100; ++n) {
    auto step = rec.step(n);
    out.record(step, view(values));
    if (n == 50) {
      ASSERT_EQ(::raise(SIGUSR2), 0);
    }
  }
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(captures[0].info().step, 50);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(45, 46, 47, 48, 49, 50));
}

TEST(Captures, BySignalAreSavedEvenIfTheRecorderIsClosedAtOnce) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = flying(), .trigger_signal = SIGUSR2});
  train(rec, 0, 9, 100);
  ASSERT_EQ(::raise(SIGUSR2), 0);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(4, 5, 6, 7, 8, 9));
}

TEST(Recorder, WithAnUnusableSignalCreatesNothing) {
  base::TempDir dir;
  for (const int signal : {SIGKILL, SIGSTOP, -1, 1000}) {
    const auto opened = Recorder::open(dir / "run", {.trigger_signal = signal});
    ASSERT_FALSE(opened.ok()) << signal;
    EXPECT_THAT(opened.error().message(), HasSubstr("signal " + std::to_string(signal)));
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "run"));
}

TEST(Captures, SayWhyTheyHoldNothingWithoutARing) {
  base::TempDir dir;
  Errors errors;
  Policy policy = triggered({.when = "step == 4"});
  policy.flight.bytes = std::uint64_t{1} << 60;  // larger than any disk
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  train(rec, 0, 5, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("recording continues, but there is no flight ring: ")));
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(captures[0].steps(), IsEmpty());
  EXPECT_THAT(captures[0].info().dropped.at(0).reason, HasSubstr("there is no flight ring"));
  EXPECT_EQ(read_log(dir.path()).steps.size(), 6U);
}

TEST(Captures, SayWhichStepsTheRingHadNoRoomFor) {
  base::TempDir dir;
  Policy policy = triggered({.when = "step == 30", .before = 20});
  policy.flight.bytes = 16 << 10;
  Recorder rec = open(dir.path(), {.policy = policy});
  train(rec, 0, 31, 100);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  const std::vector<std::int64_t> steps = steps_of(captures[0]);
  ASSERT_EQ(steps.back(), 30);
  ASSERT_GT(steps.front(), 10);
  ASSERT_EQ(captures[0].info().dropped.size(), 1U);
  const CaptureGap& gap = captures[0].info().dropped[0];
  EXPECT_EQ(gap.first_step, 10);
  EXPECT_EQ(gap.last_step, steps.front() - 1);
  EXPECT_EQ(gap.count, static_cast<std::uint64_t>(steps.front() - 10));
}

TEST(Captures, SayWhichStepsCameBeforeTheRing) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  train(rec, 0, 9, 100);
  ASSERT_TRUE(rec.flush().ok());
  ASSERT_TRUE(rec.set_policy(triggered({.when = "step == 12", .before = 5})).ok());
  ASSERT_TRUE(comes_true([&] { return !files_with(dir.path(), ".ring").empty(); }));
  ASSERT_TRUE(rec.flush().ok());  // waits until the ring is in use
  train(rec, 10, 13, 100);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(10, 11, 12));
  ASSERT_EQ(captures[0].info().dropped.size(), 1U);
  const CaptureGap& gap = captures[0].info().dropped[0];
  EXPECT_EQ(gap.first_step, 7);
  EXPECT_EQ(gap.last_step, 9);
  EXPECT_EQ(gap.reason, "the flight ring was created after these steps");
}

TEST(Captures, SayWhichStepsNeverCame) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.when = "step == 4", .after = 10})});
  train(rec, 0, 6, 100);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  ASSERT_EQ(captures[0].info().dropped.size(), 1U);
  const CaptureGap& gap = captures[0].info().dropped[0];
  EXPECT_EQ(gap.first_step, 7);
  EXPECT_EQ(gap.last_step, 14);
  EXPECT_EQ(gap.count, 8U);
}

TEST(FlightRecorder, StaysWithinItsShareOfTheMemoryBudgetAndReportsIt) {
  base::TempDir dir;
  Errors errors;
  Policy policy = triggered({.when = "step == 4"});
  policy.flight.bytes = 16 << 20;
  policy.budget.memory = 8 << 20;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  const auto rings = files_with(dir.path(), ".ring");
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_EQ(std::filesystem::file_size(rings[0]), std::uintmax_t{2} << 20);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("bytes instead of 16777216: a quarter of [budget] memory")));
}

TEST(FlightRecorder, HasAMinimumSizeAndReportsASmallerBudget) {
  base::TempDir dir;
  Errors errors;
  Policy policy = triggered({.when = "step == 4"});
  policy.budget.memory = 64 << 10;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("has 1048576 bytes, more than a quarter of [budget] memory")));
}

TEST(FlightRecorder, BecomesSmallerWithTheMemoryBudgetOfARunningJob) {
  base::TempDir dir;
  Policy policy = triggered({.when = "step == 4"});
  policy.flight.bytes = 16 << 20;
  Recorder rec = open(dir.path(), {.policy = policy});
  policy.budget.memory = 8 << 20;
  ASSERT_TRUE(rec.set_policy(policy).ok());
  EXPECT_TRUE(comes_true([&] {
    const auto rings = files_with(dir.path(), ".ring");
    std::error_code gone;  // the old one may go right after it was listed
    return rings.size() == 1 && std::filesystem::file_size(rings[0], gone) == std::uintmax_t{2} << 20;
  }));
  ASSERT_TRUE(rec.close().ok());
}

TEST(FlightRecorder, KeepsItsRingIfANewOneCannotBeCreated) {
  base::TempDir dir;
  Errors errors;
  Policy policy = triggered({.when = "step == 12", .before = 5});
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  train(rec, 0, 9, 100);
  policy.flight.bytes = std::uint64_t{4000} << 40;
  ASSERT_TRUE(rec.set_policy(policy).ok());
  train(rec, 10, 13, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the flight ring stays as it was: ")));
  EXPECT_THAT(steps_of(captures_of(dir.path()).at(0)), ElementsAre(7, 8, 9, 10, 11, 12));
}

TEST(FlightRecorder, UpdatesTheAllowedInfinitiesInTheRing) {
  base::TempDir dir;
  Policy policy = triggered({.when = "step == 100"});
  Recorder rec = open(dir.path(), {.policy = policy});
  const auto allowed = [&] {
    const auto ring = base::read_file(files_with(dir.path(), ".ring").at(0));
    const auto contents = flight::read(base::as_bytes(*ring));
    EXPECT_TRUE(contents.ok());
    return contents->allow_negative_infinity;
  };
  EXPECT_THAT(allowed(), IsEmpty());
  for (const char* name : {"mask", "other", "third"}) {
    policy.allow_negative_infinity = {name};
    ASSERT_TRUE(rec.set_policy(policy).ok());
    EXPECT_TRUE(comes_true([&] { return allowed() == policy.allow_negative_infinity; })) << name;
  }
  ASSERT_TRUE(rec.close().ok());
}

TEST(Captures, ReachToTheLastStep) {
  base::TempDir dir;
  constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
  Recorder rec = open(dir.path(), {.policy = triggered({.when = "step > 4", .after = 10})});
  train(rec, kLast - 2, kLast - 1, kLast);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(kLast - 2, kLast - 1));
  ASSERT_EQ(captures[0].info().dropped.size(), 1U);
  EXPECT_EQ(captures[0].info().dropped[0].first_step, kLast);
  EXPECT_EQ(captures[0].info().dropped[0].last_step, kLast);
}

TEST(Captures, HoldMoreStepsThanTheRingOnceTheyHaveStarted) {
  base::TempDir dir;
  Policy policy = triggered({.when = "step == 40", .before = 20, .after = 40});
  policy.flight.bytes = 100 << 10;  // some 50 steps
  Recorder rec = open(dir.path(), {.policy = policy});
  train(rec, 0, 80, 1000);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(captures[0].info().dropped, IsEmpty());
  const auto steps = steps_of(captures[0]);
  EXPECT_EQ(steps.size(), 61U);
  EXPECT_EQ(steps.front(), 20);
  EXPECT_EQ(steps.back(), 80);
}

TEST(FlightRecorder, SaysOnceThatATensorDoesNotFit) {
  base::TempDir dir;
  Errors errors;
  Policy policy = triggered({.when = "step == 400"});
  policy.flight.bytes = 16 << 10;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  const std::vector<float> large = ramp(10'000);
  const Probe out = rec.probe("out");
  for (std::int64_t n = 0; n < 3; ++n) out.record(rec.step(n), view(large));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the flight ring has no room for 'out' in step 0")));
}

TEST(Captures, DoNotMixTriggers) {
  base::TempDir dir;
  Policy policy = triggered({.name = "a", .when = "step == 4", .before = 1, .after = 3});
  policy.triggers.push_back({.name = "b", .when = "step == 5", .before = 2, .after = 0});
  Recorder rec = open(dir.path(), {.policy = policy});
  train(rec, 0, 9, 100);
  ASSERT_TRUE(rec.close().ok());
  std::map<std::string, std::vector<std::int64_t>> steps;
  for (const Capture& capture : captures_of(dir.path())) steps[capture.info().reason] = steps_of(capture);
  EXPECT_THAT(steps["a"], ElementsAre(3, 4, 5, 6, 7));
  EXPECT_THAT(steps["b"], ElementsAre(3, 4, 5));
}

TEST(Captures, AreSavedAtTheEndWithTheStepsSoFar) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.when = "step == 4", .before = 9, .after = 100})});
  train(rec, 0, 6, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(steps_of(captures_of(dir.path()).at(0)), ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

TEST(FlightRecorder, ARingThatIsCutShortCostsTheRingAndNotTheJob) {
  base::TempDir dir;
  Errors errors;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  const Probe probe = rec.probe("out");
  const std::vector<float> values = ramp(1 << 12);
  const auto record = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t n = first; n < last; ++n) {
      const Step step = rec.step(n);
      probe.record(step, view(values));
    }
    EXPECT_TRUE(rec.flush().ok());
  };
  record(0, 10);
  const auto rings = files_with(dir.path(), ".ring");
  ASSERT_EQ(rings.size(), 1U);
  std::filesystem::resize_file(rings[0], 0);
  record(10, 400);  // around the whole ring
  rec.trigger();
  EXPECT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.committed_step(), 399);
  EXPECT_EQ(read_log(dir.path()).steps.size(), 400U);
  ASSERT_EQ(errors.messages.size(), 1U);
  EXPECT_THAT(errors.messages[0], testing::HasSubstr("was truncated"));
  EXPECT_TRUE(files_with(dir.path(), ".ring").empty());
  const auto captures = list_captures(dir.path());
  ASSERT_TRUE(captures && captures->size() == 1);
  const auto capture = Capture::open(captures->front());
  ASSERT_TRUE(capture);
  ASSERT_EQ(capture->info().dropped.size(), 1U);
  EXPECT_THAT(capture->info().dropped[0].reason, testing::HasSubstr("was truncated"));
}

}  // namespace
}  // namespace sonde::record
