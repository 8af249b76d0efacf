#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/directory.h"
#include "base/input_file.h"

namespace sonde::base {
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

TEST_F(FileTest, AppendFileContinuesAtTheEndOfAClosedFile) {
  EXPECT_EQ(AppendFile::reopen(path("log")).error().code(), Code::not_found);
  {
    auto file = AppendFile::create(path("log"));
    ASSERT_TRUE(file && file->append("one").ok());
  }
  auto file = AppendFile::reopen(path("log"));
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->size(), 3U);
  ASSERT_TRUE(file->append("two").ok());
  EXPECT_EQ(*read_file(path("log")), "onetwo");
  EXPECT_FALSE(file->is_deleted());
  std::filesystem::remove(path("log"));
  EXPECT_TRUE(file->is_deleted());
  std::filesystem::create_directory(path("folder"));
  EXPECT_FALSE(AppendFile::reopen(path("folder")));
}

TEST_F(FileTest, AppendFileNeverSharesAFile) {
  ASSERT_TRUE(write_file(path("log"), "mine").ok());
  const auto file = AppendFile::create(path("log"));
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message(), HasSubstr("cannot create '" + path("log") + "': File exists"));
  EXPECT_EQ(*read_file(path("log")), "mine");
}

// A file size limit simulates a full disk: the write stops in the middle.
TEST_F(FileTest, AnAppendThatFailsInTheMiddleLeavesNothingBehind) {
  const pid_t child = ::fork();
  if (child == 0) {
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

// SIGXFSZ would end the process, which is the training. Whether the caller blocks it or not, it is taken away.
TEST_F(FileTest, WritingBeyondTheLimitOfFilesIsAnErrorNotTheEndOfTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit = {10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    auto file = AppendFile::create(path("log"));
    bool right = file.ok() && file->append("1234567890").ok();
    for (const int how : {SIG_UNBLOCK, SIG_BLOCK, SIG_UNBLOCK}) {
      pthread_sigmask(how, &set, nullptr);
      sigset_t after;
      right = right && file->append("1").code() == Code::no_space &&
              write_file(path("data"), "12345678901").code() == Code::no_space;
      right = right && pthread_sigmask(SIG_BLOCK, nullptr, &after) == 0 &&
              (sigismember(&after, SIGXFSZ) == 1) == (how == SIG_BLOCK);
    }
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*read_file(path("log")), "1234567890");
  EXPECT_FALSE(std::filesystem::exists(path("data")));
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

// A pipe without a writer would stop a reader forever.
TEST_F(FileTest, OnlyRegularFilesAreReadWithoutBlocking) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {AF_UNIX, {}};
  path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const std::string& one : {path("pipe"), path("socket"), std::string("/dev/null"), dir_}) {
    const std::string sentence =
        "cannot read '" + one + (one == dir_ ? "': it is a directory" : "': it is not a regular file");
    for (const Status& status :
         {read_file(one).status(), MappedFile::open(one).status(), InputFile::open(one).status()}) {
      EXPECT_EQ(status.code(), Code::invalid_argument);
      EXPECT_EQ(status.message(), sentence);
    }
  }
  ::close(socket);
}

TEST_F(FileTest, AStreamMayBeAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const auto read = [&](std::size_t most) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      const int fd = ::open(path("pipe").c_str(), O_WRONLY);
      ::_exit(::write(fd, "some text", 9) == 9 ? 0 : 1);
    }
    auto text = read_stream(path("pipe"), most);
    ::waitpid(writer, nullptr, 0);
    return text;
  };
  EXPECT_EQ(*read(100), "some text");
  EXPECT_EQ(*read(4), "some");
  ASSERT_TRUE(write_file(path("data"), "abc").ok());
  EXPECT_EQ(*read_stream(path("data"), 100), "abc");
  EXPECT_THAT(read_stream(dir_, 100).status().message(), HasSubstr(dir_ + "': Is a directory"));
  EXPECT_EQ(read_stream(path("missing"), 100).status().code(), Code::not_found);
}

