// Points out of order, restarts and several writers: which points count, and which are reported as left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "formats/stats_record.h"
#include "index/index_testing.h"
#include "index/run_access.h"
#include "index/run_index.h"
#include "stats/summary.h"

namespace sonde::index {
namespace {

using testing::ElementsAre;
using Steps = std::vector<std::int64_t>;
using Values = std::vector<double>;

constexpr const char* kFirst = "r/events.out.tfevents.1700000000.h.1.0";
constexpr const char* kSecond = "r/events.out.tfevents.1700001000.h.2.0";

Tag tag_of(const sonde::Run& run, std::string_view name, TagKind kind = TagKind::scalars) {
  const auto tag = run.tag(name, kind);
  EXPECT_TRUE(tag) << tag.status().message();
  return tag ? *tag : Tag();
}

std::string image(std::string_view tag, std::int64_t step, double time) {
  std::string value;
  wire::put_bytes(value, 1, tag);
  wire::put_bytes(value, 4, std::string_view("\x08\x01\x10\x01\x22\x01x", 7));  // 1 x 1, "x"
  std::string summary;
  wire::put_bytes(summary, 1, value);
  std::string file;
  tfevents::put_summary_event(file, time, step, summary);
  return file;
}

TEST(OutOfOrder, EveryPointOfAFileCountsSortedByStep) {
  base::TempDir dir;
  std::string file = version();
  const Steps written = {0, 1, 2, 4, 3, 5, 6};
  for (std::size_t i = 0; i < written.size(); ++i) {
    file += scalar("x", written[i], static_cast<double>(written[i] * 10), kStart + static_cast<double>(i));
  }
  append(dir / kFirst, file);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(steps_of(run, "x"), (Steps{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values_of(run, "x"), (Values{0, 10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(steps_of(run, "x", History::all), written) << "all: in the order written";
  EXPECT_EQ(run.scalars("x", {.first_step = 3, .last_step = 4})->steps, (Steps{3, 4}));
  EXPECT_EQ(tag_of(run, "x").points, 7U);
  EXPECT_EQ(tag_of(run, "x").written_again, 0U);
  EXPECT_EQ(tag_of(run, "x").first_step, 0);
  EXPECT_EQ(tag_of(run, "x").last_step, 6);
  for (const Axis axis : {Axis::step, Axis::wall_time}) EXPECT_EQ(run.draw("x", 1000, {}, axis)->points.size(), 7U);
}

TEST(OutOfOrder, EqualStepsAreInOrderOfTime) {
  base::TempDir dir;
  append(dir / kFirst, version(9) + scalar("x", 1, 2, 12) + scalar("x", 1, 1, 11) + scalar("x", 0, 0, 14) +
                           scalar("x", 1, 3, 12) + scalar("y", 0, 2, 12) + scalar("y", 0, 1, 11));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "x"), (Values{0, 1, 2, 3}));
  EXPECT_EQ(values_of(run, "y"), (Values{1, 2})) << "also where no step goes back";
}

// What eight threads that share an atomic step leave in a file: each step once, some far from its place.
std::vector<std::int64_t> steps_of_threads(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::pair<double, std::int64_t>> places;
  for (std::size_t i = 0; i < count; ++i) {
    const double delay = random() % 1000 == 0 ? 5'000 : static_cast<double>(random() % 64);
    places.emplace_back(static_cast<double>(i) + delay, static_cast<std::int64_t>(i));
  }
  std::ranges::sort(places);
  std::vector<std::int64_t> steps;
  for (const auto& [place, step] : places) steps.push_back(step);
  return steps;
}

TEST(OutOfOrder, AsManyThreadsWriteThemNothingIsMissing) {
  constexpr std::size_t kPoints = 100'000;
  base::TempDir dir;
  std::string file = version();
  std::size_t at = 0;
  for (const std::int64_t step : steps_of_threads(kPoints)) {
    file += scalar("x", step, static_cast<double>(step), kStart + 1e-3 * static_cast<double>(at++));
  }
  append(dir / kFirst, file);
  base::TempDir cache;
  for (int round = 0; round < 2; ++round) {  // the second time from the cache
    RunIndex run("r", dir / "r", cache / "x.index");
    run.update();
    const auto scalars = run.scalars("x", {}, History::newest);
    ASSERT_EQ(scalars->size(), kPoints);
    for (std::size_t i = 0; i < kPoints; ++i) {
      ASSERT_EQ(scalars->steps[i], static_cast<std::int64_t>(i));
      ASSERT_EQ(scalars->values[i], static_cast<double>(i));
    }
    EXPECT_EQ(run.tag("x", TagKind::scalars)->points, kPoints);
    // What a drawing has is what one of the sorted points has.
    base::TempDir sorted_dir;
    std::string sorted_file = version();
    for (std::size_t i = 0; i < kPoints; ++i) {
      sorted_file += scalar("x", scalars->steps[i], scalars->values[i], scalars->wall_times[i]);
    }
    append(sorted_dir / kFirst, sorted_file);
    RunIndex sorted("r", sorted_dir / "r", "");
    sorted.update();
    for (const Axis axis : {Axis::step, Axis::wall_time}) {
      for (const int width : {3, 700}) {
        const auto drawn = run.draw("x", width, {}, axis);
        const auto wanted = sorted.draw("x", width, {}, axis);
        EXPECT_EQ(drawn->total, kPoints);
        EXPECT_EQ(drawn->points.steps, wanted->points.steps);
        EXPECT_EQ(drawn->points.values, wanted->points.values);
      }
    }
    std::shared_ptr<const Smoothed> kept;
    const auto summary = run.summary("x", {}, std::nullopt, 0.6, kept);
    EXPECT_EQ(summary->count, kPoints);
    EXPECT_EQ(summary->last.value, static_cast<double>(kPoints - 1));
    EXPECT_NEAR(summary->smoothed, static_cast<double>(kPoints - 1) - 1.5, 1e-3);
    run.remember(1);
  }
}

TEST(OutOfOrder, StaysFastInAnyOrder) {
  base::TempDir dir;
  std::string file = version();
  for (int i = 0; i < 200'000; ++i) file += scalar("x", i % 2 == 0 ? i / 2 : 1'000'000 - i, i);
  append(dir / kFirst, file);
  const sonde::Run run = *open(dir.path()).run("r");
  const Steps steps = steps_of(run, "x");
  EXPECT_EQ(steps.size(), 200'000U);
  EXPECT_TRUE(std::ranges::is_sorted(steps));
}

TEST(OutOfOrder, PointsThatArriveWhileTheLogIsFollowedFindTheirPlace) {
  base::TempDir dir;
  const std::vector<std::int64_t> written = steps_of_threads(20'000);
  append(dir / kFirst, version());
  RunIndex run("r", dir / "r", "");
  std::shared_ptr<const Smoothed> kept;
  std::size_t at = 0;
  while (at < written.size()) {
    std::string more;
    for (const std::size_t end = std::min(written.size(), at + 777); at < end; ++at) {
      more += scalar("x", written[at], static_cast<double>(written[at]), kStart + static_cast<double>(at));
    }
    append(dir / kFirst, more);
    run.update();
    Steps wanted(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(at));
    std::ranges::sort(wanted);
    ASSERT_EQ(run.scalars("x", {}, History::newest)->steps, wanted);
    ASSERT_EQ(run.tag("x", TagKind::scalars)->points, at);
    // The smoothed line is that of the points that exist now, in their order.
    const auto line = run.line("x", {.width = 50, .smooth = 0.5}, kept);
    std::shared_ptr<const Smoothed> nothing;
    const auto fresh = run.line("x", {.width = 50, .smooth = 0.5}, nothing);
    ASSERT_EQ(line->smoothed.values, fresh->smoothed.values);
    ASSERT_EQ(line->raw.total, at);
  }
}

TEST(OutOfOrder, ImagesAndStatisticsAreSortedToo) {
  base::TempDir dir;
  std::string events = version();
  std::string statistics;
  stats_record::put_definition(statistics, {.id = 1, .name = "out"});
  double time = kStart;
  for (const std::int64_t step : {0, 2, 1, 3}) {
    events += image("i", step, ++time);
    stats_record::StepWriter writer(statistics, step, time, false);
    stats::Summary summary;
    summary.count = 10 + static_cast<std::uint64_t>(step);
    summary.nan = step == 2 ? 1 : 0;
    writer.add({.id = 1}, summary, nullptr);
    writer.end();
  }
  append(dir / kFirst, events);
  append(dir / "r/stats.1700000000.h.1.0.tfrecord", statistics);
  const sonde::Run run = *open(dir.path()).run("r");
  Steps steps;
  const auto images = run.values("i", TagKind::images);
  for (const ValueRef& ref : *images) steps.push_back(ref.step);
  EXPECT_EQ(steps, (Steps{0, 1, 2, 3}));
  EXPECT_EQ(tag_of(run, "i", TagKind::images).points, 4U);
  steps.clear();
  const auto all = run.statistics("activation/out");
  for (const TensorStatistics& one : *all) {
    steps.push_back(one.step);
    EXPECT_EQ(one.count, 10U + static_cast<std::uint64_t>(one.step));
  }
  EXPECT_EQ(steps, (Steps{0, 1, 2, 3}));
  const auto found = RunAccess::index(run).non_finite();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first_step, 2);
  EXPECT_EQ(found[0].count, 1U);
  EXPECT_FALSE(found[0].until_the_end) << "step 3 was finite";
}

TEST(Restart, ReplacesTheStepsItWroteAgainAndCountsThem) {
  base::TempDir dir;
  std::string first = version();
  for (int i = 0; i < 800; ++i) first += scalar("x", i, i) + image("i", i, kStart + i);
  std::string second = version(kStart + 1000);
  for (int i = 460; i < 500; ++i) {
    second += scalar("x", i, 1000 + i, kStart + 1000 + i) + image("i", i, kStart + 1000 + i);
  }
  append(dir / kFirst, first);
  append(dir / kSecond, second);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(tag_of(run, "x").points, 500U);
  EXPECT_EQ(tag_of(run, "x").written_again, 340U);
  EXPECT_EQ(tag_of(run, "i", TagKind::images).points, 500U);
  EXPECT_EQ(tag_of(run, "i", TagKind::images).written_again, 340U);
  EXPECT_EQ(values_of(run, "x")[459], 459);
  EXPECT_EQ(values_of(run, "x")[460], 1460);
  EXPECT_EQ(steps_of(run, "x", History::all).size(), 840U);
}

TEST(Restart, OfTheLastStepReplacesIt) {
  base::TempDir dir;
  append(dir / kFirst, version() + scalar("x", 0, 0) + scalar("x", 1, 1));
  append(dir / kSecond, version(kStart + 10) + scalar("x", 1, 11, kStart + 11) + scalar("x", 2, 12, kStart + 12));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "x"), (Values{0, 11, 12}));
  EXPECT_EQ(tag_of(run, "x").written_again, 1U);
}

TEST(Restart, OfPointsOutOfOrderReplacesThoseFromItsFirstStepOn) {
  base::TempDir dir;
  std::string first = version();
  for (const int step : {0, 2, 1, 5, 3, 4}) first += scalar("x", step, step, kStart + 1);
  std::string second = version(kStart + 10);
  for (const int step : {3, 5, 4, 6}) second += scalar("x", step, 10 + step, kStart + 11);
  append(dir / kFirst, first);
  append(dir / kSecond, second);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "x"), (Values{0, 1, 2, 13, 14, 15, 16}));
  EXPECT_EQ(tag_of(run, "x").written_again, 3U);
}

TEST(Restart, ByASessionStartWithinAFileReplacesEarlierPoints) {
  base::TempDir dir;
  std::string file = version();
  for (const int step : {0, 1, 3, 2, 4}) file += scalar("x", step, step, kStart + 1);
  file += session_start(2, kStart + 5);
  for (const int step : {3, 2, 4}) file += scalar("x", step, 10 + step, kStart + 6);
  append(dir / kFirst, file);
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(values_of(run, "x"), (Values{0, 1, 12, 13, 14}));
  EXPECT_EQ(tag_of(run, "x").written_again, 3U);
}

TEST(SeveralWriters, ThatLiveAtTheSameTimeReplaceNothing) {
  base::TempDir dir;  // the second file repeats a step of the series, after its last point in the first
  append(dir / kFirst, version() + scalar("x", 5, 5, kStart + 1) + scalar("other", 0, 0, kStart + 100));
  append(dir / kSecond, version(kStart + 50) + scalar("x", 3, 30, kStart + 60) + scalar("x", 5, 50, kStart + 61));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(steps_of(run, "x"), (Steps{3, 5, 5}));
  EXPECT_EQ(values_of(run, "x"), (Values{30, 5, 50})) << "equal steps by time";
  EXPECT_EQ(tag_of(run, "x").written_again, 0U);
}

TEST(SeveralWriters, AProcessThatStillWritesStatisticsHasNotEnded) {
  base::TempDir dir;
  append(dir / kFirst, version() + scalar("x", 5, 5, kStart + 1));
  std::string statistics;
  stats_record::put_definition(statistics, {.id = 1, .name = "out"});
  stats_record::StepWriter writer(statistics, 9, kStart + 100, false);
  writer.add({.id = 1}, {}, nullptr);
  writer.end();
  append(dir / "r/stats.1700000000.h.1.0.tfrecord", statistics);
  append(dir / kSecond, version(kStart + 50) + scalar("x", 3, 30, kStart + 60));
  EXPECT_EQ(steps_of(*open(dir.path()).run("r"), "x"), (Steps{3, 5}));
}

TEST(SeveralWriters, AsChildrenOfAForkAreAllServed) {
  base::TempDir dir;  // the parent continues while three children record the same series
  std::string parent = version();
  for (int i = 0; i < 100; ++i) parent += scalar("x", i, 0, kStart + i);
  append(dir / kFirst, parent);
  for (int child = 1; child <= 3; ++child) {
    std::string file = version(kStart + 10 * child);
    for (int i = 0; i < 50; ++i) file += scalar("x", i, child, kStart + 10 * child + i);
    append(dir / "r/events.out.tfevents.17000000" + std::to_string(child) + "0.h." + std::to_string(child + 1) + ".0",
           file);
  }
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_EQ(tag_of(run, "x").points, 250U);
  EXPECT_EQ(tag_of(run, "x").written_again, 0U);
  const Values values = values_of(run, "x");
  EXPECT_THAT(Values(values.begin(), values.begin() + 4), ElementsAre(0, 1, 2, 3));
}

TEST(SeveralWriters, ThatFollowEachOtherDuringAThirdReplaceNothing) {
  base::TempDir dir;  // children that a process forks one after the other
  append(dir / kFirst, version() + scalar("x", 0, 0) + scalar("x", 9, 9, kStart + 100));
  for (int child = 1; child <= 3; ++child) {
    append(dir / "r/events.out.tfevents.17000000" + std::to_string(child) + "0.h." + std::to_string(child + 1) + ".0",
           version(kStart + 10 * child) + scalar("x", 0, child, kStart + 10 * child + 1));
  }
  // And a restart of the whole job.
  append(dir / kSecond, version(kStart + 1'000) + scalar("x", 5, 50, kStart + 1'001));
  const sonde::Run run = *open(dir.path()).run("r");
  EXPECT_THAT(values_of(run, "x"), ElementsAre(0, 1, 2, 3, 50));
  EXPECT_EQ(tag_of(run, "x").written_again, 1U);
}

TEST(SeveralWriters, BecomeSuchWhenTheFirstOneWritesOn) {
  base::TempDir dir;
  append(dir / kFirst, version() + scalar("x", 0, 0) + scalar("x", 1, 1));
  append(dir / kSecond, version(kStart + 10) + scalar("x", 0, 10, kStart + 11));
  Log log = open(dir.path());
  EXPECT_EQ(values_of(*log.run("r"), "x"), (Values{10})) << "as a restart looks";
  append(dir / kFirst, scalar("x", 2, 2, kStart + 20));
  log.refresh();
  EXPECT_EQ(values_of(*log.run("r"), "x"), (Values{0, 10, 1, 2}));
  EXPECT_EQ(tag_of(*log.run("r"), "x").written_again, 0U);
}

TEST(OutOfOrder, ManyMayAskWhileItGrows) {
  base::TempDir dir;
  const std::vector<std::int64_t> written = steps_of_threads(8'000);
  append(dir / kFirst, version() + scalar("x", written[0], 0));
  RunIndex run("r", dir / "r", "");
  run.update();
  std::atomic<bool> done = false;
  std::vector<std::thread> askers;
  for (int i = 0; i < 2; ++i) {
    askers.emplace_back([&] {
      std::shared_ptr<const Smoothed> kept;
      while (!done) {
        EXPECT_TRUE(std::ranges::is_sorted(run.scalars("x", {}, History::newest)->steps));
        EXPECT_TRUE(run.line("x", {.width = 20, .smooth = 0.9}, kept));
        EXPECT_EQ(run.tags().size(), 1U);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // or the reader never gets the lock
      }
    });
  }
  for (std::size_t at = 1; at < written.size();) {
    std::string more;
    for (const std::size_t end = std::min(written.size(), at + 100); at < end; ++at)
      more += scalar("x", written[at], 0);
    append(dir / kFirst, more);
    run.update();
  }
  done = true;
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(run.scalars("x", {}, History::newest)->size(), written.size());
}

}  // namespace
}  // namespace sonde::index
