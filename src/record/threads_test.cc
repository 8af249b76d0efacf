// Threads, time and flushing.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/temp_dir_testing.h"
#include "record/backend.h"
#include "record/log_testing.h"
#include "sonde/recorder.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;

int count_backend_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream name(task.path() / "comm");
    std::string text;
    std::getline(name, text);
    count += text == "sonde" ? 1 : 0;
  }
  return count;
}

// Waits for something that must come true, for a minute at most.
template <class Condition>
void wait_until(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 1min;
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it never came true";
    std::this_thread::sleep_for(100us);
  }
}

TEST(Threads, OneBackendServesAllRecordersOfTheProcess) {
  base::TempDir dir;
  auto a = Recorder::open(dir / "a");
  auto b = Recorder::open(dir / "b");
  ASSERT_TRUE(a.ok() && b.ok());
  a->scalar("x", 1, 0);
  b->scalar("x", 1, 0);
  ASSERT_TRUE(a->flush().ok() && b->flush().ok());
  EXPECT_EQ(count_backend_threads(), 1);
}

TEST(Threads, EveryCallIsSafeFromAnyThread) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  constexpr int kThreads = 4;
  constexpr std::int64_t kCalls = 3000;
  const Scalar shared = rec->series("shared");
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const std::vector<float> values(64, static_cast<float>(t));
        const std::string own = "own/" + std::to_string(t);
        for (std::int64_t n = 0; n < kCalls; ++n) {
          shared.record(static_cast<double>(t), n);
          rec->scalar(own, static_cast<double>(n), n);
          if (n % 100 == 0) rec->histogram("weights/" + std::to_string(t), view(values), n);
          if (n % 1000 == 0) {
            auto group = rec->group(n);
            group.scalar("group/" + std::to_string(t), 1);
          }
        }
      });
    }
  }
  ASSERT_TRUE(rec->close().ok());
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.scalars.at("shared").size(), static_cast<std::size_t>(kThreads * kCalls));
  for (int t = 0; t < kThreads; ++t) {
    const auto& own = log.scalars.at("own/" + std::to_string(t));
    ASSERT_EQ(own.size(), static_cast<std::size_t>(kCalls));
    for (std::size_t n = 0; n < own.size(); ++n) ASSERT_EQ(own[n].step, static_cast<std::int64_t>(n));
    EXPECT_EQ(log.histograms.at("weights/" + std::to_string(t)).size(), 30U);
  }
  EXPECT_TRUE(log.damage.empty());
  const Counters counters = rec->counters();
  EXPECT_EQ(counters.dropped_scalars + counters.dropped_tensors + counters.rejected, 0U);
}

// Two threads take turns; each call happens after the other's, so the file must have them in that order.
TEST(Threads, WithinATagFileOrderIsRecordOrder) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  const Scalar shared = rec->series("shared");
  constexpr std::int64_t kTurns = 20'000;
  std::atomic<std::int64_t> turn{0};
  const auto play = [&](std::int64_t parity) {
    for (;;) {
      const std::int64_t n = turn.load(std::memory_order_acquire);
      if (n >= kTurns) return;
      if (n % 2 != parity) {
        std::this_thread::yield();
        continue;
      }
      shared.record(static_cast<double>(n), n);
      turn.store(n + 1, std::memory_order_release);
    }
  };
  {
    const std::jthread even(play, 0);
    const std::jthread odd(play, 1);
  }
  ASSERT_TRUE(rec->close().ok());
  const auto points = read_log(dir.path()).scalars.at("shared");
  ASSERT_EQ(points.size(), static_cast<std::size_t>(kTurns));
  for (std::size_t n = 0; n < points.size(); ++n) ASSERT_EQ(points[n].step, static_cast<std::int64_t>(n));
}

// Resources of the process that a thread could leave behind.
struct Belongings {
  std::size_t rings = Backend::get().rings();
  std::size_t threads = base::names_in("/proc/self/task").size();
  std::size_t bytes = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;  // 0 under a sanitizer, which has its own malloc
};

