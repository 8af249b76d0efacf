// Statistics as columns: what a map shows is what the records say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <random>

#include "base/serial_queue.h"
#include "formats/stats_record.h"
#include "index/index_testing.h"
#include "index/run_index.h"
#include "stats/summary.h"

namespace sonde::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kFirst = "r/stats.1700000000.h.1.0.tfrecord";
constexpr const char* kSecond = "r/stats.1700001000.h.2.0.tfrecord";

// A statistics file, and its content in plain form.
class StatisticsFile {
 public:
  using Entries = std::vector<std::pair<std::uint32_t, stats::Summary>>;  // id, summary

  explicit StatisticsFile(std::uint32_t tensors) {
    for (std::uint32_t id = 0; id < tensors; ++id) define(id);
  }
  void define(std::uint32_t id) { stats_record::put_definition(bytes_, {.id = id, .name = name(id)}); }
  void step(std::int64_t step, double time, const Entries& entries, bool evaluation = false) {
    stats_record::StepWriter writer(bytes_, step, time, evaluation);
    for (const auto& [id, summary] : entries) writer.add({.id = id}, summary, nullptr);
    writer.end();
  }
  std::string take() { return std::exchange(bytes_, {}); }
  static std::string name(std::uint32_t id) { return "t" + std::to_string(id); }
  static std::string tag(std::uint32_t id) { return "activation/" + name(id); }

 private:
  std::string bytes_;
};

stats::Summary summary_of(const std::vector<double>& values) {
  stats::Summary summary;
  double sum = 0;
  for (const double value : values) {
    ++summary.count;
    if (std::isnan(value)) {
      ++summary.nan;
    } else if (std::isinf(value)) {
      ++(value > 0 ? summary.positive_infinity : summary.negative_infinity);
    } else {
      summary.zeros += value == 0 ? 1 : 0;
      summary.negatives += value < 0 ? 1 : 0;
      summary.min = std::isnan(summary.min) ? value : std::min(summary.min, value);
      summary.max = std::isnan(summary.max) ? value : std::max(summary.max, value);
      sum += value;
      summary.sum_abs += std::abs(value);
    }
  }
  if (summary.finite() == 0) return summary;
  summary.mean = sum / static_cast<double>(summary.finite());
  for (const double value : values) {
    if (std::isfinite(value)) summary.m2 += (value - summary.mean) * (value - summary.mean);
  }
  return summary;
}

// Straight from the definitions.
double defined(const TensorStatistics& one, Statistic statistic) {
  const auto count = static_cast<double>(one.count);
  const auto finite = static_cast<double>(one.count - one.nan - one.positive_infinity - one.negative_infinity);
  const double rms = std::sqrt(one.std * one.std + one.mean * one.mean);
  const double abs_max = std::max(std::abs(one.min), std::abs(one.max));
  switch (statistic) {
    case Statistic::count: return count;
    case Statistic::nan: return static_cast<double>(one.nan);
    case Statistic::positive_infinity: return static_cast<double>(one.positive_infinity);
    case Statistic::negative_infinity: return static_cast<double>(one.negative_infinity);
    case Statistic::zeros: return static_cast<double>(one.zeros);
    case Statistic::negatives: return static_cast<double>(one.negatives);
    case Statistic::min: return one.min;
    case Statistic::max: return one.max;
    case Statistic::mean: return one.mean;
    case Statistic::std: return one.std;
    case Statistic::sum_abs: return finite > 0 ? one.sum_abs : kNaN;
    case Statistic::mean_abs: return finite > 0 ? one.sum_abs / finite : kNaN;
    case Statistic::rms: return rms;
    case Statistic::l2: return rms * std::sqrt(finite);
    case Statistic::abs_max: return abs_max;
    case Statistic::peak_factor: return abs_max / rms;
    case Statistic::shape_factor: return finite > 0 ? one.sum_abs / finite / rms : kNaN;
    case Statistic::non_finite: return count - finite;
    case Statistic::zero_fraction: return static_cast<double>(one.zeros) / count;
    case Statistic::negative_fraction: return static_cast<double>(one.negatives) / count;
    case Statistic::f16_range: return abs_max / 65'504;
    case Statistic::f8_e4m3_range: return abs_max / 448;
    case Statistic::f8_e5m2_range: return abs_max / 57'344;
    case Statistic::update_ratio:
    case Statistic::depth_gain:
    case Statistic::drift: break;  // not of one tensor at one step: see query/network_test.cc
  }
  return kNaN;
}

