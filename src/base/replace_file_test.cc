#include "base/replace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace sonde::base {
namespace {

using ::testing::HasSubstr;

class ReplaceFileTest : public ::testing::Test {
 public:
  ReplaceFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "sonde-replace-XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~ReplaceFileTest() override { std::filesystem::remove_all(dir_); }

 protected:
  std::string path(std::string_view name) const { return join_path(dir_, name); }
  std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(dir_), {}); }
  std::string dir_;
};

TEST_F(ReplaceFileTest, TakesItsPlaceWhenItIsComplete) {
  ASSERT_TRUE(write_file(path("data"), "old").ok());
  auto file = ReplaceFile::create(path("data"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->append("new ").ok());
  ASSERT_TRUE(file->append("content").ok());
  EXPECT_EQ(*read_file(path("data")), "old");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(*read_file(path("data")), "new content");
  EXPECT_EQ(file->append("more").code(), Code::closed);
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplaceFileTest, LeavesTheOldFileAndNoPartWithoutACommit) {
  ASSERT_TRUE(write_file(path("data"), "old").ok());
  {
    auto file = ReplaceFile::create(path("data"));
    ASSERT_TRUE(file.ok());
    const ReplaceFile moved = *std::move(file);
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(*read_file(path("data")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplaceFileTest, TwoWritersOfOneFileDoNotMix) {
  auto first = ReplaceFile::create(path("data"));
  auto second = ReplaceFile::create(path("data"));
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->append("first").ok() && second->append("second").ok());
  ASSERT_TRUE(second->commit().ok() && first->commit().ok());
  EXPECT_EQ(*read_file(path("data")), "first");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplaceFileTest, IsInPlaceAfterASyncedCommitToo) {
  ASSERT_TRUE(write_file(path("data"), "old").ok());
  auto file = ReplaceFile::create(path("data"));
  ASSERT_TRUE(file.ok() && file->append("new").ok());
  EXPECT_TRUE(file->commit_synced().ok());
  EXPECT_EQ(*read_file(path("data")), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(ReplaceFileTest, OnlyADirectoryCanBeSyncedAsOne) {
  EXPECT_TRUE(sync_directory(dir_).ok());
  ASSERT_TRUE(write_file(path("data"), "x").ok());
  EXPECT_THAT(sync_directory(path("data")).message(), HasSubstr("cannot sync the directory '" + path("data")));
  EXPECT_EQ(sync_directory(path("nowhere")).code(), Code::not_found);
}

TEST_F(ReplaceFileTest, RejectsAPathThatIsNotARegularFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReplaceFile::create(path("pipe")).status().code(), Code::invalid_argument);
  EXPECT_THAT(ReplaceFile::create(dir_).status().message(), HasSubstr("'" + dir_ + "': Is a directory"));
  EXPECT_EQ(ReplaceFile::create(path("no/where")).status().code(), Code::not_found);
  EXPECT_EQ(files(), 1);
}

// A file size limit simulates a full disk.
TEST_F(ReplaceFileTest, KeepsTheOldFileIfTheDiskIsFull) {
  ASSERT_TRUE(write_file(path("data"), "old").ok());
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::optional<Result<ReplaceFile>> file(ReplaceFile::create(path("data")));
    const bool right =
        file->ok() && (*file)->append("123456").ok() && (*file)->append("789012").code() == Code::no_space;
    file.reset();
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*read_file(path("data")), "old");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace sonde::base
