#include "sinks/capture_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/temp_dir_testing.h"
#include "sinks/flight_ring_testing.h"
#include "sonde/capture.h"

namespace sonde::sinks {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Cause = CaptureInfo::Cause;

CaptureInfo info(std::string reason, std::int64_t step, Cause cause = Cause::trigger) {
  CaptureInfo made;
  made.cause = cause;
  made.reason = std::move(reason);
  made.step = step;
  return made;
}

FlightPin pinned(FlightRing& ring) { return ring.pin(0, ring.ended() - 1); }

class CaptureQueueTest : public ::testing::Test {
 protected:
  CaptureQueueTest() {
    for (int step = 1; step <= 3; ++step) add_step(*ring_, step);
  }

  TempDir dir_;
  Tally tally_;
  std::unique_ptr<FlightRing> ring_ = make_ring(dir_, 1 << 16);
};

TEST_F(CaptureQueueTest, SavesPinnedStepsAndReturnsTheirPathsInOrder) {
  CaptureQueue queue(dir_.path(), &tally_);
  ASSERT_TRUE(queue.push(info("nan", 3), pinned(*ring_)).ok());
  ASSERT_TRUE(queue.push(info("mine", 4, Cause::manual), {}).ok());
  queue.wait();
  const auto outcomes = queue.take_outcomes();
  ASSERT_THAT(outcomes, SizeIs(2));
  EXPECT_EQ(outcomes[0].cause, Cause::trigger);
  EXPECT_EQ(outcomes[0].reason, "nan");
  EXPECT_EQ(outcomes[0].step, 3);
  ASSERT_TRUE(outcomes[0].path.ok());
  EXPECT_EQ(*outcomes[0].path, dir_ / "captures/1-nan");
  EXPECT_THAT(Capture::open(*outcomes[0].path)->steps(), SizeIs(3));
  EXPECT_EQ(outcomes[1].cause, Cause::manual);
  EXPECT_EQ(*outcomes[1].path, dir_ / "captures/2-mine");
  EXPECT_THAT(queue.take_outcomes(), IsEmpty()) << "each is told once";
  EXPECT_EQ(tally_.write_errors, 0U);
}

TEST_F(CaptureQueueTest, WritesWhatIsLeftBeforeItEnds) {
  {
    CaptureQueue queue(dir_.path());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(queue.push(info("nan", i), pinned(*ring_)).ok());
  }
  EXPECT_THAT(*list_captures(dir_.path()), SizeIs(5));
}

TEST_F(CaptureQueueTest, ReportsAndCountsEveryFailureAndContinues) {
  ASSERT_TRUE(write_file(dir_ / "captures", "in the way").ok());
  CaptureQueue queue(dir_.path(), &tally_);
  ASSERT_TRUE(queue.push(info("nan", 1), pinned(*ring_)).ok());
  ASSERT_TRUE(queue.push(info("spike", 2), pinned(*ring_)).ok());
  ASSERT_TRUE(queue.push(info("nan", 3, Cause::manual), pinned(*ring_)).ok());
  queue.wait();
  const auto outcomes = queue.take_outcomes();
  ASSERT_THAT(outcomes, SizeIs(3));
  for (const CaptureQueue::Outcome& outcome : outcomes) {
    ASSERT_FALSE(outcome.path.ok());
    EXPECT_THAT(outcome.path.error().message(), HasSubstr(dir_ / "captures"));
  }
  EXPECT_EQ(outcomes[0].reason, "nan");
  EXPECT_EQ(outcomes[1].reason, "spike");
  EXPECT_EQ(outcomes[1].step, 2);
  EXPECT_EQ(outcomes[2].cause, Cause::manual) << "not the trigger of that name";
  EXPECT_EQ(tally_.write_errors, 3U);
  EXPECT_EQ(tally_.lost_records, 3U);

  std::filesystem::remove(dir_ / "captures");
  ASSERT_TRUE(queue.push(info("nan", 4), pinned(*ring_)).ok());
  queue.wait();
  EXPECT_TRUE(queue.take_outcomes()[0].path.ok());
  EXPECT_EQ(tally_.write_errors, 3U);
}

// A file size limit simulates a full disk.
TEST_F(CaptureQueueTest, LeavesNothingOfACaptureThatCouldNotBeWritten) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tiny = {100, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &tiny);
    CaptureQueue queue(dir_.path(), &tally_);
    if (!queue.push(info("nan", 1), pinned(*ring_)).ok()) ::_exit(1);
    queue.wait();
    const auto outcomes = queue.take_outcomes();
    ::_exit(outcomes[0].path.status().code() == Code::no_space && tally_.write_errors == 1 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(names_in(dir_ / "captures"), IsEmpty());
}

}  // namespace
}  // namespace sonde::sinks
