// Passes of inference and evaluation, which are open side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <map>
#include <thread>
#include <tuple>

#include "record/capture_testing.h"
#include "record/recorder_testing.h"

namespace sonde::record {
namespace {

using ::testing::ElementsAre;

// A server: each thread takes requests, and several passes are open in it at once. All probes of a request hold its
// number.
TEST(Passes, OfManyThreadsHaveTheirOwnProbesEach) {
  constexpr int kThreads = 8;
  constexpr int kRequests = 100;
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.tensors = Overflow::wait});
  const Probe in = rec.probe("in", {.keep = Keep::stats});
  const Probe out = rec.probe("out", {.keep = Keep::stats});
  std::latch together(kThreads);
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      together.arrive_and_wait();
      for (int i = 0; i < kRequests; i += 2) {
        const std::int64_t number = t * kRequests + i;
        Step first = rec.pass(number);
        Step second = rec.pass(number + 1);
        const std::vector<float> of_first(4, static_cast<float>(number));
        const std::vector<float> of_second(4, static_cast<float>(number + 1));
        in.record(first, view(of_first));
        in.record(second, view(of_second));
        first.end();
        out.record(second, view(of_second));
        Step third = rec.pass(number);  // the same number again: its own pass
        out.record(third, view(of_first));
        out.record(second, view(of_second));
      }
    });
  }
  threads.clear();
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 0U);
  EXPECT_EQ(rec.counters().dropped_tensors, 0U);

  const Log log = read_log(dir.path());
  std::map<std::int64_t, std::vector<std::string>> found;  // by number: the tensors of each of its passes
  for (const Log::Step& step : log.steps) {
    EXPECT_FALSE(step.evaluation);
    std::string names;
    for (const Log::Tensor& tensor : step.tensors) {
      names += tensor.name + "#" + std::to_string(tensor.occurrence) + " ";
      EXPECT_EQ(tensor.summary.min, static_cast<double>(step.step)) << "a tensor of another pass";
      EXPECT_EQ(tensor.summary.max, static_cast<double>(step.step));
    }
    found[step.step].push_back(names);
  }
  ASSERT_EQ(found.size(), static_cast<std::size_t>(kThreads * kRequests));
  for (auto& [number, passes] : found) {
    std::ranges::sort(passes);
    if (number % 2 == 0) {
      EXPECT_THAT(passes, ElementsAre("in#0 ", "out#0 ")) << number;
    } else {
      EXPECT_THAT(passes, ElementsAre("in#0 out#0 out#1 ")) << number;
    }
  }
  EXPECT_EQ(rec.committed_step(), kThreads * kRequests - 1);
}

TEST(Passes, NeitherEndATrainingStepNorAreEndedByOne) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out", {.keep = Keep::stats});
  const std::vector<float> values = ramp(4);
  {
    Step pass = rec.pass(1000);
    {
      const Step one = rec.step(1);
      const Step request = rec.pass(2000);
      out.record(one, view(values));
      out.record(request, view(values));
    }
    const Step two = rec.step(2);
    out.record(pass, view(values));
    out.record(two, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 0U);
  std::vector<std::int64_t> steps;
  for (const Log::Step& step : read_log(dir.path()).steps) {
    steps.push_back(step.step);
    EXPECT_EQ(step.tensors.size(), 1U) << step.step;
  }
  EXPECT_THAT(steps, ElementsAre(2000, 1, 2, 1000));
}

TEST(Passes, AreWrittenWhenTheRecorderIsClosedWithoutTheirEnd) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const std::vector<float> values = ramp(4);
  Step pass = rec.pass(5);
  Step evaluation = rec.evaluation(6);
  rec.probe("out").record(pass, view(values));
  rec.probe("out").record(evaluation, view(values));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(read_log(dir.path()).steps.size(), 2U);
}