TEST(Threads, ThreadsThatComeAndGoLeaveNothingBehind) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  const std::vector<float> values(1000, 1.0F);
  std::int64_t step = 0;
  const auto come_and_go = [&](int threads) {
    for (int i = 0; i < threads; ++i, ++step) {
      std::jthread([&] {
        rec->scalar("x", static_cast<double>(step), step);
        rec->histogram("h", view(values), step);
      }).join();
      ASSERT_TRUE(rec->flush().ok());  // its ring is empty now, and free for the next one
    }
  };
  come_and_go(20);  // one-time allocations are done now
  const Belongings before;
  come_and_go(200);
  const Belongings after;
  EXPECT_LE(after.rings, before.rings);
  EXPECT_LE(after.threads, before.threads);
  EXPECT_LT(after.bytes, before.bytes + (2 << 20)) << "200 rings have more";
  ASSERT_TRUE(rec->close().ok());
  EXPECT_EQ(read_log(dir.path()).scalars.at("x").size(), 220U);
}

TEST(Threads, ARecorderMayCloseWhileOthersRecord) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  const Scalar series = rec->series("x");
  const std::vector<float> values(100, 1.0F);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> calls{0};
  const std::jthread recording([&] {
    for (std::int64_t n = 0; !stop; ++n) {
      series.record(1, n);
      rec->histogram("h", view(values), n);
      calls.store(n);
    }
  });
  wait_until([&] { return calls.load() > 1000; });
  EXPECT_TRUE(rec->close().ok());
  const std::int64_t at_close = calls.load();
  wait_until([&] { return calls.load() > at_close + 1000; });
  stop = true;
  const Log log = read_log(dir.path());
  EXPECT_GE(log.scalars.at("x").size(), 1000U);
  EXPECT_TRUE(log.damage.empty());
  EXPECT_EQ(log.partial_tails, 0U);
}

TEST(Threads, ARecorderMayEndWhileItsTensorsAreOnTheirWay) {
  for (int i = 0; i < 30; ++i) {
    base::TempDir dir;
    auto rec = Recorder::open(dir.path());
    ASSERT_TRUE(rec.ok());
    const auto values = std::make_shared<std::vector<float>>(100, 1.0F);
    std::atomic<std::int64_t> calls{0};
    std::atomic<bool> stop{false};
    std::jthread recording([&, probe = rec->probe("x"), step = rec->step(0)]() mutable {
      while (!stop) {
        probe.record(step, frozen(view(*values), values));
        probe.record(step, view(*values));
        calls.fetch_add(1);
      }
    });
    wait_until([&] { return calls.load() > 10; });
    EXPECT_TRUE(rec->close().ok());
    stop = true;
    recording.join();  // its handles are the last ones
    rec = Status(Code::closed, "");
    wait_until([&] {
      Recorder::release_owners();
      return values.use_count() == 1;  // all of them were given back
    });
  }
}

TEST(Time, IsWithinAMillisecondOfTheSystemClockAndNeverDecreases) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path());
  ASSERT_TRUE(rec.ok());
  std::vector<std::pair<double, double>> around;  // just before and just after each call
  for (std::int64_t n = 0; n < 3000; ++n) {
    const double before = base::wall_seconds();
    rec->scalar("x", 1, n);
    around.emplace_back(before, base::wall_seconds());
    if (n % 10 == 0) std::this_thread::sleep_for(1ms);  // spread over some of the backend's bearings
  }
  ASSERT_TRUE(rec->close().ok());
  const auto points = read_log(dir.path()).scalars.at("x");
  ASSERT_EQ(points.size(), around.size());
  double last = 0;
  for (std::size_t n = 0; n < points.size(); ++n) {
    EXPECT_GE(points[n].wall_time, around[n].first - 1e-3);
    EXPECT_LE(points[n].wall_time, around[n].second + 1e-3);
    EXPECT_GE(points[n].wall_time, last);
    last = points[n].wall_time;
  }
}

TEST(Flush, HappensByItself) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path(), {.flush_interval = 5ms});
  ASSERT_TRUE(rec.ok());
  const auto size = [&] { return std::filesystem::file_size(files_with(dir.path(), "tfevents").at(0)); };
  const auto before = size();
  rec->scalar("x", 1, 0);
  wait_until([&] { return size() > before; });
  EXPECT_EQ(read_log(dir.path()).scalars.at("x").size(), 1U);
}

TEST(Flush, ReturnsWhenEverythingBeforeItIsInTheFile) {
  base::TempDir dir;
  auto rec = Recorder::open(dir.path(), {.flush_interval = 1h});
  ASSERT_TRUE(rec.ok());
  for (std::int64_t n = 1; n <= 20; ++n) {
    std::jthread([&] { rec->scalar("x", 1, n); }).join();
    ASSERT_TRUE(rec->flush().ok());
    ASSERT_EQ(read_log(dir.path()).scalars.at("x").size(), static_cast<std::size_t>(n));
  }
}

}  // namespace
}  // namespace sonde::record
