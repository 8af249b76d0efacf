#include "base/shared_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/system_limits.h"
#include "base/temp_dir_testing.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(SharedMapping, IsAllocatedInFullZeroAndForThisUserOnly) {
  TempDir dir;
  auto mapping = SharedMapping::create(dir / "m-", ".x", 100'000);
  ASSERT_TRUE(mapping.ok()) << mapping.error().message();
  EXPECT_EQ(mapping->path(), dir / "m-0.x");
  ASSERT_EQ(mapping->bytes().size(), 100'000u);
  EXPECT_TRUE(std::ranges::all_of(mapping->bytes(), [](std::byte byte) { return byte == std::byte{0}; }));
  struct stat info{};
  ASSERT_EQ(::stat(mapping->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 100'000);
  EXPECT_GE(info.st_blocks * 512, 100'000);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST(SharedMapping, TakesTheSmallestFreeNumber) {
  TempDir dir;
  auto first = SharedMapping::create(dir / "m-", ".x", 64);
  auto second = SharedMapping::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(second->path(), dir / "m-1.x");
  ASSERT_TRUE(first->remove().ok());
  auto third = SharedMapping::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->path(), dir / "m-0.x");
}

TEST(SharedMapping, PassesOverWhatKilledProcessesLeftAside) {
  TempDir dir;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(write_file(dir / ("m-" + std::to_string(i) + ".x.new"), "").ok());
  auto mapping = SharedMapping::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(mapping.ok()) << mapping.error().message();
  EXPECT_EQ(mapping->path(), dir / "m-0.x");
}

TEST(SharedMapping, IsLockedUntilItIsReleased) {
  TempDir dir;
  auto mapping = SharedMapping::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(mapping.ok());
  EXPECT_TRUE(*is_locked(mapping->path()));
  mapping->release();
  EXPECT_FALSE(*is_locked(mapping->path()));
  EXPECT_TRUE(mapping->bytes().empty());
  EXPECT_TRUE(std::filesystem::exists(mapping->path()));
}

TEST(SharedMapping, StoresOutliveAKilledProcessAndTheLockDoesNot) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    auto mapping = SharedMapping::create(dir / "m-", ".x", 64);
    if (!mapping) ::_exit(1);
    mapping->bytes()[5] = std::byte{42};
    ::kill(::getpid(), SIGKILL);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  ASSERT_TRUE(WIFSIGNALED(ended));
  EXPECT_EQ((*read_file(dir / "m-0.x"))[5], 42);
  EXPECT_FALSE(*is_locked(dir / "m-0.x"));
}

TEST(SharedMapping, ReleaseInAForkedChildTakesNothingFromTheParent) {
  TempDir dir;
  auto mapping = SharedMapping::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(mapping.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    mapping->release();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(*is_locked(mapping->path()));
  mapping->bytes()[0] = std::byte{1};
}

TEST(SharedMapping, RemoveTakesTheFileAway) {
  TempDir dir;
  auto mapping = SharedMapping::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(mapping.ok());
  ASSERT_TRUE(mapping->remove().ok());
  EXPECT_FALSE(std::filesystem::exists(dir / "m-0.x"));
}

TEST(SharedMapping, LargerThanTheDiskSaysHowMuchIsFreeAndLeavesNothing) {
  TempDir dir;
  const auto mapping = SharedMapping::create(dir / "m-", ".x", std::uint64_t{1} << 60);
  ASSERT_FALSE(mapping.ok());
  EXPECT_EQ(mapping.error().code(), Code::no_space);
  EXPECT_THAT(mapping.error().message(), HasSubstr("1152921504606846976 bytes are wanted"));
  EXPECT_THAT(mapping.error().message(), HasSubstr("are free"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

// The signal that goes with it would end the process, which is the training.
TEST(SharedMapping, LargerThanFilesMayBeIsAnErrorNotTheEndOfTheProcess) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto mapping = SharedMapping::create(dir / "m-", ".x", 8192);
    const bool right = !mapping && mapping.error().code() == Code::no_space &&
                       mapping.error().message() == "cannot allocate '" + (dir / "m-0.x") +
                                                        "': 8192 bytes are wanted and no file may have more than 4096 "
                                                        "(ulimit -f)" &&
                       SharedMapping::create(dir / "n-", ".x", 4096).ok();
    ::_exit(right ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_FALSE(std::filesystem::exists(dir / "m-0.x"));
}

TEST(SharedMapping, InADirectoryThatIsNotThereIsNotFound) {
  TempDir dir;
  const auto mapping = SharedMapping::create(dir / "none/m-", ".x", 64);
  ASSERT_FALSE(mapping.ok());
  EXPECT_EQ(mapping.error().code(), Code::not_found);
  EXPECT_THAT(mapping.error().message(), HasSubstr("none/m-0.x"));
}

TEST(FileLock, IsRefusedWhileAnotherHoldsItAndGivenAfterwards) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "file", "x").ok());
  {
    const auto first = FileLock::acquire(dir / "file");
    ASSERT_TRUE(first.ok());
    const auto second = FileLock::acquire(dir / "file");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code(), Code::exhausted);
    EXPECT_THAT(second.error().message(), HasSubstr("in use by a process that still runs"));
  }
  EXPECT_TRUE(FileLock::acquire(dir / "file").ok());
  EXPECT_EQ(is_locked(dir / "none").error().code(), Code::not_found);
}

TEST(SystemLimits, TheBackgroundDirtyLimitIsPlausible) {
  const auto limit = background_dirty_limit();
  if (!std::filesystem::exists("/proc/sys/vm/dirty_background_ratio")) {
    EXPECT_FALSE(limit);
  } else {
    ASSERT_TRUE(limit);
    EXPECT_GT(*limit, 4096u);
  }
}

}  // namespace
}  // namespace sonde
