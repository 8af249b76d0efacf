// What survives the end of a process, a fork and a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "base/small_disk_testing.h"
#include "record/child_testing.h"
#include "record/log_testing.h"
#include "sonde/recorder.h"

// LeakSanitizer asks this before it looks for leaks.
extern "C" int __lsan_is_turned_off() {
  return sonde::record::is_child ? 1 : 0;
}  // NOLINT(bugprone-reserved-identifier)

namespace sonde::record {
namespace {

using namespace std::chrono_literals;

TEST(Exit, WithoutCloseDrainsWhatWasRecorded) {
  base::TempDir dir;
  const int code = run_child([&] {
    auto* rec = new Result<Recorder>(Recorder::open(dir.path(), {.flush_interval = 1h}));  // never closed
    if (!rec->ok()) return 1;
    for (std::int64_t n = 0; n < 5000; ++n) (*rec)->scalar("x", 1, n);
    return 0;
  });
  ASSERT_EQ(code, 0);
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.scalars.at("x").size(), 5000U);
  EXPECT_EQ(log.partial_tails, 0U);
}

TEST(Fork, TheChildsFirstCallOpensItsOwnFileAndNothingIsWrittenTwice) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path(), {.flush_interval = 1h});
  ASSERT_TRUE(rec.ok());
  const Scalar series = rec->series("x");
  for (std::int64_t n = 0; n < 1000; ++n) series.record(1, n);  // some of them still in memory at the fork
  const int code = run_child([&] {
    for (std::int64_t n = 1000; n < 1500; ++n) series.record(2, n);
    return rec->close().ok() ? 0 : 1;
  });
  ASSERT_EQ(code, 0);
  for (std::int64_t n = 1500; n < 1600; ++n) series.record(3, n);
  ASSERT_TRUE(rec->close().ok());

  const auto files = files_with(dir.path(), "tfevents");
  ASSERT_EQ(files.size(), 2U);
  std::map<double, std::size_t> points;
  const Log log = read_log(dir.path());
  for (const auto& point : log.scalars.at("x")) ++points[point.value];
  EXPECT_EQ(points[1], 1000U);
  EXPECT_EQ(points[2], 500U);
  EXPECT_EQ(points[3], 100U);
  EXPECT_TRUE(log.damage.empty());
}

TEST(Fork, AChildThatRecordsNothingCreatesNoFile) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  rec->scalar("x", 1, 0);
  EXPECT_EQ(run_child([] { return 0; }), 0);
  EXPECT_EQ(run_child([&] { return rec->close().ok() ? 0 : 1; }), 0);
  ASSERT_TRUE(rec->close().ok());
  EXPECT_EQ(files_with(dir.path(), "").size(), 1U);
}

TEST(Fork, AChildRecordsEverythingAsItsParentDoes) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  const Probe probe = rec->probe("out");
  const int code = run_child([&] {
    const std::vector<float> values(100, 1.0F);
    for (std::int64_t n = 0; n < 10; ++n) {
      const Step step = rec->step(n);
      probe.record(step, view(values));
      rec->histogram("h", view(values), n);
    }
    std::jthread([&] { rec->scalar("thread", 1, 0); }).join();
    return rec->close().ok() ? 0 : 1;
  });
  ASSERT_EQ(code, 0);
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.steps.size(), 10U);
  EXPECT_EQ(log.histograms.at("h").size(), 10U);
  EXPECT_EQ(log.scalars.at("thread").size(), 1U);
}

// Other threads record while this one forks, so that locks are likely to be held at that moment.
TEST(Fork, WorksWhileOtherThreadsRecord) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<float> values(1000, 1.0F);
      for (std::int64_t n = 0; !stop; ++n) {
        rec->scalar("busy/" + std::to_string(n % 50), 1, n);
        rec->histogram("h/" + std::to_string(t), view(values), n);
      }
    });
  }
  constexpr int kForks = 20;
  for (int i = 0; i < kForks; ++i) {
    EXPECT_EQ(run_child(
                  [&] {
                    rec->scalar("child", 1, i);
                    return rec->flush().ok() ? 0 : 1;
                  },
                  true),
              0);
  }
  stop = true;
  threads.clear();
  const Status closed = rec->close();
  EXPECT_EQ(closed.ok(), rec->counters().dropped_tensors == 0) << closed.message();
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.scalars.at("child").size(), static_cast<std::size_t>(kForks));
  EXPECT_EQ(files_with(dir.path(), "tfevents").size(), static_cast<std::size_t>(kForks) + 1);
  EXPECT_TRUE(log.damage.empty());
}

// A process that says through a pipe which step it has flushed, and is killed at a random moment.
TEST(Kill, AllThatWasFlushedReadsBackAndOnlyTheLastRecordMayBeHalfWritten) {
  std::mt19937 random(17);
  for (int round = 0; round < 50; ++round) {
    base::TempDir dir;
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = start_child([&] {
      auto rec = Recorder::open(dir.path(), {.flush_interval = 1ms});
      if (!rec.ok()) return 1;
      const Probe probe = rec->probe("out");
      const std::vector<float> values(5000, 1.0F);
      for (std::int64_t n = 0;; ++n) {
        {
          const Step step = rec->step(n);
          probe.record(step, view(values));
          for (int i = 0; i < 100; ++i) rec->scalar("x/" + std::to_string(i), 1, n);
        }
        if (n % 3 != 0) continue;
        if (!rec->flush().ok()) return 1;
        if (::write(pipe_ends[1], &n, sizeof n) != sizeof n) return 1;
      }
    });
    ::close(pipe_ends[1]);
    std::int64_t flushed = -1;
    ASSERT_EQ(::read(pipe_ends[0], &flushed, sizeof flushed), static_cast<ssize_t>(sizeof flushed));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));  // the random moment
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    EXPECT_EQ(wait_for(child), 128 + SIGKILL);
    while (::read(pipe_ends[0], &flushed, sizeof flushed) == static_cast<ssize_t>(sizeof flushed)) {
    }
    ::close(pipe_ends[0]);

    const Log log = read_log(dir.path());
    EXPECT_TRUE(log.damage.empty()) << log.damage.front();
    EXPECT_LE(log.partial_tails, 2U);  // one file each
    for (int i = 0; i < 100; ++i) {
      EXPECT_GE(log.scalars.at("x/" + std::to_string(i)).size(), static_cast<std::size_t>(flushed + 1));
    }
    EXPECT_GE(log.steps.size(), static_cast<std::size_t>(flushed + 1));
  }
}

