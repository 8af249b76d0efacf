// Questions of the page: revisions, the trash, and what is not finite. Lines themselves are tested where they are
// answered, in query/series_test.cc.
#include "index/lines.h"

#include <gmock/gmock.h>

#include <limits>

#include "formats/stats_record.h"
#include "index/index_testing.h"
#include "index/run_access.h"

namespace sonde::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string path_in(const TempDir& dir) { return dir / std::string("r/") + std::string(kEvents); }

TEST(Revision, GrowsWithWhatIsReadAndNotOtherwise) {
  TempDir dir;
  append(path_in(dir), version() + scalar("x", 1, 1));
  Log log = open(dir.path());
  log.wait();
  RunIndex& run = RunAccess::index(*log.run("r"));
  const std::uint64_t first = run.revision();
  EXPECT_GT(first, 0U);
  const std::uint64_t told = log.version();
  log.refresh();
  EXPECT_EQ(run.revision(), first);
  EXPECT_EQ(log.version(), told);
  append(path_in(dir), scalar("x", 2, 1));
  log.refresh();
  EXPECT_GT(run.revision(), first);
  EXPECT_GT(log.version(), told);
}

TEST(Trash, IsNotLookedInto) {
  TempDir dir;
  append(dir / ".sonde-trash/1-old/" + std::string(kEvents), version() + scalar("x", 1, 1));
  append(dir / "a/.sonde-trash/" + std::string(kEvents), version() + scalar("x", 1, 1));
  Log log = open(dir.path());
  log.wait();
  EXPECT_THAT(log.runs(), IsEmpty());
}

TEST(NonFinite, IsOfTheNewestHistory) {
  TempDir dir;
  std::string file = version();
  for (int i = 0; i < 1'000; ++i) file += scalar("loss", i, i >= 900 ? kNaN : i);
  for (int i = 800; i < 1'000; ++i) file += scalar("loss", i, i, kStart + 2'000 + i);  // it was restarted
  file += scalar("other", 5, kNaN);
  append(path_in(dir), file);
  Log log = open(dir.path());
  const auto found = RunAccess::index(*log.run("r")).non_finite();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tag, "other");
  EXPECT_EQ(found[0].first_step, 5);
  EXPECT_EQ(found[0].nan, 1U);
  EXPECT_TRUE(found[0].until_the_end);
}

// A statistics file with one tensor of three steps.
std::string statistics(std::initializer_list<std::uint64_t> nan) {
  std::string file;
  stats_record::put_definition(file, {.id = 1, .name = "out"});
  std::int64_t step = 0;
  for (const std::uint64_t count : nan) {
    stats::Summary summary;
    summary.count = 10;
    summary.nan = count;
    stats_record::StepWriter writer(file, step++, kStart, false);
    writer.add({.id = 1}, summary, nullptr);
    writer.end();
  }
  return file;
}

TEST(NonFinite, StatisticsAreKnownWithoutReadingThemAgain) {
  TempDir dir;
  TempDir cache;
  append(dir / "r/stats.1.tfrecord", statistics({0, 3, 0, 1}));
  for (int i = 0; i < 2; ++i) {  // the second time from the cache
    RunIndex run("r", dir / "r", cache / "x.index");
    run.update();
    const auto found = run.non_finite();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tag, "activation/out");
    EXPECT_EQ(found[0].kind, TagKind::statistics);
    EXPECT_EQ(found[0].first_step, 1);
    EXPECT_EQ(found[0].count, 2U);
    EXPECT_FALSE(found[0].until_the_end);
    EXPECT_EQ(run.remember(1), i == 0);
  }
}

TEST(FirstSince, IsFoundByItsTime) {
  TempDir dir;
  std::string file = version();
  for (int i = 0; i < 1'000; ++i) file += scalar("x", i * 2, i);
  append(path_in(dir), file);
  Log log = open(dir.path());
  RunIndex& run = RunAccess::index(*log.run("r"));
  EXPECT_EQ(run.first_since("x", kStart + 99.5)->step, 100);
  EXPECT_EQ(run.first_since("x", 0)->step, 0);
  EXPECT_FALSE(run.first_since("x", kStart + 5'000));
  EXPECT_FALSE(run.first_since("none", 0));
}

}  // namespace
}  // namespace sonde::index