constexpr Statistic kAll[] = {Statistic::count,
                              Statistic::nan,
                              Statistic::positive_infinity,
                              Statistic::negative_infinity,
                              Statistic::zeros,
                              Statistic::negatives,
                              Statistic::min,
                              Statistic::max,
                              Statistic::mean,
                              Statistic::std,
                              Statistic::sum_abs,
                              Statistic::mean_abs,
                              Statistic::rms,
                              Statistic::l2,
                              Statistic::abs_max,
                              Statistic::peak_factor,
                              Statistic::shape_factor,
                              Statistic::non_finite,
                              Statistic::zero_fraction,
                              Statistic::negative_fraction,
                              Statistic::f16_range,
                              Statistic::f8_e4m3_range,
                              Statistic::f8_e5m2_range};

// Values are kept as f32, so that a mean of theirs is as exact as the largest of them.
void expect_near(double found, double wanted, double largest, const std::string& where) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(found)) << where << ": " << found;
  } else if (found != wanted) {  // both may be infinite
    EXPECT_NEAR(found, wanted, largest * 1e-6) << where;
  }
}

// The map cell by cell against the records, each decoded from the file.
void expect_map_of_records(RunIndex& run, const std::vector<std::string>& tags, int width, const Range& range) {
  std::vector<std::vector<TensorStatistics>> decoded;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const std::string& tag : tags) {
    std::vector<TensorStatistics>& row = decoded.emplace_back();
    const auto refs = run.values(tag, TagKind::statistics, range, History::newest);
    ASSERT_TRUE(refs) << refs.status().message();
    for (const ValueRef& ref : *refs) {
      row.push_back(*run.read_statistics(ref));
      first = std::min(first, row.back().step);
      last = std::max(last, row.back().step);
    }
  }
  if (range.first_step != Range().first_step) first = range.first_step;
  if (range.last_step != Range().last_step) last = range.last_step;
  for (const Statistic statistic : kAll) {
    const auto map = run.statistics_map(tags, statistic, width, range);
    ASSERT_TRUE(map) << map.status().message();
    EXPECT_EQ(map->first_step, first);
    EXPECT_EQ(map->last_step, last);
    for (std::size_t row = 0; row < tags.size(); ++row) {
      std::map<std::size_t, std::vector<const TensorStatistics*>> cells;
      for (const TensorStatistics& one : decoded[row]) {
        const double at = static_cast<double>(one.step - first) * (width / static_cast<double>(last - first + 1));
        cells[std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(width) - 1)].push_back(&one);
      }
      for (std::size_t column = 0; column < static_cast<std::size_t>(width); ++column) {
        const std::size_t cell = row * static_cast<std::size_t>(width) + column;
        const std::string where = std::string(to_string(statistic)) + " of " + tags[row] + " in column " +
                                  std::to_string(column) + " of " + std::to_string(width);
        double low = kNaN;
        double high = kNaN;
        double sum = 0;
        std::size_t finite = 0;
        std::uint32_t nan = 0;
        std::uint32_t infinite = 0;
        for (const TensorStatistics* one : cells[column]) {
          nan += one->nan > 0 ? 1 : 0;
          infinite += one->positive_infinity + one->negative_infinity > 0 ? 1 : 0;
          const double value = defined(*one, statistic);
          if (!std::isfinite(value)) continue;
          low = finite == 0 ? value : std::min(low, value);
          high = finite == 0 ? value : std::max(high, value);
          sum += value;
          ++finite;
        }
        ASSERT_EQ(map->count[cell], cells[column].size()) << where;
        ASSERT_EQ(map->nan[cell], nan) << where;
        ASSERT_EQ(map->infinite[cell], infinite) << where;
        const double largest = std::max(std::abs(low), std::abs(high));
        expect_near(map->min[cell], low, largest, where);
        expect_near(map->max[cell], high, largest, where);
        expect_near(map->mean[cell], finite > 0 ? sum / static_cast<double>(finite) : kNaN, largest, where);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

std::vector<std::string> tags_of(std::uint32_t tensors) {
  std::vector<std::string> tags;
  for (std::uint32_t id = 0; id < tensors; ++id) tags.push_back(StatisticsFile::tag(id));
  return tags;
}

// Random tensors, some of them not at every step, some with non-finite values, in steps with gaps.
StatisticsFile::Entries any_entries(std::mt19937_64& random, std::uint32_t tensors, std::int64_t step) {
  StatisticsFile::Entries entries;
  for (std::uint32_t id = 0; id < tensors; ++id) {
    if (id == 1 && step % 10 != 0) continue;     // seldom
    if (id == 2 && random() % 3 == 0) continue;  // now and then
    std::vector<double> values;
    for (int i = 0; i < 5; ++i) {
      const auto magnitude = static_cast<double>(random() % 2001) / 1000 - 1;
      values.push_back(magnitude * (id == 3 ? 1e200 : id == 4 ? 1e-60 : 1));  // beyond f32
    }
    if (id == 5) values.assign(300, static_cast<double>(step));
    if (random() % 40 == 0) values[0] = kNaN;
    if (random() % 40 == 0) values[1] = -kInfinity;
    if (random() % 60 == 0) values.assign(2, kNaN);
    if (id == 6) values.back() = 0;
    entries.emplace_back(id, summary_of(values));
  }
  return entries;
}

TEST(StatisticsMap, MatchesTheRecordsInEachCell) {
  constexpr std::uint32_t kTensors = 8;
  base::TempDir dir;
  std::mt19937_64 random(3);
  StatisticsFile file(kTensors);
  // More than a chunk has records, and a gap in the middle.
  for (std::int64_t step = 0; step < 3'000; ++step) {
    if (step == 1'000) step = 1'200;
    file.step(step, kStart + static_cast<double>(step), any_entries(random, kTensors, step));
  }
  append(dir / kFirst, file.take());
  RunIndex run("r", dir / "r", "");
  run.update();
  const auto tags = tags_of(kTensors);
  for (const int width : {1, 2, 37, 1'000}) expect_map_of_records(run, tags, width, {});
  expect_map_of_records(run, tags, 100, {.first_step = 950, .last_step = 1'300});
  expect_map_of_records(run, tags, 10, {.first_step = 1'001, .last_step = 1'100});  // the gap
  expect_map_of_records(run, tags, 64, {.first_step = 2'900, .last_step = 9'000});
}

TEST(StatisticsMap, KnowsRestartsAndPointsOutOfOrderAndSeveralWriters) {
  constexpr std::uint32_t kTensors = 7;
  base::TempDir dir;
  std::mt19937_64 random(4);
  StatisticsFile first(kTensors);
  for (const std::int64_t step : {0, 1, 2, 5, 4, 3, 6, 7, 8, 9}) {
    first.step(step, kStart + 1, any_entries(random, kTensors, step));
  }
  StatisticsFile second(kTensors);  // begins after the first has ended
  for (std::int64_t step = 6; step < 1'500; ++step) {
    second.step(step, kStart + 1'000 + static_cast<double>(step), any_entries(random, kTensors, step));
  }
  StatisticsFile third(kTensors);  // at the same time as the second
  for (std::int64_t step = 100; step < 200; ++step) {
    third.step(step, kStart + 1'500 + static_cast<double>(step), any_entries(random, kTensors, step));
  }
  append(dir / kFirst, first.take());
  append(dir / kSecond, second.take());
  append(dir / "r/stats.1700001500.h.3.0.tfrecord", third.take());
  RunIndex run("r", dir / "r", "");
  run.update();
  const auto tag = run.tag(StatisticsFile::tag(0), TagKind::statistics);
  EXPECT_EQ(tag->points, 6U + 1'494 + 100);
  EXPECT_EQ(tag->written_again, 4U);
  EXPECT_EQ(tag->last_step, 1'499);
  for (const int width : {3, 100}) expect_map_of_records(run, tags_of(kTensors), width, {});
}

TEST(StatisticsMap, FollowsAFileThatGrows) {
  constexpr std::uint32_t kTensors = 3;
  base::TempDir dir;
  base::TempDir cache;
  std::mt19937_64 random(5);
  StatisticsFile file(kTensors);
  auto run = std::make_unique<RunIndex>("r", dir / "r", cache / "x.index");
  std::int64_t step = 0;
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 300; ++i, ++step) {
      file.step(step, kStart + static_cast<double>(step), any_entries(random, kTensors, step));
    }
    append(dir / kFirst, file.take());
    run->update();
    EXPECT_EQ(run->tag(StatisticsFile::tag(0), TagKind::statistics)->points, static_cast<std::uint64_t>(step));
    expect_map_of_records(*run, tags_of(kTensors), 50, {});
    if (round % 3 == 1) {  // and continues from the cache
      EXPECT_TRUE(run->remember(1));
      run = std::make_unique<RunIndex>("r", dir / "r", cache / "x.index");
    }
  }
}

TEST(StatisticsMap, HasRowsForTagsThatAreNotThere) {
  base::TempDir dir;
  StatisticsFile file(1);
  file.step(3, kStart, {{0, summary_of({1, 2})}});
  file.step(4, kStart, {{0, summary_of({3})}}, true);
  append(dir / kFirst, file.take());
  RunIndex run("r", dir / "r", "");
  run.update();
  const auto map = run.statistics_map({"nothing", "activation/t0", "eval/activation/t0"}, Statistic::max, 2, {});
  ASSERT_TRUE(map) << map.status().message();
  EXPECT_THAT(map->found, ElementsAre(false, true, true));
  EXPECT_EQ(map->first_step, 3);
  EXPECT_EQ(map->last_step, 4);
  EXPECT_THAT(map->count, ElementsAre(0, 0, 1, 0, 0, 1));
  EXPECT_EQ(map->max[2], 2);
  EXPECT_EQ(map->max[5], 3);
  EXPECT_FALSE(run.statistics_map({}, Statistic::max, 0, {}));
  EXPECT_FALSE(run.statistics_map({}, Statistic::max, 20'000, {}));
  EXPECT_TRUE(run.statistics_map({}, Statistic::max, 5, {}));
}

TEST(Statistic, AtEveryStepIsAColumn) {
  base::TempDir dir;
  StatisticsFile file(2);
  file.step(0, kStart, {{0, summary_of({3, 4})}});
  file.step(2, kStart + 2, {{0, summary_of({kNaN})}, {1, summary_of({1})}});
  file.step(1, kStart + 1, {{0, summary_of({-5})}});
  append(dir / kFirst, file.take());
  const sonde::Run run = *open(dir.path()).run("r");
  const auto column = run.statistic("activation/t0", Statistic::l2);
  ASSERT_TRUE(column) << column.status().message();
  EXPECT_THAT(column->steps, ElementsAre(0, 1, 2));
  EXPECT_FLOAT_EQ(static_cast<float>(column->values[0]), 5);
  EXPECT_FLOAT_EQ(static_cast<float>(column->values[1]), 5);
  EXPECT_TRUE(std::isnan(column->values[2]));
  EXPECT_THAT(run.statistic("activation/t0", Statistic::l2, {.first_step = 1, .last_step = 1})->steps, ElementsAre(1));
  EXPECT_FALSE(run.statistic("activation/t9", Statistic::l2));
  EXPECT_EQ(*statistic_of("peak_factor"), Statistic::peak_factor);
  EXPECT_FALSE(statistic_of("peak"));
}

// A log with enough statistics for chunk files.
class ManyStatistics : public testing::Test {
 protected:
  static constexpr std::uint32_t kTensors = 100;
  ManyStatistics() {
    std::mt19937_64 random(6);
    StatisticsFile file(kTensors);
    for (std::int64_t step = 0; step < 3'000; ++step) {
      StatisticsFile::Entries entries;
      for (std::uint32_t id = 0; id < kTensors; ++id) {
        entries.emplace_back(id, summary_of({static_cast<double>(random() % 1000), static_cast<double>(step)}));
      }
      file.step(step, kStart + static_cast<double>(step), entries);
    }
    append(dir_ / kFirst, file.take());
  }
  std::vector<std::string> chunk_files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(cache_.path())) {
      if (entry.path().extension() == ".columns") files.push_back(entry.path().string());
    }
    return files;
  }
  StatisticsMap map() {
    RunIndex run("r", dir_ / "r", cache_ / "x.index");
    run.update();
    const auto made = run.statistics_map(tags_of(kTensors), Statistic::rms, 300, {});
    EXPECT_TRUE(made) << made.status().message();
    run.remember(1);
    return *made;
  }

  base::TempDir dir_;
  base::TempDir cache_;
};

TEST_F(ManyStatistics, ComeFromTheCacheTheNextTime) {
  const StatisticsMap first = map();
  const auto files = chunk_files();
  EXPECT_GE(files.size(), 2U);
  const StatisticsMap again = map();
  EXPECT_EQ(again.mean, first.mean);
  EXPECT_EQ(again.count, first.count);
  EXPECT_EQ(chunk_files(), files) << "nothing was written again";
  RunIndex run("r", dir_ / "r", cache_ / "x.index");
  run.update();
  expect_map_of_records(run, {StatisticsFile::tag(0), StatisticsFile::tag(99)}, 77, {});
}

TEST_F(ManyStatistics, AreReadAgainIfAFileOfTheCacheIsDamagedOrMissing) {
  const StatisticsMap first = map();
  const std::string bytes = *base::read_file(chunk_files().front());
  for (const std::size_t at : {std::size_t{0}, std::size_t{4}, std::size_t{20}, bytes.size() / 2, bytes.size() - 1}) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    overwrite(chunk_files().front(), bad);
    EXPECT_EQ(map().mean, first.mean) << at;
  }
  overwrite(chunk_files().front(), bytes.substr(0, bytes.size() / 2));
  EXPECT_EQ(map().mean, first.mean);
  std::filesystem::remove(chunk_files().front());
  EXPECT_EQ(map().mean, first.mean);
  overwrite(cache_ / "x.index", "SONDEIDX of another version");
  EXPECT_EQ(map().mean, first.mean);
  const std::size_t files = chunk_files().size();
  EXPECT_EQ(map().mean, first.mean);
  EXPECT_EQ(chunk_files().size(), files) << "those of no use are removed";
}

TEST_F(ManyStatistics, StayInMemoryIfNothingCanBeWritten) {
  const StatisticsMap wanted = map();
  RunIndex run("r", dir_ / "r", cache_ / "no such directory/x.index");
  run.update();
  EXPECT_EQ(run.statistics_map(tags_of(kTensors), Statistic::rms, 300, {})->mean, wanted.mean);
}

TEST_F(ManyStatistics, LoseOnlyTheDamagedRecordInTheMiddle) {
  std::string bytes = *base::read_file(dir_ / kFirst);
  bytes[bytes.size() / 2] ^= 1;
  overwrite(dir_ / kFirst, bytes);
  RunIndex run("r", dir_ / "r", cache_ / "x.index");
  run.update();
  EXPECT_EQ(run.damage().size(), 1U);
  const auto refs = run.values(StatisticsFile::tag(7), TagKind::statistics, {}, History::newest);
  ASSERT_TRUE(refs);
  EXPECT_EQ(refs->size(), 2'999U);
  expect_map_of_records(run, {StatisticsFile::tag(0), StatisticsFile::tag(99)}, 77, {});
}

// ---- One tensor: every answer against the records, each decoded as a whole.

TEST(StatisticsOfATensor, AreWhatItsRecordsSay) {
  constexpr std::uint32_t kTensors = 8;
  base::TempDir dir;
  std::mt19937_64 random(9);
  StatisticsFile file(kTensors);
  for (std::int64_t step = 0; step < 2'500; ++step) {
    file.step(step, kStart + static_cast<double>(step), any_entries(random, kTensors, step), step % 7 == 0);
  }
  append(dir / kFirst, file.take());
  RunIndex run("r", dir / "r", "");
  run.update();
  constexpr Range kRange = {.first_step = 100, .last_step = 2'300};
  for (const std::string& tag : {StatisticsFile::tag(1), StatisticsFile::tag(3), "eval/" + StatisticsFile::tag(4)}) {
    const auto refs = run.values(tag, TagKind::statistics, kRange, History::newest);
    ASSERT_TRUE(refs) << refs.status().message();
    for (const std::size_t most : {std::size_t{1}, std::size_t{2}, std::size_t{50}, std::size_t{10'000}}) {
      const auto columns = run.statistics_columns(tag, kRange, most);
      ASSERT_TRUE(columns) << columns.status().message();
      const std::size_t count = std::min(most, refs->size());
      EXPECT_EQ(columns->total, refs->size());
      ASSERT_EQ(columns->steps.size(), count);
      for (std::size_t n = 0; n < count; ++n) {
        const ValueRef& ref = (*refs)[store::spread(n, count, refs->size())];
        const auto record = stats_record::decode_record(base::as_bytes(*run.read_record(ref)));
        const auto& step = std::get<stats_record::Step>(*record);
        const stats::Summary& summary = step.entries.at(ref.part).summary;
        EXPECT_EQ(columns->steps[n], step.step);
        EXPECT_EQ(columns->wall_times[n], step.wall_time);
        const std::array counts = {
            summary.count, summary.nan,      summary.positive_infinity, summary.negative_infinity,
            summary.zeros, summary.negatives};
        for (std::size_t c = 0; c < counts.size(); ++c) ASSERT_EQ(columns->counts[c][n], counts[c]) << tag << " " << c;
        const std::array numbers = {summary.min, summary.max, summary.mean, summary.stddev(), summary.sum_abs};
        for (std::size_t c = 0; c < numbers.size(); ++c) {
          expect_near(columns->numbers[c][n], numbers[c], std::abs(numbers[c]), tag + " " + std::to_string(c));
        }
      }
    }
  }
  EXPECT_EQ(run.statistics_columns(StatisticsFile::tag(1), {.first_step = 9'000}, 5)->total, 0U);
  EXPECT_EQ(run.statistics_columns("activation/none", {}, 5).status().code(), Code::not_found);
}

TEST(StatisticsOfATensor, HaveFormAndHistogramOfTheirOwnEntry) {
  base::TempDir dir;
  StatisticsFile file(3);
  std::string bytes = file.take();
  const stats_record::Form form = {DType::f16, {7, 2}};
  for (int number = 0; number < 20; ++number) {
    stats_record::StepWriter writer(bytes, number, kStart + number, false);
    for (std::uint32_t id = 0; id < 3; ++id) {
      const std::vector<double> data = {static_cast<double>(number), static_cast<double>(id), -1.5};
      stats::Histogram histogram;
      const stats::Summary summary = *stats::summarize(view(data), histogram);
      const bool has_histogram = (number + static_cast<int>(id)) % 3 != 0;
      writer.add(
          {.id = id, .occurrence = id == 2 ? 1U : 0U, .form = number % 4 == static_cast<int>(id) ? &form : nullptr},
          summary, has_histogram ? &histogram : nullptr);
    }
    writer.end();
  }
  append(dir / kFirst, bytes);
  RunIndex run("r", dir / "r", "");
  run.update();
  for (const Tag& tag : run.tags()) {
    const auto refs = run.values(tag.name, TagKind::statistics, {}, History::newest);
    ASSERT_EQ(refs->size(), 20U);
    for (const ValueRef& ref : *refs) {
      const std::string payload = *run.read_record(ref);
      const auto record = stats_record::decode_record(base::as_bytes(payload));
      const stats_record::Entry& entry = std::get<stats_record::Step>(*record).entries.at(ref.part);
      const auto read = run.read_statistics(ref);
      ASSERT_TRUE(read) << read.status().message();
      EXPECT_EQ(read->max, entry.summary.max);
      EXPECT_EQ(read->sum_abs, entry.summary.sum_abs);
      EXPECT_EQ(read->dtype, entry.form ? entry.form->dtype : stats_record::Form().dtype);
      EXPECT_EQ(read->shape, entry.form ? entry.form->shape : Shape());
      ASSERT_EQ(read->histogram.empty(), !entry.histogram.has_value());
      if (!entry.histogram) continue;
      const auto histogram = stats_record::decode_histogram(*entry.histogram);
      ASSERT_EQ(read->histogram.size(), histogram->bins().size());
      for (std::size_t i = 0; i < read->histogram.size(); ++i) {
        EXPECT_EQ(read->histogram[i].left, stats::Histogram::lower(histogram->bins()[i].key));
        EXPECT_EQ(read->histogram[i].count, static_cast<double>(histogram->bins()[i].count));
      }
    }
    const auto columns = run.statistics_columns(tag.name, {.last_step = 16}, 5);
    const auto last = run.read_statistics((*refs)[16]);
    EXPECT_EQ(columns->dtype, last->dtype);
    EXPECT_EQ(columns->shape, last->shape);
    ValueRef outside = refs->front();
    outside.part = 3;
    EXPECT_EQ(run.read_statistics(outside).status().code(), Code::invalid_argument);
  }
}

// ---- Chunks.

TEST(StatStream, HasTheSameChunksWhoeverPacksThem) {
  enum class Who : std::uint8_t { reader, another_thread, nobody_in_time };
  const auto chunks_by = [](Who who) {
    std::mt19937_64 random(4);
    std::vector<StatTrack> tracks(300);
    StatStream stream;
    base::SerialQueue thread("packing");
    ChunkOutput output;
    if (who == Who::another_thread) output.hand_over = [&](std::function<void()> job) { thread.push(std::move(job)); };
    if (who == Who::nobody_in_time) output.hand_over = [](const std::function<void()>&) {};
    for (std::uint64_t record = 0; record < 2'000; ++record) {
      stream.begin_record(record * 100, output);
      if (record % 500 < 3) continue;  // records without a tensor
      for (std::uint32_t t = 0; t < tracks.size(); ++t) {
        if (t == 5 && record % 9 != 0) continue;
        StatValues values = stat_values(summary_of({static_cast<double>(random() % 1000), 1}));
        if (t == 7) values.numbers[0] = 1e300;
        if (t == 8) values.counts = {std::uint64_t{1} << 40, 1, 2, 3, 4, 5};
        stream.add(tracks[t], t, values);
      }
    }
    stream.pack();
    std::vector<std::string> chunks;
    for (std::size_t i = 0; i < stream.chunks(); ++i) {
      std::string packed;
      const StatChunk chunk = stream.chunk(i);
      for (std::size_t row = 0; row < chunk.rows(); ++row) {
        for (std::size_t n = 0; n < chunk.size(row); ++n) {
          const StatValues values = chunk.values(row, n);
          base::put_varint(packed, stream.first_record(i) + chunk.record(row, n));
          base::put_varint(packed, chunk.part(row, n));
          for (const double number : values.numbers) base::put(packed, number);
          for (const std::uint64_t count : values.counts) base::put_varint(packed, count);
        }
      }
      chunks.push_back(std::move(packed));
    }
    std::string saved;
    stream.save(saved);
    chunks.push_back(std::move(saved));
    EXPECT_EQ(tracks[7].size, 1'988U);
    EXPECT_EQ(stream.chunk(0).values(tracks[7].places[0].row, 0).numbers[0], 1e300);
    EXPECT_EQ(stream.chunk(0).values(tracks[8].places[0].row, 0).counts[0], std::uint64_t{1} << 40);
    EXPECT_EQ(tracks[8].non_finite.size(), tracks[8].size);
    return chunks;
  };
  const std::vector<std::string> wanted = chunks_by(Who::reader);
  EXPECT_GT(wanted.size(), 4U);
  EXPECT_EQ(chunks_by(Who::another_thread), wanted);
  EXPECT_EQ(chunks_by(Who::nobody_in_time), wanted);
}

TEST(StatChunk, ComesBackFromItsBytesAsItWas) {
  StatEntries entries;
  entries.rows = 3;
  std::mt19937_64 random(8);
  for (std::uint32_t record = 0; record < 200; ++record) {
    for (std::uint32_t row = 0; row < 3; ++row) {
      if (row == 1 && record % 4 != 0) continue;
      const double scale = row == 2 && record % 10 == 0 ? 1e-100 : 1;
      entries.add(row, static_cast<std::uint32_t>(entries.all.size() % 3), stat_values(summary_of({scale, 2 * scale})));
    }
    entries.ends.push_back(static_cast<std::uint32_t>(entries.all.size()));
  }
  const std::string bytes = StatChunk::encode(entries);
  ASSERT_TRUE(StatChunk::is_valid(base::as_bytes(bytes)));
  EXPECT_EQ(StatChunk::encode(StatChunk(base::as_bytes(bytes)).decode()), bytes);
}

TEST(DamagedDefinition, OfAProbeIsRecoveredFromALaterOne) {
  base::TempDir dir;
  base::TempDir cache;
  StatisticsFile file(1);
  std::string damaged = file.take();
  damaged[damaged.size() / 2] ^= 1;
  file.step(0, kStart, {{0, summary_of({1})}});
  file.step(1, kStart, {{0, summary_of({2})}}, true);
  append(dir / kFirst, damaged + file.take());
  const auto names = [](RunIndex& run) {
    std::vector<std::string> found;
    for (const Tag& tag : run.tags()) found.push_back(tag.name);
    return found;
  };
  {
    RunIndex run("r", dir / "r", cache / "x.index");
    run.update();
    EXPECT_THAT(names(run), ElementsAre("activation/?0", "eval/activation/?0")) << "nothing says what it is";
    run.remember(1);
  }
  file.step(2, kStart, {{0, summary_of({3})}});
  file.define(0);
  file.step(3, kStart, {{0, summary_of({4})}});
  append(dir / kFirst, file.take());
  for (int round = 0; round < 2; ++round) {  // from the cache, and from the beginning
    RunIndex run("r", dir / "r", round == 0 ? cache / "x.index" : "");
    run.update();
    EXPECT_THAT(names(run), ElementsAre("activation/t0", "eval/activation/t0"));
    EXPECT_THAT(run.statistic("activation/t0", Statistic::max, {}, History::newest)->values, ElementsAre(1, 3, 4));
    EXPECT_EQ(run.damage().size(), 1U);
  }
}

}  // namespace
}  // namespace sonde::index
