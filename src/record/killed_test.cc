// What the flight ring leaves: nothing after a normal end, every complete step after any other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>

#include "record/capture_testing.h"
#include "sonde/tensor_io.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FlightRecorder, LeavesNoRingAfterANormalEnd) {
  base::TempDir dir;
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

// Trains in a child process until it is killed after a random time. The last step that it knew to be complete.
std::int64_t train_and_kill(const std::string& directory, std::mt19937& random, const Policy& policy) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (memory) Shared;
  const pid_t child = ::fork();
  if (child == 0) {
    // It trains without a pause: where the backend gets no processor for a while, calls wait and drop nothing.
    auto rec = Recorder::open(directory, {.tensors = Overflow::wait, .max_wait = 1h, .policy = policy});
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
    base::TempDir dir;
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
    base::TempDir dir;
    const std::int64_t committed = train_and_kill(dir.path(), random, policy);
    ASSERT_NO_FATAL_FAILURE(expect_all_recovered(dir.path(), committed));
  }
}

TEST(Killed, TheCaptureOfAProcessCountsTensorsThatItDroppedForLackOfMemory) {
  base::TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    auto rec = Recorder::open(dir.path(), {.memory = 1024, .policy = flying()});
    if (!rec) ::_exit(1);
    const Probe probe = rec->probe("out");
    for (std::int64_t n = 0; n < 2; ++n) {
      const Step step = rec->step(n);
      probe.record(step, view(std::vector<float>(16, 1.0F)));
      if (n == 1) probe.record(step, view(std::vector<float>(4096, 2.0F)));  // more than the memory that there is
    }
    (void)rec->flush();  // which tells of the loss
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  {
    Recorder next = open(dir.path());
  }
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  ASSERT_THAT(steps_of(captures[0]), ElementsAre(0, 1));
  EXPECT_EQ(captures[0].steps()[1].tensors.size(), 1U);
  ASSERT_EQ(captures[0].info().dropped.size(), 1U);
  const CaptureGap& gap = captures[0].info().dropped[0];
  EXPECT_EQ(gap.first_step, 1);
  EXPECT_EQ(gap.last_step, 1);
  EXPECT_EQ(gap.count, 1U);
  EXPECT_THAT(gap.reason, testing::HasSubstr("the buffer was full"));
}

TEST(Killed, AnExternalRingReturnsToItsOwnRun) {
  base::TempDir dir;
  base::TempDir rings;
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
    base::TempDir dir;
    base::TempDir rings;
    if (by_control) {
      ASSERT_TRUE(base::write_file(dir / "control.toml",
                                   "[flight]\nuse = true\nsize = \"1MiB\"\ndir = \"" + rings.path() + "\"\n")
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

TEST(FlightRecorder, ExternalRingIsNotedInTheRunAsLongAsItExists) {
  base::TempDir dir;
  base::TempDir rings;
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
  base::TempDir dir;
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

}  // namespace
}  // namespace sonde::record
