// Logs that grow while they are read. Times are limits against hanging, not measurements.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/file_system.h"
#include "base/thread.h"
#include "base/watch.h"
#include "index/index_testing.h"

namespace sonde::index {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

LogOptions live() { return {.cache = LogOptions::Cache::off, .follow = LogOptions::Follow::live}; }

// Waits for a change at a time until it is so; false after far more time than that takes.
bool becomes(const Log& log, const std::function<bool()>& so) {
  const auto end = Clock::now() + seconds(30);
  std::uint64_t seen = log.version();
  while (!so()) {
    if (Clock::now() > end) return false;
    seen = log.wait_for_change(seen, milliseconds(200));
  }
  return true;
}

std::size_t points(const Log& log, std::string_view run, std::string_view tag) {
  const auto found = log.run(run);
  if (!found) return 0;
  const auto scalars = found->scalars(tag);
  return scalars ? scalars->size() : 0;
}

TEST(Follow, NewPointsAppearByThemselves) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  append(path, version() + scalar("loss", 0, 0));
  const Log log = open(dir.path(), live());
  log.wait();
  for (int i = 1; i < 20; ++i) {
    append(path, scalar("loss", i, i));
    ASSERT_TRUE(becomes(log, [&] { return points(log, "r", "loss") == static_cast<std::size_t>(i) + 1; })) << i;
  }
}

// Creates a directory at the moment when a reader opens it: after the reader has tried to watch it.
class LateDirectory final : public base::FileSystem {
 public:
  static LateDirectory& get() {
    static auto* const one = new LateDirectory;
    return *one;
  }
  void create(std::string path) {
    path_ = std::move(path);
    base::use_files(this);
  }
  int open(const std::string& path, int flags, mode_t mode) noexcept override {
    if (path == path_) base::FileSystem::make_directory(path, 0777);
    return base::FileSystem::open(path, flags, mode);
  }

 private:
  std::string path_;
};

TEST(Follow, ALogDirectoryThatAppearsAfterItsWatchFailedIsWatchedLater) {
  base::TempDir dir;
  const std::string path = dir / "log";
  append(path + "/a/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  const Log log = open(path, live());
  log.wait();
  LateDirectory::get().create(path);
  std::filesystem::rename(path, dir / "old");
  ASSERT_TRUE(becomes(log, [&] { return log.runs().empty(); }));
  base::use_files(nullptr);
  append(path + "/b/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  EXPECT_TRUE(becomes(log, [&] { return points(log, "b", "loss") == 1; }));
}

TEST(Follow, ARunThatAppearsLaterIsFoundHoweverDeep) {
  base::TempDir dir;
  const Log log = open(dir.path(), live());
  EXPECT_TRUE(log.runs().empty());
  append(dir / "a/b/c/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "a/b/c", "loss") == 1; }));
  append(dir / "a/b/c/" + std::string(kEvents), scalar("loss", 1, 1));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "a/b/c", "loss") == 2; }));
  append(dir / "a/" + std::string(kEvents), version() + scalar("loss", 1, 1));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "a", "loss") == 1; }));
}

TEST(Follow, ARunThatIsDeletedDisappears) {
  base::TempDir dir;
  append(dir / "r/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  append(dir / "s/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  const Log log = open(dir.path(), live());
  log.wait();
  std::filesystem::remove_all(dir / "r");
  ASSERT_TRUE(becomes(log, [&] { return log.runs().size() == 1; }));
  append(dir / "r/" + std::string(kEvents), version() + scalar("loss", 0, 0) + scalar("loss", 1, 0));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "r", "loss") == 2; })) << "and may come back";
}

