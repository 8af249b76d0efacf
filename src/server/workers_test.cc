#include "server/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>

namespace sonde::server {
namespace {

// One thread that stays busy until released, so that all others wait.
class BusyWorkers : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(workers_.start(1, 2).ok());
    std::latch begun(1);
    ASSERT_TRUE(workers_.post({[&] {
      begun.count_down();
      release_.wait();
    }}));
    begun.wait();
  }

  Job job(char name, const std::atomic<bool>* left = nullptr) {
    Job made{[this, name] { done_ += name; }};
    if (left != nullptr) made.unwanted = [left] { return left->load(); };
    return made;
  }
  // The finished jobs, in order.
  std::string finish() {
    std::latch last(1);
    release_.count_down();
    while (!workers_.post({[&] { last.count_down(); }})) {
    }
    last.wait();
    return done_;
  }

  std::latch release_{1};
  std::string done_;
  Workers workers_;
};

TEST_F(BusyWorkers, RunJobsInOrder) {
  EXPECT_TRUE(workers_.post(job('a')));
  EXPECT_TRUE(workers_.post(job('b')));
  EXPECT_EQ(finish(), "ab");
}

TEST_F(BusyWorkers, TakeNoMoreThanMayWait) {
  EXPECT_TRUE(workers_.post(job('a')));
  EXPECT_TRUE(workers_.post(job('b')));
  EXPECT_FALSE(workers_.post(job('c')));
  EXPECT_EQ(finish(), "ab");
}

TEST_F(BusyWorkers, DropUnwantedJobsFirst) {
  std::atomic<bool> left = false;
  EXPECT_TRUE(workers_.post(job('a', &left)));
  EXPECT_TRUE(workers_.post(job('b')));
  EXPECT_FALSE(workers_.post(job('c')));
  left = true;
  EXPECT_TRUE(workers_.post(job('c')));
  EXPECT_EQ(finish(), "bc");
}

TEST_F(BusyWorkers, StartNoJobOnceClosed) {
  EXPECT_TRUE(workers_.post(job('a')));
  workers_.close();
  EXPECT_FALSE(workers_.post(job('b')));
  release_.count_down();
  workers_.stop();
  EXPECT_EQ(done_, "");
}

}  // namespace
}  // namespace sonde::server
