// A recorder whose allocations fail, each in turn: nothing is thrown, nothing aborts, nothing hangs; what is lost is
// counted and told, all else is in the files, and all is recorded again when there is memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_faults_testing.h"
#include "record/capture_testing.h"
#include "record/error_queue.h"
#include "record/log_testing.h"
#include "record/recorder_testing.h"
#include "sonde/tensor_io.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr std::int64_t kSteps = 2;
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kLate = 100;

// Ends the process where a run takes longer than a minute.
class Deadline {
 public:
  Deadline() : thread_([this] { watch(); }) {}
  ~Deadline() {
    {
      const std::scoped_lock lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  void restart() {
    const std::scoped_lock lock(mutex_);
    end_ = std::chrono::steady_clock::now() + 60s;
  }

 private:
  void watch() {
    const base::MemoryFaults::Exempt exempt;
    std::unique_lock lock(mutex_);
    while (!done_) {
      changed_.wait_for(lock, 100ms);
      if (std::chrono::steady_clock::now() < end_) continue;
      std::fputs("a run with a failing allocation hangs\n", stderr);
      ::_exit(1);
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + 60s;
  std::thread thread_;
};

// The handler is the program's code, which may run on the backend.
ErrorHandler counting(std::atomic<int>& told) {
  return [&told](const Status&) { ++told; };
}

Policy capturing(std::uint64_t bytes) {
  Policy policy = triggered({.name = "second", .when = "step == 1 or loss > 1000", .before = 1});
  policy.flight.bytes = bytes;
  return policy;
}

struct Probes {
  explicit Probes(Recorder& rec)
      : small(rec.probe("small", {.keep = Keep::stats | Keep::histogram})),
        large(rec.probe("large", {.keep = Keep::stats | Keep::whole | Keep::npy | Keep::csv | Keep::image})) {}
  Probe small;
  Probe large;
};

// Records everything of one step. Calls that are counted: kCallsOfStep.
constexpr std::uint64_t kCallsOfStep = 8;
void record_step(Recorder& rec, const Probes& probes, std::int64_t n) {
  static const std::vector<float> values = ramp(kRows * 5);
  static const TensorView matrix = view(values, {kRows, 5});
  static const std::vector<TableColumn> columns = {{"column", matrix}};
  const Step step = rec.step(n);
  probes.small.record(step, matrix);
  probes.large.record(step, matrix);
  rec.scalar("loss", 1, n);
  rec.image("picture", matrix, n, Layout::HW);
  rec.table("table", columns, n);
  Group group = rec.group(n);
  group.scalar("in_group", 1);
  group.histogram("in_group/values", matrix);
  group.image("in_group/picture", matrix, Layout::HW);
  group.text("in_group/text", "a text");
}

std::uint64_t lines_below(const std::string& directory, std::string_view beginning) {
  std::uint64_t lines = 0;
  if (!std::filesystem::exists(directory)) return 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) lines += line.starts_with(beginning) ? 1U : 0U;
  }
  return lines;
}

std::uint64_t files_below(const std::string& directory, std::string_view ending) {
  if (!std::filesystem::exists(directory)) return 0;
  return static_cast<std::uint64_t>(std::ranges::count_if(
      std::filesystem::recursive_directory_iterator(directory),
      [&](const auto& entry) { return entry.is_regular_file() && entry.path().string().ends_with(ending); }));
}

// Records of the first steps that the files lack. The statistics of a step are one, and the values of a group.
std::uint64_t missing(const Log& log, const std::string& directory) {
  std::uint64_t lacking = kSteps;
  for (const Log::Step& step : log.steps) {
    if (step.step < kSteps) lacking = lacking - 1 + (2 - step.tensors.size());
  }
  const auto lacks = [&](std::uint64_t expected, std::uint64_t found) {
    lacking += expected - std::min(expected, found);
  };
  const auto values = [&](const char* tag) { return log.values.contains(tag) ? log.values.at(tag) : 0; };
  for (const char* tag :
       {"loss", "in_group", "in_group/picture", "picture", "activation/small", "activation/large/image"}) {
    lacks(kSteps + 1, values(tag));  // and once late
  }
  EXPECT_EQ(values("in_group"), values("in_group/values"));
  EXPECT_EQ(values("in_group"), values("in_group/text"));
  lacks(kSteps + 1, files_below(directory + "/tensors", ".safetensors"));
  lacks(kSteps + 1, files_below(directory + "/tensors", ".npy"));
  for (std::int64_t n = 0; n < kSteps; ++n) {
    lacks(2 * kRows, lines_below(directory + "/tables", std::to_string(n) + ","));
  }
  return lacking;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// Files that are not whole yet, and rings.
std::vector<std::string> left_behind(const std::string& directory) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    const bool partial = name.find(".part-") != std::string::npos || name.ends_with(".new");
    if (partial || name.find(".ring") != std::string::npos) found.push_back(name);
  }
  return found;
}

void expect_late_step(const Log& log, const std::string& directory) {
  const auto late = std::ranges::find(log.steps, kLate, &Log::Step::step);
  ASSERT_NE(late, log.steps.end());
  EXPECT_EQ(late->tensors.size(), 2U);
  const auto& losses = log.scalars.at("loss");
  EXPECT_TRUE(std::ranges::any_of(losses, [](const LoggedScalar& point) { return point.step == kLate; }));
  for (const char* tag : {"picture", "in_group/picture", "activation/large/image", "activation/small"}) {
    EXPECT_TRUE(log.values.contains(tag)) << tag;
  }
  EXPECT_EQ(lines_below(directory + "/tables", "100,"), 2 * kRows);
  EXPECT_GE(files_below(directory + "/tensors", ".safetensors"), 1U);
}

std::uint64_t lost(const Counters& counters) {
  return counters.dropped_scalars + counters.dropped_tensors + counters.rejected + counters.lost_records;
}

void fail_library_threads(const base::AllocationWalk& walk, std::uint64_t least) {
  Deadline deadline;
  {
    (void)open(base::TempDir().path());
  }  // the backend's own descriptors, if any
  const std::size_t descriptors = open_descriptors();
  const auto met = base::for_each_allocation(base::MemoryFaults::On::other_threads, walk, [&](const auto& begin) {
    deadline.restart();
    const base::TempDir dir;
    std::atomic<int> told{0};
    Recorder rec = open(dir.path(), {.flush_interval = 1h, .policy = capturing(64 << 10), .on_error = counting(told)});
    const Probes probes(rec);
    begin();
    for (std::int64_t n = 0; n < kSteps; ++n) {
      record_step(rec, probes, n);
      if (n == 0) rec.trigger("mine", 0, 1);
      if (n == 1) (void)rec.set_policy(capturing(128 << 10));
    }
    (void)rec.flush();
    base::MemoryFaults::end();
    (void)rec.flush();  // says what was lost
    record_step(rec, probes, kLate);
    EXPECT_TRUE(rec.flush().ok());
    EXPECT_EQ(rec.committed_step(), kLate);
    EXPECT_TRUE(rec.close().ok());

    const Log log = read_log(dir.path());
    EXPECT_THAT(log.damage, IsEmpty());
    EXPECT_EQ(log.partial_tails, 0U);
    expect_late_step(log, dir.path());
    const Counters counters = rec.counters();
    // A call stands for at most eight records.
    EXPECT_LE(missing(log, dir.path()), 8 * counters.rejected + lost(counters));
    if (lost(counters) == 0) {
      EXPECT_EQ(missing(log, dir.path()), 0U);
      EXPECT_EQ(captures_of(dir.path()).size(), 2U);
    } else {
      EXPECT_GT(counters.out_of_memory, 0U);
      EXPECT_GT(told.load(), 0);
    }
    const std::uint64_t calls = kCallsOfStep * (kSteps + 1);
    const std::uint64_t sum =
        counters.scalars + counters.tensors + counters.rejected + counters.dropped_scalars + counters.dropped_tensors;
    EXPECT_GE(sum, calls);
    EXPECT_LE(sum, calls + 1 + kSteps) << "texts and captures count only where they are lost";
    // A directory that cannot be removed without memory is removed with the next capture.
    if (!walk.persistent) {
      EXPECT_THAT(left_behind(dir.path()), IsEmpty());
    }
    EXPECT_THAT(files_with(dir.path(), ".ring"), IsEmpty());
    for (const Capture& capture : captures_of(dir.path())) EXPECT_FALSE(capture.info().reason.empty());
  });
  EXPECT_GT(met, least);
  EXPECT_EQ(open_descriptors(), descriptors);
}

// In parts, which take their time.
class EveryAllocationPart : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Of4, EveryAllocationPart, ::testing::Values(1, 2, 3, 4));
TEST_P(EveryAllocationPart, OfTheLibrarysThreadsThatFailsIsSurvivedCountedAndOver) {
  fail_library_threads({.first = GetParam(), .stride = 4}, 50);
}
TEST(EveryAllocation, OfTheLibrarysThreadsMayFailFromOneOnUntilThereIsMemory) {
  fail_library_threads({.persistent = true}, 20);
}