// What may happen to a directory, and how it is undone.
struct Loss {
  const char* name;
  std::function<void(const base::TempDir&)> lose;
};
class LogDirectory : public testing::TestWithParam<LogOptions::Watch> {
 protected:
  // In its own directory, so that this one may be moved, too.
  std::string log_path() const { return dir_ / "above/logs"; }
  void write(std::string_view run, int points) const {
    std::string file = version();
    for (int i = 0; i < points; ++i) file += scalar("loss", i, i);
    overwrite(log_path() + "/" + std::string(run) + "/" + std::string(kEvents), file);
  }
  Log open_live() const {
    LogOptions options = live();
    options.watch = GetParam();
    Log log = open(log_path(), options);
    log.wait();
    return log;
  }
  base::TempDir dir_;
};
INSTANTIATE_TEST_SUITE_P(Follow, LogDirectory, testing::Values(LogOptions::Watch::automatic, LogOptions::Watch::poll),
                         [](const auto& one) { return one.param == LogOptions::Watch::poll ? "Polled" : "Told"; });

TEST_P(LogDirectory, IsNamedAsGoneUntilItIsBack) {
  const Loss losses[] = {
      {"removed", [](const base::TempDir& dir) { std::filesystem::remove_all(dir / "above/logs"); }},
      {"moved", [](const base::TempDir& dir) { std::filesystem::rename(dir / "above/logs", dir / "elsewhere1"); }},
      {"moved with what is above it",
       [](const base::TempDir& dir) { std::filesystem::rename(dir / "above", dir / "elsewhere2"); }},
  };
  write("a/b", 1);
  write("c", 1);
  const Log log = open_live();
  int points_now = 1;
  for (const Loss& loss : losses) {
    ASSERT_TRUE(becomes(log, [&] { return log.runs().size() == 2 && log.problems().empty(); })) << loss.name;
    loss.lose(dir_);
    ASSERT_TRUE(becomes(log, [&] { return log.runs().empty() && log.problems().size() == 1; })) << loss.name;
    EXPECT_EQ(log.problems().front(),
              "the log directory '" + log_path() + "' is gone: its runs appear again when it is back");
    ++points_now;
    write("a/b", points_now);
    write("c", points_now);
    for (const char* run : {"a/b", "c"}) {
      ASSERT_TRUE(becomes(log, [&] { return points(log, run, "loss") == static_cast<std::size_t>(points_now); }))
          << loss.name << " " << run;
    }
    append(log_path() + "/c/" + std::string(kEvents), scalar("loss", 100, 0));
    ASSERT_TRUE(becomes(log, [&] { return points(log, "c", "loss") == static_cast<std::size_t>(points_now) + 1; }))
        << loss.name << ": it is followed as before";
  }
}

TEST_P(LogDirectory, ThatIsReplacedAtOnceIsReadAgain) {
  write("a", 1);
  const Log log = open_live();
  std::filesystem::rename(log_path(), dir_ / "above/old");
  write("a", 3);
  write("b", 2);
  ASSERT_TRUE(becomes(log, [&] { return points(log, "a", "loss") == 3 && points(log, "b", "loss") == 2; }));
  append(log_path() + "/a/" + std::string(kEvents), scalar("loss", 100, 0));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "a", "loss") == 4; }));
  EXPECT_TRUE(log.problems().empty());
}

TEST_P(LogDirectory, MayLoseDirectoriesWithRunsAndGetThemBack) {
  write("a/b/c", 1);
  write("d", 1);
  const Log log = open_live();
  for (int i = 2; i < 8; ++i) {
    std::filesystem::rename(log_path() + "/a", dir_ / "old" + std::to_string(i));
    if (i % 2 == 0) {
      ASSERT_TRUE(becomes(log, [&] { return log.runs().size() == 1; })) << i;
    }
    write("a/b/c", i);
    ASSERT_TRUE(becomes(log, [&] { return points(log, "a/b/c", "loss") == static_cast<std::size_t>(i); })) << i;
  }
  EXPECT_TRUE(log.problems().empty());
}

TEST_P(LogDirectory, MayLoseDirectoriesWhileTheyAreLookedInto) {
  write("a", 1);
  const Log log = open_live();
  std::atomic<bool> done = false;
  std::jthread comes_and_goes([&] {
    for (int i = 0; i < 5; ++i) {
      // So many that the listing thread has not finished when the last one is deleted.
      for (int k = 0; k < 1000; ++k) std::filesystem::create_directories(log_path() + "/b/" + std::to_string(k));
      std::filesystem::remove_all(log_path() + "/b");
    }
    done = true;
  });
  std::vector<std::string> problems;
  while (!done && problems.empty()) problems = log.problems();
  EXPECT_EQ(problems, std::vector<std::string>());
  comes_and_goes.join();
  EXPECT_TRUE(becomes(log, [&] { return log.runs().size() == 1; }));
}

