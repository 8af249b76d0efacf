#include "base/thread.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace sonde::base {
namespace {

TEST(Thread, InTheBackgroundIsABatchThreadAndLeavesOthersAlone) {
  if (sched_getscheduler(0) != SCHED_OTHER) GTEST_SKIP() << "this process has another scheduling policy";
  int policy = -1;
  auto thread = Thread::start("test", [&] {
    Thread::work_in_background();
    policy = sched_getscheduler(0);
  });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_EQ(policy, SCHED_BATCH);
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
}

}  // namespace
}  // namespace sonde::base
