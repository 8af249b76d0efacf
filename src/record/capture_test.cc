// Triggers, captures, the flight ring and live control, as a user of the recorder sees them.
#include "sonde/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>

#include "formats/flight.h"
#include "record/recorder_testing.h"
#include "sonde/recorder.h"
#include "sonde/tensor_io.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Policy triggered(TriggerPolicy trigger) {
  Policy policy = {.triggers = {std::move(trigger)}};
  policy.flight.bytes = 1 << 20;
  return policy;
}

// A network of two layers whose second one breaks at a step.
void train(Recorder& rec, std::int64_t first, std::int64_t last, std::int64_t breaks_at) {
  const Probe in = rec.probe("in", {.kind = Kind::input});
  const Probe one = rec.probe("one", {.inputs = {"in"}});
  const Probe two = rec.probe("two", {.inputs = {"one"}});
  const Probe three = rec.probe("three", {.inputs = {"two"}});
  for (std::int64_t n = first; n <= last; ++n) {
    auto step = rec.step(n);
    std::vector<float> values(64, static_cast<float>(n));
    in.record(step, view(values, {8, 8}));
    one.record(step, view(values, {8, 8}));
    if (n >= breaks_at) values[3] = kNaN;
    two.record(step, view(values, {8, 8}));
    three.record(step, view(values, {8, 8}));
    rec.scalar("loss", n >= breaks_at ? kNaN : 1.0 / static_cast<double>(n + 1), n);
  }
}

std::vector<Capture> captures_of(const std::string& directory) {
  const auto paths = list_captures(directory);
  EXPECT_TRUE(paths) << paths.error().message();
  std::vector<Capture> captures;
  for (const std::string& path : *paths) {
    auto capture = Capture::open(path);
    EXPECT_TRUE(capture) << capture.error().message();
    captures.push_back(std::move(*capture));
  }
  return captures;
}

std::vector<std::int64_t> steps_of(const Capture& capture) {
  std::vector<std::int64_t> steps;
  for (const CapturedStep& step : capture.steps()) steps.push_back(step.step);
  return steps;
}

TEST(Captures, HoldTheStepsBeforeAndAfterTheOneThatFired) {
  TempDir dir;
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
  TempDir dir;
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

TEST(Captures, SeeTheScalarsOfAnEvaluationButNotInPlaceOfTheirOwn) {
  TempDir dir;
  Recorder rec =
      open(dir.path(), {.policy = triggered({.when = "loss == 1 and scalar('test/loss') == 3 and step == 2"})});
  for (std::int64_t n = 0; n < 4; ++n) {
    auto step = rec.step(n);
    rec.scalar("loss", 1, n);
    auto pass = rec.evaluation();
    rec.scalar("loss", 2, n);
    rec.scalar("test/loss", 3, n);
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(captures_of(dir.path()).size(), 1U);
}

TEST(Captures, NameTheProducer) {
  TempDir dir;
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
  TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.name = "four", .when = "step == 4"})});
  train(rec, 0, 5, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(read_log(dir.path()).texts.at("sonde/captures"), ElementsAre(HasSubstr("four at step 4")));
}

TEST(Captures, MayBeAskedForByTheProgram) {
  TempDir dir;
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
  TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.name = "big", .when = "step == 9"})});
  train(rec, 0, 9, 100);
  rec.trigger("mine");
  ASSERT_TRUE(rec.close().ok());
  std::vector<std::string> reasons;
  for (const Capture& capture : captures_of(dir.path())) reasons.push_back(capture.info().reason);
  EXPECT_THAT(reasons, ElementsAre("big", "mine"));
}