TEST_P(LogDirectory, MayHaveALinkThatLeadsElsewhereLater) {
  write("one", 1);
  write("two", 2);
  std::filesystem::create_directory_symlink("one", log_path() + "/latest");
  const Log log = open_live();
  ASSERT_EQ(points(log, "latest", "loss"), 1U);
  std::filesystem::create_directory_symlink("two", log_path() + "/new");
  std::filesystem::rename(log_path() + "/new", log_path() + "/latest");
  ASSERT_TRUE(becomes(log, [&] { return points(log, "latest", "loss") == 2; }));
}

TEST_P(LogDirectory, ReportsChangesOfTheOtherFilesOfARun) {
  write("a", 1);
  write("b", 1);
  const Log log = open_live();
  std::uint64_t seen = log.version();
  const auto news = [&] {
    const bool told = becomes(log, [&] { return log.version() != seen; });
    seen = log.version();
    return told;
  };
  append(log_path() + "/a/note.md", "a note");
  EXPECT_TRUE(news());
  append(log_path() + "/a/note.md", " that is longer");
  EXPECT_TRUE(news());
  std::filesystem::create_directories(log_path() + "/b/captures/.part-1");
  std::filesystem::rename(log_path() + "/b/captures/.part-1", log_path() + "/b/captures/1-nan");
  EXPECT_TRUE(news());
}

TEST(Follow, AFileThatIsReplacedIsNoticed) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  append(path, version() + scalar("loss", 0, 0));
  const Log log = open(dir.path(), live());
  log.wait();
  overwrite(dir / "temporary", version() + scalar("loss", 0, 1) + scalar("loss", 1, 1) + scalar("loss", 2, 1));
  std::filesystem::rename(dir / "temporary", path);
  ASSERT_TRUE(becomes(log, [&] { return points(log, "r", "loss") == 3; }));
}

TEST(Follow, RecordsThatArriveInPiecesAppearWhenTheyAreWhole) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  append(path, version());
  const Log log = open(dir.path(), live());
  std::string bytes;
  for (int i = 0; i < 5; ++i) bytes += scalar("loss", i, i);
  for (const char byte : bytes) append(path, std::string_view(&byte, 1));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "r", "loss") == 5; }));
  EXPECT_TRUE(log.run("r")->damage().empty());
}

TEST(Follow, ARunIsFollowedUnderEveryNameThatLinksGiveIt) {
  base::TempDir dir;
  append(dir / "b_real/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  std::filesystem::create_directory_symlink("b_real", dir / "a_latest");
  std::filesystem::create_directory_symlink("b_real", dir / "z_latest");
  const Log log = open(dir.path(), live());
  log.wait();
  append(dir / "b_real/" + std::string(kEvents), scalar("loss", 1, 1));
  for (const char* name : {"a_latest", "b_real", "z_latest"}) {
    ASSERT_TRUE(becomes(log, [&] { return points(log, name, "loss") == 2; })) << name;
  }
}

TEST(Follow, ALinkThatLeadsInCirclesInventsNoRuns) {
  base::TempDir dir;
  append(dir / "sub/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  std::filesystem::create_directory_symlink("..", dir / "sub/loop");
  const Log log = open(dir.path(), live());
  log.wait();
  append(dir / "sub/" + std::string(kEvents), scalar("loss", 1, 1));
  append(dir / "new/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  append(dir / "sub/deep/" + std::string(kEvents), version() + scalar("loss", 0, 0));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "new", "loss") == 1 && points(log, "sub/deep", "loss") == 1; }));
  std::vector<std::string> names;
  for (const sonde::Run& run : log.runs()) names.push_back(run.name());
  EXPECT_EQ(names, (std::vector<std::string>{"new", "sub", "sub/deep"}));
}

TEST(Follow, MayBeRefreshedMeanwhile) {
  base::TempDir dir;
  Log log = open(dir.path(), live());
  for (int i = 0; i < 20; ++i) {
    append(dir / "run" + std::to_string(i) + "/" + std::string(kEvents), version() + scalar("loss", 0, 0));
    log.refresh();
    EXPECT_EQ(points(log, "run" + std::to_string(i), "loss"), 1U);
  }
}

TEST(Follow, PollsIfTheSystemReportsNoChanges) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  append(path, version() + scalar("loss", 0, 0));
  LogOptions options = live();
  options.watch = LogOptions::Watch::poll;
  const Log log = open(dir.path(), options);
  append(path, scalar("loss", 1, 1));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "r", "loss") == 2; }));
  append(dir / "later/" + std::string(kEvents), version() + scalar("loss", 1, 1));
  ASSERT_TRUE(becomes(log, [&] { return points(log, "later", "loss") == 1; }));
  std::filesystem::remove_all(dir / "later");
  ASSERT_TRUE(becomes(log, [&] { return log.runs().size() == 1; }));
}

