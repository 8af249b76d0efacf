// Where the owners of frozen tensors are released: on threads of the program that call the recorder, and nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "record/child_testing.h"
#include "record/pool.h"
#include "record/recorder_testing.h"

namespace sonde::record {
namespace {

using namespace std::chrono_literals;

// How many owners ended on which thread.
class Deaths {
 public:
  std::shared_ptr<const void> owner(const void* data) {
    return {data, [this](const void*) {
              const std::scoped_lock lock(mutex_);
              ++on_[std::this_thread::get_id()];
            }};
  }
  int on_this_thread() {
    const std::scoped_lock lock(mutex_);
    return on_[std::this_thread::get_id()];
  }
  int all() {
    const std::scoped_lock lock(mutex_);
    int sum = 0;
    for (const auto& [thread, count] : on_) sum += count;
    return sum;
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, int> on_;
};

TEST(Owners, AreHandedToTheProgramInBatchesOnTheThreadThatFlushes) {
  base::TempDir dir;
  Deaths deaths;
  std::vector<std::size_t> batches;
  Recorder rec = open(dir.path(), {.release_owners = [&](std::vector<std::shared_ptr<const void>>&& owners) {
                        batches.push_back(owners.size());
                        owners.clear();
                      }});
  const std::vector<float> values = ramp(100);
  {
    auto group = rec.group(0);  // nothing of it can return before it ends
    for (int i = 0; i < 20; ++i) group.histogram("h/" + std::to_string(i), frozen(view(values), deaths.owner(&values)));
  }
  EXPECT_TRUE(rec.flush().ok());
  EXPECT_EQ(deaths.all(), 20);
  EXPECT_EQ(deaths.on_this_thread(), 20);
  EXPECT_THAT(batches, testing::ElementsAre(20U)) << "one call for all of them";
}

TEST(Owners, OfADestroyedRecorderAreReleasedWhereTheProgramAsksForThem) {
  for (int round = 0; round < 10; ++round) {
    base::TempDir dir;
    Deaths deaths;
    std::atomic<int> recorded{0};
    std::thread::id recording_thread;
    {
      Recorder rec = open(dir.path());
      const std::vector<float> values = ramp(100);
      const auto keep = std::make_shared<std::vector<float>>(values);
      std::atomic<bool> stop{false};
      std::thread recording([&, probe = rec.probe("x"), step = rec.step(0)]() mutable {
        while (!stop) {
          probe.record(step, frozen(view(*keep), deaths.owner(keep.get())));
          recorded.fetch_add(1);
        }
      });
      ASSERT_TRUE(comes_true([&] { return recorded.load() > 10; }));
      (void)rec.close();
      stop = true;
      recording.join();
      recording_thread = recording.get_id();
    }
    const int before = deaths.all();
    EXPECT_TRUE(comes_true([&] {
      Recorder::release_owners();
      return deaths.all() == recorded.load();
    })) << deaths.all()
        << " of " << recorded.load();
    EXPECT_GE(deaths.on_this_thread(), recorded.load() - before) << "what was left ended here";
  }
}

TEST(Owners, AreNotEndedByTheLibraryWhenTheProcessExits) {
  base::TempDir dir;
  EXPECT_EQ(run_child([&] {
              static const auto& values = *new auto(ramp(100));  // there until the very end
              static const std::thread::id main = std::this_thread::get_id();
              static auto* rec = new Recorder(open(dir.path()));  // never closed
              for (std::int64_t n = 0; n < 100; ++n) {
                rec->histogram("h",
                               frozen(view(values), {&values,
                                                     [](const void*) {
                                                       if (std::this_thread::get_id() != main) ::_exit(3);
                                                     }}),
                               n);
              }
              return 0;
            }),
            0);
  EXPECT_EQ(read_log(dir.path()).histograms.at("h").size(), 100U);
}

TEST(Owners, OfTheParentAreNotReleasedInAForkedChild) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  Deaths deaths;
  const auto values = ramp(100);
  for (std::int64_t n = 0; n < 50; ++n) rec.histogram("h", frozen(view(values), deaths.owner(&values)), n);
  const int at_fork = deaths.all();
  EXPECT_EQ(run_child([&] {
              const int before = deaths.all();
              rec.histogram("h", view(values), 50);
              if (!rec.close().ok()) return 1;
              Recorder::release_owners();
              return deaths.all() == before ? 0 : 2;
            }),
            0);
  EXPECT_GE(deaths.all(), at_fork);
  EXPECT_TRUE(rec.close().ok());
  EXPECT_EQ(deaths.all(), 50);
  EXPECT_EQ(deaths.on_this_thread(), 50);
}

TEST(Pool, SharedTensorsCountAgainstTheBudget) {
  Pool pool(1 << 20, Overflow::drop_newest, 0ms);
  PayloadPtr first = pool.acquire(600'000, true);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(pool.lent(), 600'000U);
  EXPECT_EQ(pool.allocated(), 0U);
  EXPECT_EQ(pool.acquire(600'000, true), nullptr);
  EXPECT_EQ(pool.acquire(600'000), nullptr) << "nor is there room for a copy";
  PayloadPtr second = pool.acquire(300'000);
  ASSERT_NE(second, nullptr);
  first.reset();
  PayloadPtr larger = pool.acquire(2 << 20, true);
  ASSERT_NE(larger, nullptr) << "one that is larger than all is taken where no other is on its way";
  EXPECT_EQ(pool.acquire(1, true), nullptr);
  larger.reset();
  second.reset();
  pool.reclaim();
  EXPECT_EQ(pool.lent(), 0U);
}

TEST(Pool, DropOldestGivesUpSharedTensorsToo) {
  Pool pool(1 << 20, Overflow::drop_oldest, 0ms);
  PayloadPtr oldest = pool.acquire(600'000, true);
  pool.enqueue(*oldest);
  PayloadPtr next = pool.acquire(600'000, true);
  ASSERT_NE(next, nullptr);
  EXPECT_FALSE(pool.take(*oldest));
  EXPECT_EQ(pool.lent(), 600'000U);
  oldest.reset();
  next.reset();
}

}  // namespace
}  // namespace sonde::record