TEST(Captures, MayBeAskedForBySignal) {
  TempDir dir;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  Recorder rec = open(dir.path(), {.policy = policy, .trigger_signal = SIGUSR2});
  train(rec, 0, 9, 100);
  ASSERT_EQ(::kill(::getpid(), SIGUSR2), 0);
  EXPECT_TRUE(comes_true([&] { return rec.counters().captures == 1; }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(captures_of(dir.path()).at(0).info().reason, "signal");
}

// Nobody waits for the backend here: it may be some steps behind.
TEST(Captures, BySignalHaveTheStepInWhichItCame) {
  TempDir dir;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  Recorder rec = open(dir.path(), {.policy = policy, .trigger_signal = SIGUSR2});
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

TEST(Captures, BySignalAreSavedAlsoWhereTheRecorderIsClosedAtOnce) {
  TempDir dir;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  Recorder rec = open(dir.path(), {.policy = policy, .trigger_signal = SIGUSR2});
  train(rec, 0, 9, 100);
  ASSERT_EQ(::raise(SIGUSR2), 0);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(4, 5, 6, 7, 8, 9));
}

TEST(Recorder, ThatCannotHaveItsSignalMakesNothing) {
  TempDir dir;
  for (const int signal : {SIGKILL, SIGSTOP, -1, 1000}) {
    const auto opened = Recorder::open(dir / "run", {.trigger_signal = signal});
    ASSERT_FALSE(opened.ok()) << signal;
    EXPECT_THAT(opened.error().message(), HasSubstr("signal " + std::to_string(signal)));
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "run"));
}

TEST(Captures, SayWhyTheyHoldNothingWithoutARing) {
  TempDir dir;
  Errors errors;
  Policy policy = triggered({.when = "step == 4"});
  policy.flight.bytes = std::uint64_t{1} << 60;  // larger than any disk
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  train(rec, 0, 5, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("recording goes on, but there is no flight ring: ")));
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(captures[0].steps(), IsEmpty());
  EXPECT_THAT(captures[0].info().dropped.at(0).reason, HasSubstr("there is no flight ring"));
  EXPECT_EQ(read_log(dir.path()).steps.size(), 6U);
}

TEST(Captures, SayWhichStepsTheRingHadNoRoomFor) {
  TempDir dir;
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
  TempDir dir;
  Recorder rec = open(dir.path());
  train(rec, 0, 9, 100);
  ASSERT_TRUE(rec.flush().ok());
  ASSERT_TRUE(rec.set_policy(triggered({.when = "step == 12", .before = 5})).ok());
  ASSERT_TRUE(comes_true([&] { return !files_with(dir.path(), ".ring").empty(); }));
  train(rec, 10, 13, 100);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(10, 11, 12));
  ASSERT_EQ(captures[0].info().dropped.size(), 1U);
  const CaptureGap& gap = captures[0].info().dropped[0];
  EXPECT_EQ(gap.first_step, 7);
  EXPECT_EQ(gap.last_step, 9);
  EXPECT_EQ(gap.reason, "the flight ring was made after these steps");
}

TEST(Captures, SayWhichStepsNeverCame) {
  TempDir dir;
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

TEST(FlightRecorder, StaysWithinItsShareOfTheMemoryBudgetAndSaysSo) {
  TempDir dir;
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

TEST(FlightRecorder, IsNoSmallerThanIsOfUseAndSaysThatTheBudgetIs) {
  TempDir dir;
  Errors errors;
  Policy policy = triggered({.when = "step == 4"});
  policy.budget.memory = 64 << 10;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("has 1048576 bytes, more than a quarter of [budget] memory")));
}

TEST(FlightRecorder, BecomesSmallerWithTheMemoryBudgetOfARunningJob) {
  TempDir dir;
  Policy policy = triggered({.when = "step == 4"});
  policy.flight.bytes = 16 << 20;
  Recorder rec = open(dir.path(), {.policy = policy});
  policy.budget.memory = 8 << 20;
  ASSERT_TRUE(rec.set_policy(policy).ok());
  EXPECT_TRUE(comes_true([&] {
    const auto rings = files_with(dir.path(), ".ring");
    return rings.size() == 1 && std::filesystem::file_size(rings[0]) == std::uintmax_t{2} << 20;
  }));
  ASSERT_TRUE(rec.close().ok());
}

TEST(FlightRecorder, KeepsItsRingWhereAPolicyWantsOneThatCannotBeMade) {
  TempDir dir;
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

TEST(FlightRecorder, TellsTheRingWhichInfinitiesAreAllowedNow) {
  TempDir dir;
  Policy policy = triggered({.when = "step == 100"});
  Recorder rec = open(dir.path(), {.policy = policy});
  const auto allowed = [&] {
    const auto ring = read_file(files_with(dir.path(), ".ring").at(0));
    const auto contents = flight::read(as_bytes(*ring));
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

TEST(Captures, ReachToTheLastStepThatThereIs) {
  TempDir dir;
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

TEST(Captures, HoldMoreStepsThanTheRingWhereTheyHaveOpened) {
  TempDir dir;
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
  TempDir dir;
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
  TempDir dir;
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

TEST(Captures, AreSavedAtTheEndWithWhatThereIs) {
  TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.when = "step == 4", .before = 9, .after = 100})});
  train(rec, 0, 6, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(steps_of(captures_of(dir.path()).at(0)), ElementsAre(0, 1, 2, 3, 4, 5, 6));
}

// ---- The ring and the end of the process.

TEST(FlightRecorder, LeavesNoRingBehindAfterAnOrderlyEnd) {
  TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.when = "step == 4"})});
  EXPECT_EQ(files_with(dir.path(), ".ring").size(), 1U);
  train(rec, 0, 6, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(files_with(dir.path(), ".ring"), IsEmpty());
}

