#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "formats/stats_record.h"
#include "query/query_testing.h"
#include "stats/summary.h"

namespace sonde::query {
namespace {

using index::append;
using testing::HasSubstr;

// A tensor that grows from step to step, and another one at every second step, with a NaN at step 2.
std::string two_tensors() {
  std::string file;
  stats_record::put_definition(file, {.id = 1, .name = "a"});
  stats_record::put_definition(file, {.id = 2, .name = "b"});
  for (int step = 0; step < 4; ++step) {
    stats_record::StepWriter writer(file, step, index::kStart + step, false);
    const std::vector<float> values = {static_cast<float>(step), static_cast<float>(-step)};
    writer.add({.id = 1}, *stats::summarize(view(values)), nullptr);
    const std::vector<float> others = {1, step == 2 ? NAN : 3};
    if (step % 2 == 0) writer.add({.id = 2}, *stats::summarize(view(others)), nullptr);
    writer.end();
  }
  return file;
}

template <class Number>
std::vector<Number> numbers(std::string_view body, std::size_t at, std::size_t count) {
  std::vector<Number> found(count);
  EXPECT_LE(at + count * sizeof(Number), body.size());
  std::memcpy(found.data(), body.data() + at, count * sizeof(Number));
  return found;
}

TEST(StatisticsMap, IsColumnsOfCells) {
  base::TempDir dir;
  append(dir / "r/stats.1.h.1.0.tfrecord", two_tensors());
  Asked asked(dir.path());
  const Answer answer =
      asked.post("statistics/map",
                 R"({"run": "r", "tags": ["activation/a", "none", "activation/b"], "statistic": "max", "width": 2})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.content_type, "application/octet-stream");
  const std::string_view body = answer.body;
  EXPECT_EQ(body.substr(0, 4), "SNDM");
  EXPECT_EQ(numbers<std::uint32_t>(body, 4, 3), (std::vector<std::uint32_t>{1, 3, 2}));
  EXPECT_EQ(numbers<double>(body, 16, 2), (std::vector<double>{0, 3}));
  EXPECT_EQ(numbers<std::uint32_t>(body, 32, 3), (std::vector<std::uint32_t>{0, 1, 0}));
  const std::size_t begin = 48;
  constexpr std::size_t kCells = 6;
  const auto min = numbers<double>(body, begin, kCells);
  const auto mean = numbers<double>(body, begin + 8 * kCells, kCells);
  const auto max = numbers<double>(body, begin + 16 * kCells, kCells);
  EXPECT_EQ(min[0], 0);
  EXPECT_EQ(mean[0], 0.5);
  EXPECT_EQ(max[0], 1);
  EXPECT_EQ(max[1], 3);
  EXPECT_TRUE(std::isnan(mean[2])) << "there is no such tag";
  EXPECT_EQ(max[4], 3);
  EXPECT_EQ(max[5], 1);
  const std::size_t counts = begin + 24 * kCells;
  EXPECT_EQ(numbers<std::uint32_t>(body, counts, kCells), (std::vector<std::uint32_t>{2, 2, 0, 0, 1, 1}));
  EXPECT_EQ(numbers<std::uint32_t>(body, counts + 4 * kCells, kCells), (std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(body.size(), counts + 12 * kCells);
}

TEST(StatisticsMap, OfARangeOfSteps) {
  base::TempDir dir;
  append(dir / "r/stats.1.h.1.0.tfrecord", two_tensors());
  Asked asked(dir.path());
  const Answer answer =
      asked.post("statistics/map",
                 R"({"run": "r", "tags": ["activation/a"], "statistic": "count", "width": 1, "range": [2, null]})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(numbers<double>(answer.body, 16, 2), (std::vector<double>{2, 3}));
  EXPECT_EQ(numbers<std::uint32_t>(answer.body, 40 + 24, 1).front(), 2U);
}

TEST(StatisticsMap, RejectsInvalidRequests) {
  base::TempDir dir;
  append(dir / "r/stats.1.h.1.0.tfrecord", two_tensors());
  Asked asked(dir.path());
  const auto asks = [&](std::string_view body) { return asked.post("statistics/map", body); };
  const Answer unknown = asks(R"({"run": "r", "tags": [], "statistic": "colour"})");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("peak_factor"));
  EXPECT_EQ(asks(R"({"run": "x", "tags": [], "statistic": "rms"})").status, 404);
  EXPECT_EQ(asks(R"({"run": "r", "tags": "a", "statistic": "rms"})").status, 400);
  EXPECT_EQ(asks(R"({"run": "r", "tags": [], "statistic": "rms", "width": 0})").status, 400);
  EXPECT_EQ(asks(R"({"run": "r", "statistic": "rms"})").status, 400);
}

}  // namespace
}  // namespace sonde::query