TEST(Passes, HaveConditionsOverTheirOwnScalars) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe(
      "out", {.keep = Keep::stats, .when = [](const StepValues& values) { return values.scalar("latency") > 0.5; }});
  const std::vector<float> values = ramp(4);
  {
    Step slow = rec.pass(1);
    Step quick = rec.pass(2);
    out.record(slow, view(values));
    out.record(quick, view(values));
    rec.scalar("latency", 0.9, 1);
    rec.scalar("latency", 0.1, 2);
  }
  ASSERT_TRUE(rec.close().ok());
  std::map<std::int64_t, std::size_t> kept;
  for (const Log::Step& step : read_log(dir.path()).steps) kept[step.step] = step.tensors.size();
  EXPECT_EQ(kept[1], 1U);
  EXPECT_EQ(kept[2], 0U);
}

// The request that produced a NaN is captured as a whole, although others began and ended while it was open.
TEST(Passes, FireTriggersWithTheirOwnTensorsInTheCapture) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.name = "bad", .when = "nonfinite('.*') > 0", .before = 0})});
  const Probe in = rec.probe("in");
  const Probe out = rec.probe("out");
  std::vector<float> values = ramp(4);
  {
    Step broken = rec.pass(7);
    in.record(broken, view(values));
    for (std::int64_t n = 100; n < 110; ++n) {
      const Step other = rec.pass(n);
      in.record(other, view(values));
      out.record(other, view(values));
    }
    values[1] = std::numeric_limits<float>::quiet_NaN();
    out.record(broken, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  ASSERT_THAT(steps_of(captures[0]), ElementsAre(7));
  EXPECT_EQ(captures[0].steps()[0].tensors.size(), 2U);
  EXPECT_TRUE(captures[0].steps()[0].complete);
}

TEST(Passes, AreCapturedOnDemandWhenTheNextOneEnds) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = flying()});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(4);
  {
    const Step pass = rec.pass(3);
    out.record(pass, view(values));
    rec.trigger("asked", 0, 0);
  }
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(3));
}

TEST(Evaluation, TakesTheTrainingStepItBelongsToAlsoAfterARestart) {
  base::TempDir dir;
  const std::vector<float> values = ramp(8);
  for (const std::int64_t first : {0, 200}) {  // two processes, one after the other
    Recorder rec = open(dir.path());
    const Probe out = rec.probe("out");
    for (std::int64_t n = first; n < first + 200; n += 100) {
      const Step pass = rec.evaluation(n);
      EXPECT_TRUE(pass.evaluation());
      EXPECT_EQ(pass.number(), n);
      out.record(pass, view(values));
    }
    ASSERT_TRUE(rec.close().ok());
  }
  std::vector<std::int64_t> steps;
  for (const Log::Step& step : read_log(dir.path()).steps) {
    EXPECT_TRUE(step.evaluation);
    steps.push_back(step.step);
  }
  std::ranges::sort(steps);
  EXPECT_THAT(steps, ElementsAre(0, 100, 200, 300));
}

TEST(Evaluation, OfTwoSetsAtOneStepIsTwoPasses) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out", {.keep = Keep::stats, .every = 1000});
  const std::vector<float> values = ramp(8);
  {
    const Step validation = rec.evaluation(500);
    const Step test = rec.evaluation(500);
    EXPECT_TRUE(out.wanted(validation));
    EXPECT_TRUE(out.wanted(test)) << "both belong to one evaluation";
    out.record(validation, view(values));
    out.record(test, view(values));
  }
  EXPECT_FALSE(out.wanted(rec.evaluation(900)));
  EXPECT_TRUE(out.wanted(rec.evaluation(1100)));
  EXPECT_TRUE(out.wanted(rec.evaluation(300))) << "training has gone back";
  ASSERT_TRUE(rec.close().ok());
  std::size_t recorded = 0;
  for (const Log::Step& step : read_log(dir.path()).steps) recorded += step.tensors.size();
  EXPECT_EQ(recorded, 2U);
}

}  // namespace
}  // namespace sonde::record