// What the test itself needs is made before.
void fail_recording_thread(const base::AllocationWalk& walk, std::uint64_t least) {
  Deadline deadline;
  {
    const base::TempDir dir;
    Recorder rec = open(dir.path());
    record_step(rec, Probes(rec), 0);  // its static variables
  }
  const std::size_t descriptors = open_descriptors();
  const auto met = base::for_each_allocation(base::MemoryFaults::On::this_thread, walk, [&](const auto& begin) {
    deadline.restart();
    const base::TempDir dir;
    const RecorderOptions options = {.flush_interval = 1h, .policy = capturing(64 << 10)};
    const Policy other = capturing(128 << 10);
    begin();
    auto opened = Recorder::open(dir.path(), options);
    if (!opened.ok()) return base::MemoryFaults::end();
    Recorder& rec = *opened;
    {
      const Probes probes(rec);
      const Scalar loss = rec.series("loss");
      loss.record(1, 0);
      record_step(rec, probes, 0);
      rec.trigger("mine", 0, 0);
      rec.text("text", "a text", 0);
      (void)rec.set_policy(other);
      (void)rec.flush();
    }
    base::MemoryFaults::end();
    (void)rec.flush();
    const Probes probes(rec);
    record_step(rec, probes, kLate);
    EXPECT_TRUE(rec.flush().ok());
    EXPECT_TRUE(rec.close().ok());
    const Log log = read_log(dir.path());
    EXPECT_THAT(log.damage, IsEmpty());
    expect_late_step(log, dir.path());
  });
  EXPECT_GT(met, least);
  EXPECT_EQ(open_descriptors(), descriptors);
}

TEST(EveryAllocation, OfAThreadThatRecordsThatFailsThrowsNothingAndCostsThatCall) { fail_recording_thread({}, 100); }
TEST(EveryAllocation, OfAThreadThatRecordsMayFailFromOneOnUntilThereIsMemory) {
  fail_recording_thread({.persistent = true}, 20);
}

TEST(ErrorQueueWithoutMemory, TellsTheNumberOfErrorsWhenThereIsMemoryAgain) {
  std::vector<std::string> told;
  ErrorQueue errors([&](const Status& error) { told.push_back(error.message()); });
  const Status error{Code::io, "a sentence that is too long to be stored without an allocation"};
  base::MemoryFaults::begin(base::MemoryFaults::On::this_thread, 1, true);
  errors.push(error);
  errors.push(error);
  EXPECT_TRUE(errors.deliver());
  base::MemoryFaults::end();
  EXPECT_THAT(told, IsEmpty());
  EXPECT_TRUE(errors.deliver());
  EXPECT_THAT(told, ::testing::ElementsAre("2 more errors came at the same time and are not listed"));
  EXPECT_FALSE(errors.deliver());
}

}  // namespace
}  // namespace sonde::record
