#include "base/fixed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/system_limits.h"
#include "base/temp_dir_testing.h"

namespace sonde::base {
namespace {

using ::testing::HasSubstr;

TEST(FixedFile, IsAllocatedInFullZeroAndForThisUserOnly) {
  TempDir dir;
  auto file = FixedFile::create(dir / "m-", ".x", 100'000);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->path(), dir / "m-0.x");
  ASSERT_EQ(file->size(), 100'000u);
  std::vector<std::byte> bytes(100'000, std::byte{1});
  ASSERT_TRUE(file->read_at(0, bytes));
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; }));
  struct stat info{};
  ASSERT_EQ(::stat(file->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 100'000);
  EXPECT_GE(info.st_blocks * 512, 100'000);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST(FixedFile, NeverGrowsAndDetectsTruncation) {
  TempDir dir;
  auto file = FixedFile::create(dir / "m-", ".x", 8192);
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->write_at(8190, as_bytes("abc")));
  EXPECT_TRUE(file->write_at(8189, as_bytes("abc")));
  EXPECT_TRUE(file->is_whole());
  std::filesystem::resize_file(file->path(), 100);
  EXPECT_FALSE(file->is_whole());
  std::vector<std::byte> bytes(64);
  EXPECT_FALSE(file->read_at(4096, bytes));
  EXPECT_TRUE(file->write_at(64, as_bytes("abc"))) << "and nothing worse happens";
}

TEST(FixedFile, TakesTheSmallestFreeNumber) {
  TempDir dir;
  auto first = FixedFile::create(dir / "m-", ".x", 64);
  auto second = FixedFile::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(second->path(), dir / "m-1.x");
  ASSERT_TRUE(first->remove().ok());
  auto third = FixedFile::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(third->path(), dir / "m-0.x");
}

TEST(FixedFile, SkipsLeftoversOfKilledProcesses) {
  TempDir dir;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(write_file(dir / ("m-" + std::to_string(i) + ".x.new"), "").ok());
  auto file = FixedFile::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->path(), dir / "m-0.x");
}

TEST(FixedFile, IsLockedUntilItIsReleased) {
  TempDir dir;
  auto file = FixedFile::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(*is_locked(file->path()));
  file->release();
  EXPECT_FALSE(*is_locked(file->path()));
  EXPECT_EQ(file->size(), 0U);
  EXPECT_TRUE(std::filesystem::exists(file->path()));
}

TEST(FixedFile, WritesOutliveAKilledProcessAndTheLockDoesNot) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = FixedFile::create(dir / "m-", ".x", 64);
    if (!file) ::_exit(1);
    if (!file->write_at(5, as_bytes("*"))) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  ASSERT_TRUE(WIFSIGNALED(ended));
  EXPECT_EQ((*read_file(dir / "m-0.x"))[5], '*');
  EXPECT_FALSE(*is_locked(dir / "m-0.x"));
}

TEST(FixedFile, ReleaseInAForkedChildTakesNothingFromTheParent) {
  TempDir dir;
  auto file = FixedFile::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(file.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    file->release();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(*is_locked(file->path()));
  EXPECT_TRUE(file->write_at(0, as_bytes("1")));
}

TEST(FixedFile, RemoveTakesTheFileAway) {
  TempDir dir;
  auto file = FixedFile::create(dir / "m-", ".x", 64);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->remove().ok());
  EXPECT_FALSE(std::filesystem::exists(dir / "m-0.x"));
}

TEST(FixedFile, LargerThanTheDiskSaysHowMuchIsFreeAndLeavesNothing) {
  TempDir dir;
  const auto file = FixedFile::create(dir / "m-", ".x", std::uint64_t{1} << 60);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code(), Code::no_space);
  EXPECT_THAT(file.error().message(), HasSubstr("1152921504606846976 bytes are needed"));
  EXPECT_THAT(file.error().message(), HasSubstr("are free"));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

// The signal that goes with it would end the process, which is the training.
TEST(FixedFile, LargerThanFilesMayBeIsAnErrorNotTheEndOfTheProcess) {
  TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit = {4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto file = FixedFile::create(dir / "m-", ".x", 8192);
    const bool right = !file && file.error().code() == Code::no_space &&
                       file.error().message() == "cannot allocate '" + (dir / "m-0.x") +
                                                     "': 8192 bytes are needed and no file may have more than 4096 "
                                                     "(ulimit -f)" &&
                       FixedFile::create(dir / "n-", ".x", 4096).ok();
    ::_exit(right ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_FALSE(std::filesystem::exists(dir / "m-0.x"));
}

TEST(FixedFile, InAMissingDirectoryIsNotFound) {
  TempDir dir;
  const auto file = FixedFile::create(dir / "none/m-", ".x", 64);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code(), Code::not_found);
  EXPECT_THAT(file.error().message(), HasSubstr("none/m-0.x"));
}

TEST(FileLock, IsRejectedWhileAnotherHoldsItAndGivenAfterwards) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "file", "x").ok());
  {
    const auto first = FileLock::acquire(dir / "file");
    ASSERT_TRUE(first.ok());
    const auto second = FileLock::acquire(dir / "file");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code(), Code::exhausted);
    EXPECT_THAT(second.error().message(), HasSubstr("in use by a running process"));
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
}  // namespace sonde::base