TEST(Follow, ManyMayAskWhileItGrows) {
  base::TempDir dir;
  const std::string path = dir / "r/" + std::string(kEvents);
  append(path, version());
  const Log log = open(dir.path(), live());
  constexpr int kCount = 3000;
  Result<base::Thread> writer = base::Thread::start("writer", [&] {
    for (int i = 0; i < kCount; ++i) append(path, scalar("loss", i, i));
  });
  ASSERT_TRUE(writer);
  std::vector<base::Thread> readers;
  for (int i = 0; i < 2; ++i) {
    Result<base::Thread> reader = base::Thread::start("reader", [&] {
      std::size_t before = 0;
      while (before < kCount) {
        const auto run = log.run("r");
        const auto scalars = run ? run->scalars("loss") : Result<Scalars>(Scalars{});
        const std::size_t now = scalars ? scalars->size() : 0;
        ASSERT_GE(now, before);
        for (std::size_t k = 0; k < now; ++k) ASSERT_EQ(scalars->values[k], static_cast<double>(k));
        if (now > 0) {
          ASSERT_TRUE(run->draw("loss", 100));
        }
        before = now;
        log.wait_for_change(log.version(), milliseconds(20));
      }
    });
    ASSERT_TRUE(reader);
    readers.push_back(std::move(*reader));
  }
}

TEST(Watch, ReportsManyChangesInADirectoryOnce) {
  base::TempDir dir;
  const auto created = base::Watch::create();
  ASSERT_TRUE(created);
  base::Watch* const watch = created->get();
  ASSERT_TRUE(watch->add(dir.path()));
  for (int i = 0; i < 100; ++i) append(dir / "file", "x");
  const base::Watch::Changes changes = watch->wait(seconds(10));
  EXPECT_EQ(changes.directories, (std::vector<base::Watch::Change>{{dir.path(), true}}));
  EXPECT_FALSE(changes.lost);
  EXPECT_TRUE(watch->wait(milliseconds(0)).directories.empty());
  EXPECT_FALSE(watch->add(dir / "missing"));
  append(dir / "file", "x");
  EXPECT_EQ(watch->wait(seconds(10)).directories, (std::vector<base::Watch::Change>{{dir.path(), false}}));
}

TEST(Watch, ReportsEveryPathOfADirectory) {
  base::TempDir dir;
  std::filesystem::create_directory(dir / "real");
  std::filesystem::create_directory_symlink(dir / "real", dir / "link");
  const auto created = base::Watch::create();
  ASSERT_TRUE(created);
  base::Watch* const watch = created->get();
  ASSERT_TRUE(watch->add(dir / "real"));
  ASSERT_TRUE(watch->add(dir / "link"));
  append(dir / "real/file", "x");
  EXPECT_EQ(watch->wait(seconds(10)).directories.size(), 2U);
}

}  // namespace
}  // namespace sonde::index
