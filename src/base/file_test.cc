#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace sonde {
namespace {

using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 public:
  FileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "sonde-file-XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~FileTest() override { std::filesystem::remove_all(dir_); }

 protected:
  std::string path(std::string_view name) const { return join_path(dir_, name); }
  std::string dir_;
};

TEST_F(FileTest, AppendFileGrowsAndIsRead) {
  auto file = AppendFile::create(path("log"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->append("one ").ok());
  ASSERT_TRUE(file->append("two").ok());
  EXPECT_EQ(file->size(), 7U);
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(file->close().ok());
  EXPECT_EQ(file->append("three").code(), Code::closed);
  EXPECT_EQ(*read_file(path("log")), "one two");
}

TEST_F(FileTest, AppendFileNeverSharesAFile) {
  ASSERT_TRUE(write_file(path("log"), "mine").ok());
  const auto file = AppendFile::create(path("log"));
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("cannot create '" + path("log") + "': File exists"));
  EXPECT_EQ(*read_file(path("log")), "mine");
}

// A limit on the size of files stands for a full disk: the write stops in the middle.
TEST_F(FileTest, AnAppendThatFailsInTheMiddleLeavesNothingBehind) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto file = AppendFile::create(path("log"));
    const bool right = file.ok() && file->append("123456").ok() && file->append("789012").code() == Code::no_space &&
                       file->size() == 6 && file->append("7890").ok();
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*read_file(path("log")), "1234567890");
}

TEST_F(FileTest, MappedFileShowsTheBytes) {
  ASSERT_TRUE(write_file(path("data"), "abc").ok());
  auto file = MappedFile::open(path("data"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(as_text(file->bytes()), "abc");
  ASSERT_TRUE(write_file(path("empty"), "").ok());
  EXPECT_TRUE(MappedFile::open(path("empty"))->bytes().empty());
}

TEST_F(FileTest, ErrorsNameThePathAndTheReason) {
  const auto missing = MappedFile::open(path("missing"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_THAT(missing.error().message(), HasSubstr(path("missing") + "': No such file"));
  EXPECT_FALSE(MappedFile::open(dir_).ok());
  EXPECT_FALSE(read_file(dir_).ok());
  EXPECT_EQ(write_file(path("no/where"), "x").code(), Code::not_found);
}

TEST_F(FileTest, WriteFileReplacesAsAWholeAndLeavesNoPart) {
  ASSERT_TRUE(write_file(path("data"), "old").ok());
  ASSERT_TRUE(write_file(path("data"), "new").ok());
  EXPECT_EQ(*read_file(path("data")), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1);
}

TEST_F(FileTest, MakeDirectoriesMakesParentsAndTakesWhatIsThere) {
  EXPECT_TRUE(make_directories(path("a/b/c")).ok());
  EXPECT_TRUE(make_directories(path("a/b/c")).ok());
  ASSERT_TRUE(write_file(path("file"), "").ok());
  EXPECT_FALSE(make_directories(path("file")).ok());
  EXPECT_FALSE(make_directories(path("file/below")).ok());
}

TEST(JoinPath, PutsOneSlashBetween) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
}

}  // namespace
}  // namespace sonde