// What a child tells its parent, also when it is killed.
struct Shared {
  std::atomic<std::int64_t> committed{-1};
};

Policy flying() {
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 256 << 10;
  return policy;
}

// Trains in a child process until it is killed after a random time. The last step that it knew to be complete.
std::int64_t train_and_kill(const std::string& directory, std::mt19937& random, const Policy& policy) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (memory) Shared;
  const pid_t child = ::fork();
  if (child == 0) {
    auto rec = Recorder::open(directory, {.policy = policy});
    if (!rec) ::_exit(1);
    for (std::int64_t n = 0;; ++n) {
      train(*rec, n, n, std::numeric_limits<std::int64_t>::max());
      shared->committed.store(rec->committed_step());
    }
  }
  while (shared->committed.load() < 0) std::this_thread::sleep_for(100us);
  std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(0, 20'000)(random)));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  const std::int64_t committed = shared->committed.load();
  ::munmap(memory, sizeof(Shared));
  return committed;
}

// The last capture has all steps up to the one that the process knew to be complete, as far as the ring holds them.
void expect_all_recovered(const std::string& directory, std::int64_t committed) {
  ASSERT_GE(committed, 0);
  ASSERT_EQ(abandoned_rings(directory)->size(), 1U);
  {
    Recorder next = open(directory);
  }  // an automatic restart must not destroy the evidence
  EXPECT_THAT(files_with(directory, ".ring"), IsEmpty());
  const auto captures = captures_of(directory);
  ASSERT_FALSE(captures.empty());
  const Capture& crash = captures.back();
  EXPECT_EQ(crash.info().cause, CaptureInfo::Cause::crash);
  std::vector<std::int64_t> complete;
  for (const CapturedStep& step : crash.steps()) {
    if (step.complete) {
      complete.push_back(step.step);
      EXPECT_EQ(step.tensors.size(), 4U);
    }
    const auto file = crash.step_file(step);
    for (const CapturedTensor& tensor : step.tensors) {
      const Tensor loaded = *file->load(tensor.key);
      const auto* data = reinterpret_cast<const float*>(loaded.data.data());
      EXPECT_TRUE(std::all_of(data, data + 64, [&](float x) { return x == static_cast<float>(step.step); }));
    }
  }
  ASSERT_FALSE(complete.empty());
  EXPECT_GE(complete.back(), committed);
  // A step takes less than 2 KiB of the 252.
  const std::int64_t expected = std::min<std::int64_t>(committed + 1, 100);
  EXPECT_GE(static_cast<std::int64_t>(complete.size()), expected);
  for (std::size_t i = 1; i < complete.size(); ++i) EXPECT_EQ(complete[i], complete[i - 1] + 1);
}

TEST(Killed, AProcessLosesNoCompletedStep) {
#if defined(SONDE_SANITIZED)
  constexpr int kRounds = 20;  // each takes ten times as long
#else
  constexpr int kRounds = 200;
#endif
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < kRounds; ++round) {
    TempDir dir;
    const std::int64_t committed = train_and_kill(dir.path(), random, flying());
    ASSERT_NO_FATAL_FAILURE(expect_all_recovered(dir.path(), committed));
    ASSERT_EQ(captures_of(dir.path()).size(), 1U);
  }
}

TEST(Killed, AProcessThatSavesCapturesLosesNoCompletedStep) {
  constexpr int kRounds = 20;
  std::mt19937 random(std::random_device{}());
  Policy policy = flying();
  policy.triggers = {{.when = "every(10)", .before = 90, .rearm = Rearm::always, .max_captures = 0}};
  for (int round = 0; round < kRounds; ++round) {
    TempDir dir;
    const std::int64_t committed = train_and_kill(dir.path(), random, policy);
    ASSERT_NO_FATAL_FAILURE(expect_all_recovered(dir.path(), committed));
  }
}

