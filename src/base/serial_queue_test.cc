#include "base/serial_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sonde::base {
namespace {

TEST(SerialQueue, RunsJobsInOrderOnItsOwnThread) {
  std::vector<int> done;
  std::thread::id where;
  SerialQueue queue("test");
  for (int i = 0; i < 100; ++i) {
    queue.push([&, i] {
      done.push_back(i);
      where = std::this_thread::get_id();
    });
  }
  queue.wait();
  ASSERT_EQ(done.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(SerialQueue, FinishesAllJobsBeforeItEnds) {
  std::atomic<int> done{0};
  {
    SerialQueue queue("test");
    for (int i = 0; i < 50; ++i) queue.push([&] { ++done; });
  }
  EXPECT_EQ(done, 50);
}

TEST(SerialQueue, WaitReturnsAtOnceIfNothingWasPushed) {
  SerialQueue queue("test");
  queue.wait();
}

}  // namespace
}  // namespace sonde::base
