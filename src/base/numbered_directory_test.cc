#include "base/numbered_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "base/directory.h"
#include "base/temp_dir_testing.h"

namespace sonde::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NumberedDirectory, IsSeenOnlyAsAWhole) {
  const TempDir dir;
  const std::string parent = dir / "captures";
  auto made = NumberedDirectory::create(parent);
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_TRUE(write_file(join_path(made->path(), "file"), "text").ok());
  EXPECT_THAT(names_in(parent), ElementsAre(".part-1"));
  ASSERT_TRUE(made->commit("nan").ok());
  EXPECT_THAT(names_in(parent), ElementsAre("1-nan"));
  EXPECT_EQ(*read_file(join_path(made->final_path("nan"), "file")), "text");
}

TEST(NumberedDirectory, VanishesWithoutACommit) {
  const TempDir dir;
  {
    auto made = NumberedDirectory::create(dir.path());
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(write_file(join_path(made->path(), "file"), "text").ok());
  }
  EXPECT_THAT(names_in(dir.path()), IsEmpty());
}

TEST(NumberedDirectory, ContinuesAfterTheLargestNumber) {
  const TempDir dir;
  for (const char* name : {"2-a", "10-b", "9-c", "text", "77x"}) EXPECT_TRUE(make_directories(dir / name).ok());
  auto first = NumberedDirectory::create(dir.path());
  auto second = NumberedDirectory::create(dir.path());
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->number(), 11U);
  EXPECT_EQ(second->number(), 12U);
}

TEST(NumberedDirectory, NeverGivesANumberTwice) {
  const TempDir dir;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 25; ++n) {
        auto made = NumberedDirectory::create(dir.path());
        ASSERT_TRUE(made.ok()) << made.error().message();
        ASSERT_TRUE(made->commit("x").ok());
      }
    });
  }
  threads.clear();
  std::set<std::uint64_t> numbers;
  for (const std::string& name : names_in(dir.path())) numbers.insert(leading_number(name));
  EXPECT_EQ(numbers.size(), 100U);
  EXPECT_FALSE(numbers.contains(0)) << "something was left behind";  // numbers may be passed over
}

TEST(NumberedDirectory, RemovesOnlyLeftoversOfKilledProcesses) {
  const TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto made = NumberedDirectory::create(dir.path());
    (void)write_file(join_path(made->path(), "file"), "half");
    ::kill(::getpid(), SIGKILL);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  ASSERT_TRUE(WIFSIGNALED(state));
  ASSERT_THAT(names_in(dir.path()), ElementsAre(".part-1"));
  auto ours = NumberedDirectory::create(dir.path());
  ASSERT_TRUE(ours.ok());
  EXPECT_THAT(names_in(dir.path()), ElementsAre(".part-2"));
  auto other = NumberedDirectory::create(dir.path());
  EXPECT_THAT(names_in(dir.path()), ElementsAre(".part-2", ".part-3"));
}

TEST(NumberedDirectory, NamesADirectoryThatCannotBeCreated) {
  const TempDir dir;
  ASSERT_TRUE(write_file(dir / "file", "").ok());
  const auto made = NumberedDirectory::create(dir / "file/captures");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message(), ::testing::HasSubstr("file"));
}

}  // namespace
}  // namespace sonde::base
