#include "index/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "index/index_testing.h"
#include "index/run_index.h"
#include "tests/test_data.h"

namespace sonde::index {
namespace {

using Values = std::vector<double>;

// More than is read without a cache.
std::string long_file(int points) {
  std::string file = version();
  for (int i = 0; i < points; ++i) file += scalar("loss", i, i);
  return file;
}
constexpr int kPoints = 40'000;

class CacheTest : public testing::Test {
 protected:
  Log open_cached() { return open(dir_.path(), {.cache_directory = cache_.path()}); }
  std::string path() const { return dir_ / "r/" + std::string(kEvents); }
  std::vector<std::string> cache_files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(cache_.path())) files.push_back(entry.path().string());
    return files;
  }
  // Whether everything comes from the cache: the log files are replaced by others, of the same size and time and in the
  // same place on disk, which differ in points that no guard covers.
  bool comes_from_cache() {
    const auto time = std::filesystem::last_write_time(path());
    std::string bytes = *base::read_file(path());
    const std::string changed = scalar("loss", 20'000, -1);
    bytes.replace(bytes.find(scalar("loss", 20'000, 20'000)), changed.size(), changed);
    std::fstream(path(), std::ios::in | std::ios::out | std::ios::binary) << bytes;
    std::filesystem::last_write_time(path(), time);
    return values_of(*open_cached().run("r"), "loss").at(20'000) == 20'000;
  }

  base::TempDir dir_;
  base::TempDir cache_;
};

TEST_F(CacheTest, AnUnchangedLogIsNotReadAgain) {
  append(path(), long_file(kPoints));
  open_cached().wait();
  ASSERT_EQ(cache_files().size(), 1U);
  EXPECT_TRUE(comes_from_cache());
}

TEST_F(CacheTest, OnlyWhatWasAppendedIsRead) {
  append(path(), long_file(kPoints));
  open_cached().wait();
  append(path(), scalar("loss", kPoints, 7) + scalar("new", 1, 8));
  const Log log = open_cached();
  EXPECT_EQ(values_of(*log.run("r"), "loss").size(), kPoints + 1U);
  EXPECT_EQ(values_of(*log.run("r"), "loss").back(), 7);
  EXPECT_EQ(values_of(*log.run("r"), "new"), (Values{8}));
}

TEST_F(CacheTest, AReplacedFileIsReadAgain) {
  append(path(), long_file(kPoints));
  open_cached().wait();
  std::string other = version();
  for (int i = 0; i < kPoints; ++i) other += scalar("loss", i, -i);
  overwrite(dir_ / "temporary", other);
  std::filesystem::rename(dir_ / "temporary", path());
  EXPECT_EQ(values_of(*open_cached().run("r"), "loss").at(5), -5);
}

TEST_F(CacheTest, AFileWithAnotherTimeIsReadAgain) {
  append(path(), long_file(kPoints));
  open_cached().wait();
  std::filesystem::last_write_time(path(), std::filesystem::last_write_time(path()) + std::chrono::seconds(5));
  EXPECT_FALSE([&] {
    std::string bytes = *base::read_file(path());
    const std::string changed = scalar("loss", 20'000, -1);
    bytes.replace(bytes.find(scalar("loss", 20'000, 20'000)), changed.size(), changed);
    std::fstream(path(), std::ios::in | std::ios::out | std::ios::binary) << bytes;
    return values_of(*open_cached().run("r"), "loss").at(20'000) == 20'000;
  }());
}

TEST_F(CacheTest, ADeletedFileIsNotServed) {
  append(path(), long_file(kPoints));
  append(dir_ / "r/events.out.tfevents.1800000000.h", version() + scalar("other", 1, 1));
  open_cached().wait();
  std::filesystem::remove(dir_ / "r/events.out.tfevents.1800000000.h");
  const Log log = open_cached();
  EXPECT_EQ(values_of(*log.run("r"), "loss").size(), static_cast<std::size_t>(kPoints));
  EXPECT_FALSE(log.run("r")->scalars("other"));
}

TEST_F(CacheTest, AnyDamageToItIsNoticed) {
  append(path(), long_file(kPoints));
  open_cached().wait();
  const std::string cached = *base::read_file(cache_files().at(0));
  for (std::size_t at = 0; at < cached.size(); at += at < 200 ? 1 : 997) {
    std::string bad = cached;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    RunData run;
    EXPECT_FALSE(decode_cache(base::as_bytes(bad), nullptr, run)) << at;
  }
  for (std::size_t size = 0; size < cached.size(); size += size < 200 ? 1 : 997) {
    RunData run;
    EXPECT_FALSE(decode_cache(base::as_bytes(std::string_view(cached).substr(0, size)), nullptr, run)) << size;
  }
  overwrite(cache_files().at(0), cached.substr(0, 100));
  EXPECT_EQ(values_of(*open_cached().run("r"), "loss").size(), static_cast<std::size_t>(kPoints));
}

TEST_F(CacheTest, HoldsAllThatTheIndexHolds) {
  // Every kind of series from logs of the real writers, large or not.
  for (const char* name : {"torch", "tensorboardx", "tensorflow", "tensorflow_v1", "keras"}) {
    const std::filesystem::path log = std::filesystem::path(SONDE_TEST_DATA) / name;
    ASSERT_TRUE(std::filesystem::exists(log)) << log;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(log)) {
      if (!entry.is_directory()) continue;
      RunIndex run("r", entry.path().string(), "");
      run.update();
      const auto tags = run.tags();
      RunIndex again("r", entry.path().string(), cache_ / "one");
      again.update();
      ASSERT_TRUE(again.remember(0));
      RunIndex restored("r", entry.path().string(), cache_ / "one");
      restored.update();
      const auto restored_tags = restored.tags();
      ASSERT_EQ(restored_tags.size(), tags.size());
      for (std::size_t i = 0; i < tags.size(); ++i) {
        EXPECT_EQ(restored_tags[i].name, tags[i].name);
        EXPECT_EQ(restored_tags[i].kind, tags[i].kind);
        EXPECT_EQ(restored_tags[i].plugin_content, tags[i].plugin_content);
        EXPECT_EQ(restored_tags[i].points, tags[i].points);
        EXPECT_EQ(restored_tags[i].last_step, tags[i].last_step);
        EXPECT_EQ(restored_tags[i].last_time, tags[i].last_time);
      }
    }
  }
}

TEST_F(CacheTest, RemovesTheOldestEntriesIfItIsTooLarge) {
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int i = 0; i < 5; ++i) {
    const std::string file = cache_ / std::to_string(i) + ".index";
    overwrite(file, std::string(100, 'x'));
    std::filesystem::last_write_time(file, now - std::chrono::hours(i));
  }
  overwrite(cache_ / "not ours", std::string(1000, 'x'));
  prune_cache(cache_.path(), 250);
  std::vector<std::string> left;
  for (const std::string& file : cache_files()) left.push_back(std::filesystem::path(file).filename());
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"0.index", "1.index", "not ours"}));
}

