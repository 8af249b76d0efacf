// The program's functions on the program's threads: RecorderOptions::callbacks. A recursive mutex represents the global
// lock of a host language, which a thread may hold when it calls the recorder.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/temp_dir_testing.h"
#include "record/recorder_testing.h"

namespace sonde::record {
namespace {

struct CallbacksTest : testing::Test {
  base::TempDir directory;
  std::recursive_mutex global;
  std::atomic<int> errors{0};
  std::atomic<int> asked{0};
  std::atomic<std::thread::id> where{};

  RecorderOptions on_caller() {
    RecorderOptions options;
    options.callbacks = Callbacks::on_caller;
    options.on_error = [this](const Status&) {
      const std::scoped_lock lock(global);
      ++errors;
      where = std::this_thread::get_id();
    };
    return options;
  }

  ProbeOptions when(bool answer) {
    ProbeOptions options;
    options.when = [this, answer](const StepValues&) {
      ++asked;
      const std::scoped_lock lock(global);
      where = std::this_thread::get_id();
      return answer;
    };
    return options;
  }

  static void record_step(Recorder& recorder, const Probe& probe, std::int64_t number) {
    const std::vector<float> values = {1, 2, 3};
    Step step = recorder.step(number);
    probe.record(step, view(values));
  }

  // An empty name is rejected.
  static void make_error(Recorder& recorder) { recorder.scalar("", 1, 1); }
};

TEST_F(CallbacksTest, FlushRunsTheErrorHandlerOnAThreadThatHoldsTheGlobalLock) {
  Recorder recorder = open(directory.path(), on_caller());
  const std::scoped_lock lock(global);
  make_error(recorder);
  EXPECT_TRUE(recorder.flush().ok());
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(where.load(), std::this_thread::get_id());
}

TEST_F(CallbacksTest, CloseRunsTheErrorHandlerOnAThreadThatHoldsTheGlobalLock) {
  Recorder recorder = open(directory.path(), on_caller());
  const std::scoped_lock lock(global);
  make_error(recorder);
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(errors, 1);
}

TEST_F(CallbacksTest, FlushAnswersConditionsOnAThreadThatHoldsTheGlobalLock) {
  Recorder recorder = open(directory.path(), on_caller());
  const Probe probe = recorder.probe("dense", when(true));
  const std::scoped_lock lock(global);
  record_step(recorder, probe, 7);
  EXPECT_TRUE(recorder.flush().ok());
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(where.load(), std::this_thread::get_id());
  EXPECT_EQ(recorder.committed_step(), 7);
}

TEST_F(CallbacksTest, CloseAnswersTheConditionsOfAStepThatIsStillOpen) {
  Recorder recorder = open(directory.path(), on_caller());
  const Probe probe = recorder.probe("dense", when(true));
  const std::vector<float> values = {1, 2, 3};
  const std::scoped_lock lock(global);
  Step step = recorder.step(7);
  probe.record(step, view(values));
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(recorder.committed_step(), 7);
}

TEST_F(CallbacksTest, FlushDoesNotWaitForAThreadThatWaitsForTheGlobalLockInACondition) {
  Recorder recorder = open(directory.path(), on_caller());
  const Probe probe = recorder.probe("dense", when(true));
  std::unique_lock lock(global);
  record_step(recorder, probe, 7);
  std::thread other([&] {
    while (!recorder.run_callbacks() && recorder.committed_step() < 7) std::this_thread::yield();
  });
  ASSERT_TRUE(comes_true([&] { return asked > 0; }));  // it waits for the lock now, or this thread has asked already
  EXPECT_TRUE(recorder.flush().ok());
  EXPECT_EQ(recorder.committed_step(), 7);
  lock.unlock();
  other.join();
}

TEST_F(CallbacksTest, AStepIsWrittenWhenItsConditionsAreAnsweredAndNotBeforeAnEarlierOne) {
  Recorder recorder = open(directory.path(), on_caller());
  const Probe waiting = recorder.probe("waiting", when(true));
  const Probe free = recorder.probe("free");
  record_step(recorder, waiting, 1);
  record_step(recorder, free, 2);
  ASSERT_TRUE(comes_true([&] { return asked > 0 || recorder.run_callbacks(); }));
  ASSERT_TRUE(comes_true([&] { return recorder.committed_step() == 2; }));
  EXPECT_TRUE(recorder.close().ok());
  const Log log = read_log(directory.path());
  ASSERT_EQ(log.steps.size(), 2U);
  EXPECT_EQ(log.steps[0].step, 1);
  EXPECT_EQ(log.steps[0].tensors.size(), 1U);
  EXPECT_EQ(log.steps[1].step, 2);
}

TEST_F(CallbacksTest, KeepsOnlyWhatConditionsAllow) {
  Recorder recorder = open(directory.path(), on_caller());
  const Probe yes = recorder.probe("yes", when(true));
  const Probe no = recorder.probe("no", when(false));
  const std::vector<float> values = {1, 2, 3};
  {
    Step step = recorder.step(1);
    yes.record(step, view(values));
    no.record(step, view(values));
  }
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(asked, 2);
  const Log log = read_log(directory.path());
  ASSERT_EQ(log.steps.size(), 1U);
  ASSERT_EQ(log.steps[0].tensors.size(), 1U);
  EXPECT_EQ(log.steps[0].tensors[0].name, "yes");
}

TEST_F(CallbacksTest, AConditionThatThrowsKeepsNothingAndIsReported) {
  Recorder recorder = open(directory.path(), on_caller());
  const Probe probe = recorder.probe("dense", {.when = [](const StepValues&) -> bool { throw 1; }});
  record_step(recorder, probe, 3);
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(recorder.committed_step(), 3);
}

TEST_F(CallbacksTest, TensorsWithUnansweredConditionsAtExitAreNotKeptAndTheLogSaysSo) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Recorder recorder = open(directory.path(), on_caller());
    const Probe probe = recorder.probe("dense", when(true));
    std::int64_t number = 0;
    for (int before = -1; before != asked;) {  // until the end of a step comes before its question
      before = asked;
      record_step(recorder, probe, ++number);
    }
    new Recorder(std::move(recorder));  // never closed
    std::exit(0);                       // NOLINT(concurrency-mt-unsafe): the child has one thread
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const Log log = read_log(directory.path());
  ASSERT_FALSE(log.steps.empty());
  EXPECT_TRUE(log.steps.back().tensors.empty());
  ASSERT_EQ(log.gaps.size(), 1U);
  EXPECT_EQ(log.gaps[0].reason, stats_record::GapReason::rejected);
  EXPECT_NE(log.gaps[0].detail.find("was not evaluated in step"), std::string::npos);
}

TEST_F(CallbacksTest, StepsRunWaitingCallbacks) {
  Recorder recorder = open(directory.path(), on_caller());
  const Probe probe = recorder.probe("dense", when(true));
  record_step(recorder, probe, 0);
  std::int64_t number = 0;
  EXPECT_TRUE(comes_true([&] {
    record_step(recorder, probe, ++number);
    return recorder.committed_step() > 0;
  }));
  EXPECT_EQ(where.load(), std::this_thread::get_id());
  EXPECT_TRUE(recorder.close().ok());
  EXPECT_EQ(recorder.committed_step(), number);
}

TEST_F(CallbacksTest, WithoutThemTheHandlerRunsOnTheBackendAndRunCallbacksDoesNothing) {
  RecorderOptions options = on_caller();
  options.callbacks = Callbacks::on_backend;
  Recorder recorder = open(directory.path(), options);
  make_error(recorder);
  EXPECT_TRUE(recorder.flush().ok());
  EXPECT_EQ(errors, 1);
  EXPECT_NE(where.load(), std::this_thread::get_id());
  EXPECT_FALSE(recorder.run_callbacks());
}

}  // namespace
}  // namespace sonde::record
