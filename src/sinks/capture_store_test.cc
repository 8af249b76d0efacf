#include "sinks/capture_store.h"

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

class CaptureStoreTest : public ::testing::Test {
 protected:
  CaptureStoreTest() {
    for (int step = 1; step <= 3; ++step) add_step(*ring_, step);
  }
  Status save(const CaptureInfo& saved) {
    FlightPin pin = pinned(*ring_);
    const std::function<const flight::Step*()> next = [&] { return pin.next(); };
    const Value value = CaptureValue{&saved, &next};
    return store_.write({0, saved.step}, {&value, 1});
  }

  base::TempDir dir_;
  Tally tally_;
  std::unique_ptr<FlightRing> ring_ = make_ring(dir_, 1 << 16);
  CaptureStore store_{dir_.path(), tally_};
};

TEST_F(CaptureStoreTest, SavesEachCaptureInADirectoryOfItsOwnAndSaysWhere) {
  ASSERT_TRUE(save(info("nan", 3)).ok());
  EXPECT_EQ(store_.path(), dir_ / "captures/1-nan");
  EXPECT_THAT(Capture::open(store_.path())->steps(), SizeIs(3));
  ASSERT_TRUE(save(info("mine", 4, Cause::manual)).ok());
  EXPECT_EQ(store_.path(), dir_ / "captures/2-mine");
  EXPECT_EQ(Capture::open(store_.path())->info().cause, Cause::manual);
  EXPECT_EQ(tally_.write_errors, 0U);
}

TEST_F(CaptureStoreTest, PassesOtherValuesOver) {
  const Value value = ScalarValue{{0, "loss"}, 1};
  EXPECT_TRUE(store_.write({0, 0}, {&value, 1}).ok());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "captures"));
}

TEST_F(CaptureStoreTest, CountsEveryFailureAndGoesOn) {
  ASSERT_TRUE(base::write_file(dir_ / "captures", "in the way").ok());
  for (const int step : {1, 2, 3}) EXPECT_THAT(save(info("nan", step)).message(), HasSubstr(dir_ / "captures"));
  EXPECT_EQ(tally_.write_errors, 3U);
  EXPECT_EQ(tally_.lost_records, 3U);

  std::filesystem::remove(dir_ / "captures");
  EXPECT_TRUE(save(info("nan", 4)).ok());
  EXPECT_EQ(tally_.write_errors, 3U);
}

// A limit on the size of files stands for a full disk.
TEST_F(CaptureStoreTest, LeavesNothingOfACaptureThatTheDiskRefused) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tiny = {100, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &tiny);
    const bool refused = save(info("nan", 1)).code() == Code::no_space;
    ::_exit(refused && tally_.write_errors == 1 ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(base::names_in(dir_ / "captures"), IsEmpty());
}

}  // namespace
}  // namespace sonde::sinks