// Another user who may write into the directory could guess the name of the temporary file.
TEST_F(FileTest, WriteFileNeverWritesThroughALink) {
  ASSERT_TRUE(write_file(path("precious"), "mine").ok());
  const std::string guess = path("data.part-") + std::to_string(::getpid());
  ASSERT_EQ(::symlink("precious", guess.c_str()), 0);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(::symlink("precious", (guess + "-" + std::to_string(i)).c_str()), 0);
  }
  ASSERT_TRUE(write_file(path("data"), "new").ok());
  EXPECT_EQ(*read_file(path("precious")), "mine");
  EXPECT_EQ(*read_file(path("data")), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(path("data")));
}

TEST_F(FileTest, AFileBelongsToTheUserIfItAndTheLinkToItDo) {
  ASSERT_TRUE(write_file(path("data"), "x").ok());
  ASSERT_EQ(::symlink("data", path("link").c_str()), 0);
  EXPECT_TRUE(*InputFile::open(path("data"))->belongs_to_user());
  EXPECT_TRUE(*InputFile::open(path("link"))->belongs_to_user());
  const uid_t other = ::geteuid() == 65534 ? 65533 : 65534;
  if (::lchown(path("link").c_str(), other, other) != 0) return;  // not everybody may give files away
  EXPECT_FALSE(*InputFile::open(path("link"))->belongs_to_user());
  EXPECT_TRUE(*InputFile::open(path("data"))->belongs_to_user());
  ASSERT_EQ(::chown(path("data").c_str(), other, other), 0);
  EXPECT_FALSE(*InputFile::open(path("data"))->belongs_to_user());
}

TEST_F(FileTest, FilesOutsideOfADirectoryAreNotReadIfRequested) {
  std::filesystem::create_directories(path("root/below"));
  std::filesystem::create_directories(path("root-two"));
  for (const char* name : {"root/below/file", "root-two/file"}) ASSERT_TRUE(write_file(path(name), "x"));
  std::filesystem::create_directory_symlink("root", path("link"));
  std::filesystem::create_directory_symlink("../root-two", path("root/out"));
  std::filesystem::create_symlink(path("root-two/file"), path("root/out_file"));
  std::filesystem::create_symlink(path("root/below/file"), path("root/in_file"));
  std::filesystem::create_symlink("nowhere", path("root/broken"));
  for (const std::string& root : {path("root"), path("link"), path("root/below/..")}) {
    EXPECT_TRUE(InputFile::open(root + "/below/file", root).ok());
    EXPECT_TRUE(InputFile::open(root + "/in_file", root).ok());
    EXPECT_TRUE(InputFile::open(root + "/out_file").ok());
    for (const char* name : {"/out_file", "/out/file", "/../root-two/file"}) {
      const auto file = InputFile::open(root + name, root);
      ASSERT_FALSE(file.ok()) << name;
      EXPECT_EQ(file.error().code(), Code::unsupported);
      EXPECT_THAT(file.error().message(), HasSubstr("'" + root + name + "' leads out of '" + root + "'"));
    }
    EXPECT_EQ(read_directory(root + "/out", root).error().code(), Code::unsupported);
    const auto listed = read_directory(root, root);
    ASSERT_TRUE(listed.ok());
    const auto names = [](const std::vector<DirectoryEntry>& entries) {
      std::vector<std::string> found;
      for (const DirectoryEntry& entry : entries) found.push_back(entry.name);
      return found;
    };
    EXPECT_THAT(names(listed->entries), testing::ElementsAre("below", "broken", "in_file"));
    EXPECT_THAT(names(listed->outside), testing::ElementsAre("out", "out_file"));
  }
  EXPECT_EQ(InputFile::open(path("root/below/file"), path("none")).error().code(), Code::not_found);
}

TEST_F(FileTest, MakeDirectoriesCreatesParentsAndAcceptsExistingOnes) {
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
}  // namespace sonde::base