TEST(Killed, ARingElsewhereGoesBackToItsOwnRun) {
  TempDir dir;
  TempDir rings;
  std::mt19937 random(1);
  Policy policy = flying();
  policy.flight.directory = rings.path();
  for (const char* run : {"a", "b"}) train_and_kill(dir / run, random, policy);
  ASSERT_EQ(files_with(rings.path(), ".ring").size(), 2U);
  {
    Recorder next = open(dir / "b", {.policy = policy});
  }
  EXPECT_EQ(files_with(rings.path(), ".ring").size(), 1U);
  EXPECT_EQ(captures_of(dir / "b").size(), 1U);
  EXPECT_EQ(captures_of(dir / "a").size(), 0U);
}

// Whatever the policy of the next start says.
TEST(Killed, ARingThatALaterPolicyHasPutElsewhereIsFound) {
  for (const bool by_control : {false, true}) {
    TempDir dir;
    TempDir rings;
    if (by_control) {
      ASSERT_TRUE(
          write_file(dir / "control.toml", "[flight]\nuse = true\nsize = \"1MiB\"\ndir = \"" + rings.path() + "\"\n")
              .ok());
    }
    const pid_t child = ::fork();
    if (child == 0) {
      auto rec = Recorder::open(dir.path());
      Policy policy;
      policy.flight.use = FlightPolicy::Use::on;
      policy.flight.bytes = 1 << 20;
      policy.flight.directory = rings.path();
      if (!rec || (!by_control && !rec->set_policy(policy).ok()) || !rec->flush().ok()) ::_exit(1);
      train(*rec, 0, 9, 100);
      if (!rec->flush().ok()) ::_exit(1);
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(files_with(rings.path(), ".ring").size(), 1U);
    EXPECT_EQ(abandoned_rings(dir.path())->size(), 1U);
    std::filesystem::remove(dir / "control.toml");
    {
      Recorder next = open(dir.path());
    }
    EXPECT_THAT(files_with(rings.path(), ".ring"), IsEmpty());
    EXPECT_THAT(files_with(dir.path(), ".elsewhere"), IsEmpty());
    const auto captures = captures_of(dir.path());
    ASSERT_EQ(captures.size(), 1U);
    EXPECT_EQ(captures[0].info().cause, CaptureInfo::Cause::crash);
    EXPECT_THAT(steps_of(captures[0]), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  }
}

TEST(FlightRecorder, ElsewhereIsNotedInTheRunAsLongAsItIsThere) {
  TempDir dir;
  TempDir rings;
  Policy policy = triggered({.when = "step == 4"});
  policy.flight.directory = rings.path();
  Recorder rec = open(dir.path(), {.policy = policy});
  EXPECT_EQ(files_with(dir.path(), ".elsewhere").size(), 1U);
  EXPECT_THAT(*abandoned_rings(dir.path()), IsEmpty());
  EXPECT_EQ(files_with(dir.path(), ".elsewhere").size(), 1U);
  train(rec, 0, 5, 100);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(files_with(dir.path(), ".elsewhere"), IsEmpty());
  EXPECT_THAT(files_with(rings.path(), ".ring"), IsEmpty());
}

TEST(Fork, TheFlightRingIsTheParentsAlone) {
  TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.when = "step == 100"})});
  train(rec, 0, 3, 100);
  const pid_t child = ::fork();
  if (child == 0) {
    train(rec, 0, 5, 100);
    ::_exit(rec.flush().ok() && files_with(dir.path(), ".ring").size() == 1 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(*abandoned_rings(dir.path()), IsEmpty()) << "the parent still holds it";
  ASSERT_TRUE(rec.close().ok());
}

// ---- Live control.

TEST(Control, ArmsATriggerOnARunningJob) {
  TempDir dir;
  Recorder rec = open(dir.path());
  train(rec, 0, 3, 100);
  ASSERT_TRUE(write_file(dir / "control.toml",
                         "[control]\nkeep_triggers = true\n[[trigger]]\nname = \"late\"\nwhen = "
                         "\"step == 50\"\nbefore = 1\n[flight]\nsize = \"1MiB\"\n")
                  .ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*read_file(dir / "control.state"), testing::StartsWith("applied "));
  ASSERT_TRUE(comes_true([&] { return !files_with(dir.path(), ".ring").empty(); }));
  train(rec, 40, 55, 100);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(captures[0].info().reason, "late");
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(49, 50));
}

