#include "base/task_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sonde::base {
namespace {

TEST(TaskPool, CallsTheBodyOnceForEachNumber) {
  for (const int threads : {1, 2, 5}) {
    TaskPool pool("test", threads);
    for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
      std::vector<std::atomic<int>> calls(count);
      pool.run(count, [&](std::size_t i) { ++calls[i]; });
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(calls[i], 1) << threads << " threads, number " << i;
    }
  }
}

TEST(TaskPool, UsesAsManyThreadsAsItHas) {
  TaskPool pool("test", 3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> arrived{0};
  // Each waits for the others, so that no thread can do the work of another.
  pool.run(3, [&](std::size_t) {
    {
      const std::scoped_lock lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen.count(std::this_thread::get_id()), 1U);
}

TEST(TaskPool, WithOneThreadDoesAllOnTheCallersThread) {
  TaskPool pool("test", 1);
  pool.run(50, [caller = std::this_thread::get_id()](std::size_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(TaskPool, RethrowsTheBodysExceptionAndStaysUsable) {
  TaskPool pool("test", 2);
  EXPECT_THROW(pool.run(20,
                        [](std::size_t i) {
                          if (i == 7) throw std::runtime_error("seven");
                        }),
               std::runtime_error);
  std::atomic<int> calls{0};
  pool.run(20, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 20);
}

TEST(TaskPool, StartsItsThreadsInAForkedChildThatIsTheFirstToUseIt) {
  TaskPool pool("test", 2);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> calls{0};
    pool.run(100, [&](std::size_t) { ++calls; });
    _exit(calls == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(TaskPool, HasAtLeastOneThreadByDefault) { EXPECT_GE(TaskPool::default_threads(), 1); }

}  // namespace
}  // namespace sonde::base