TEST(FullDisk, IsReportedOnceKeepsEarlierRecordsAndRecovers) {
  enum Outcome { kRight, kNoOpen, kNoError, kNoFirst, kDamaged, kNoRecovery, kNotCounted, kHidden, kNoGap };
  base::test_on_small_disk(16 << 20, [](base::SmallDisk& disk) -> int {
    constexpr std::int64_t kPoints = 400'000;  // more than is kept for later
    std::mutex mutex;
    std::vector<Status> errors;
    auto rec = Recorder::open(disk.path(), {.on_error = [&](const Status& status) {
                                const std::scoped_lock lock(mutex);
                                errors.push_back(status);
                              }});
    if (!rec.ok()) return kNoOpen;
    rec->scalar("first", 1, 0);
    if (!rec->flush().ok()) return kNoOpen;
    disk.fill();
    for (std::int64_t n = 0; n < kPoints; ++n) rec->scalar("x", 1, n);
    const Status refused = rec->flush();
    if (refused.code() != Code::no_space || errors.empty() || errors.size() > 3) return kNoError;
    if (rec->counters().lost_records == 0 || rec->counters().write_errors == 0) return kNotCounted;
    {
      const Log log = read_log(disk.path());
      if (!log.scalars.contains("first")) return kNoFirst;
      if (!log.damage.empty()) return kDamaged;
    }
    disk.free();
    rec->scalar("last", 1, 1);
    if (!rec->close().ok()) return kNoRecovery;
    const Log log = read_log(disk.path());
    if (!log.scalars.contains("last") || !log.damage.empty()) return kNoRecovery;
    // Data recorded during the outage is in the log, or counted, with a gap in the log.
    const auto outage = log.scalars.find("x");
    const std::uint64_t lost = rec->counters().lost_records;
    if (outage == log.scalars.end() || outage->second.size() + lost != kPoints) return kHidden;
    std::uint64_t missing = 0;
    for (const stats_record::Gap& gap : log.gaps) {
      const bool of_points = gap.first_step >= 0 && gap.last_step < kPoints;
      if (gap.reason == stats_record::GapReason::write_error && of_points) missing += gap.count;
    }
    return missing == lost ? kRight : kNoGap;
  });
}

// No file may be larger than a few records, as if the disk were full for tensors.
TEST(FullDisk, LostTensorFilesAndTablesAreReturnedByFlushAndCloseAndLeaveAGapAndNoDirectory) {
  base::TempDir dir;
  enum Outcome { kRight, kNoLimit, kNoFlushError, kNoCloseError, kNotTold, kNoGap, kLeftBehind };
  const int code = run_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {64 << 10, 64 << 10};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return static_cast<int>(kNoLimit);
    std::mutex mutex;
    std::vector<std::string> told;
    auto rec = Recorder::open(dir.path(), {.on_error = [&](const Status& status) {
                                const std::scoped_lock lock(mutex);
                                told.push_back(status.message());
                              }});
    if (!rec.ok()) return static_cast<int>(kNoLimit);
    const Probe files = rec->probe("layers/a", {.keep = Keep::stats | Keep::whole | Keep::npy | Keep::npz});
    const Probe table = rec->probe("layers/b", {.keep = Keep::csv});
    const std::vector<float> values(1 << 16, 1.5F);
    const auto record = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t n = first; n < last; ++n) {
        const Step step = rec->step(n);
        files.record(step, view(values));
        table.record(step, view(values));
      }
    };
    record(0, 20);
    if (rec->flush().code() != Code::no_space) return static_cast<int>(kNoFlushError);
    {
      const std::scoped_lock lock(mutex);
      if (told.empty() || told.size() > 4) return static_cast<int>(kNotTold);
    }
    record(20, 30);
    if (rec->close().code() != Code::no_space) return static_cast<int>(kNoCloseError);
    std::uint64_t lost = 0;
    for (const auto& gap : read_log(dir.path()).gaps) {
      if (gap.reason == stats_record::GapReason::write_error) lost += gap.count;
    }
    if (lost != 30 * 3 + 30 * values.size()) return static_cast<int>(kNoGap);
    const bool clean = !std::filesystem::exists(dir / "tensors") && !std::filesystem::exists(dir / "tables");
    return static_cast<int>(clean ? kRight : kLeftBehind);
  });
  EXPECT_EQ(code, kRight);
}

TEST(FullDisk, AtOpenIsAnErrorAndLeavesNothing) {
  base::test_on_small_disk(4096, [](base::SmallDisk& disk) -> int {
    disk.fill();
    const std::vector<std::string> before = base::names_in(disk.path());
    const auto rec = Recorder::open(disk.path());
    if (rec.ok() || rec.error().code() != Code::no_space) return 1;
    if (rec.error().message().find(disk.path()) == std::string::npos) return 2;
    return base::names_in(disk.path()) == before ? 0 : 3;
  });
}

}  // namespace
}  // namespace sonde::record