TEST(Control, AnswersThatARingCouldNotBeMade) {
  TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  ASSERT_TRUE(write_file(dir / "control.toml", "[flight]\nuse = true\nsize = \"4000TiB\"\n").ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*read_file(dir / "control.state"),
              testing::AllOf(testing::StartsWith("applied "), HasSubstr("recording goes on, but ")));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("recording goes on, but ")));
  EXPECT_EQ(read_log(dir.path()).texts.at("sonde/flight"), errors.messages);
}

TEST(Control, ARingThatCouldNotBeMadeIsToldInTheLogAlsoWithoutAnErrorHandler) {
  TempDir dir;
  Recorder rec =
      open(dir.path(), {.policy = {.flight = {.use = FlightPolicy::Use::on, .bytes = std::uint64_t{900} << 40}}});
  train(rec, 0, 3, 100);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_THAT(log.texts.at("sonde/flight"), ElementsAre(HasSubstr("recording goes on, but ")));
  EXPECT_EQ(log.steps.size(), 4U);
}

TEST(Control, AWrongFileChangesNothingAndIsAnswered) {
  TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.policy = {.watches = {{.tensors = "one"}}}, .on_error = errors.handler()});
  ASSERT_TRUE(write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\nevry = 3\n").ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*read_file(dir / "control.state"),
              testing::AllOf(testing::StartsWith("refused "), HasSubstr("evry"), HasSubstr("3:1")));
  train(rec, 0, 0, 100);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.at(0).tensors.size(), 1U);
  EXPECT_EQ(log.steps[0].tensors[0].name, "one");
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the policy stays as it was: ")));
}

TEST(Control, RepeatedFiringsAreCaptures) {
  TempDir dir;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  ASSERT_TRUE(write_file(dir / "control.toml", "[control]\nfire = 7\n").ok());  // asked of an earlier process
  Recorder rec = open(dir.path(), {.policy = policy});
  train(rec, 0, 3, 100);
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  ASSERT_TRUE(write_file(dir / "control.toml", "[control]\nfire = 8\n").ok());
  EXPECT_TRUE(comes_true([&] { return rec.counters().captures == 1; }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(captures_of(dir.path()).size(), 1U);
}

TEST(Control, AFileOfAnotherOwnerIsIgnored) {
  TempDir dir;
  Errors errors;
  if (::geteuid() == 0) {
    ASSERT_TRUE(write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\n").ok());
    ASSERT_EQ(::chown((dir / "control.toml").c_str(), 12345, static_cast<gid_t>(-1)), 0);
  } else {
    std::filesystem::create_symlink("/etc/passwd", dir / "control.toml");
  }
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  EXPECT_TRUE(comes_true([&] {
    const std::scoped_lock lock(errors.mutex);
    return errors.messages.size() == 1;
  }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("is ignored: it belongs to another user")));
  EXPECT_FALSE(std::filesystem::exists(dir / "control.state"));
}

TEST(Control, APipeInItsPlaceStopsNothingAndIsToldOf) {
  TempDir dir;
  Errors errors;
  ASSERT_EQ(::mkfifo((dir / "control.toml").c_str(), 0600), 0);
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  EXPECT_TRUE(comes_true([&] {
    const std::scoped_lock lock(errors.mutex);
    return !errors.messages.empty();
  }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("control.toml': it is not a regular file")));
}

TEST(Control, StaysOnTopOfThePolicyThatTheProgramSets) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\n").ok());
  Recorder rec = open(dir.path());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  ASSERT_TRUE(rec.set_policy({.watches = {{.tensors = "one"}}}).ok());
  EXPECT_FALSE(rec.probe("one").wanted(rec.step(0)));
  EXPECT_TRUE(rec.probe("two").wanted(rec.step(0)));
}

TEST(Control, EndsWithItsFile) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\n").ok());
  Recorder rec = open(dir.path());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  const Probe one = rec.probe("one");
  EXPECT_FALSE(one.wanted(rec.step(0)));
  std::filesystem::remove(dir / "control.toml");
  EXPECT_TRUE(comes_true([&] { return one.wanted(rec.step(1)); }));
}

}  // namespace
}  // namespace sonde::record