TEST_F(CacheTest, ReadingACacheFileMakesItTheLastToBeForgotten) {
  append(path(), long_file(kPoints));
  open_cached().wait();
  ASSERT_EQ(cache_files().size(), 1U);
  const std::string file = cache_files()[0];
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  std::filesystem::last_write_time(file, long_ago);
  const std::string other = cache_ / "0.index";
  overwrite(other, "x");
  std::filesystem::last_write_time(other, long_ago + std::chrono::hours(24));
  open_cached().wait();
  prune_cache(cache_.path(), std::filesystem::file_size(file));
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(other));
}

TEST_F(CacheTest, TakesItsLimitFromTheEnvironment) {
  EXPECT_EQ(cache_limit(), kCacheLimit);
  ASSERT_EQ(::setenv("SONDE_CACHE_SIZE", "500MB", 1), 0);
  EXPECT_EQ(cache_limit(), 500'000'000U);
  ASSERT_EQ(::setenv("SONDE_CACHE_SIZE", "much", 1), 0);
  EXPECT_EQ(cache_limit(), kCacheLimit) << "not a size";
  ASSERT_EQ(::setenv("SONDE_CACHE_SIZE", "0B", 1), 0);
  append(path(), long_file(kPoints));
  EXPECT_EQ(values_of(*open_cached().run("r"), "loss").size(), static_cast<std::size_t>(kPoints));
  EXPECT_TRUE(cache_files().empty()) << "no cache at all";
  ASSERT_EQ(::unsetenv("SONDE_CACHE_SIZE"), 0);
}

TEST_F(CacheTest, WithoutAPlaceToWriteIsNoError) {
  append(path(), long_file(kPoints));
  const Log log = open(dir_.path(), {.cache_directory = path() + "/not-a-directory"});
  EXPECT_EQ(values_of(*log.run("r"), "loss").size(), static_cast<std::size_t>(kPoints));
}

}  // namespace
}  // namespace sonde::index
