#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "query/query_testing.h"

namespace sonde::query {
namespace {

using index::append;
using index::kEvents;
using index::kStart;
using index::scalar;
using index::version;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Values = std::vector<double>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A noisy series with some points that are not finite, of many blocks.
class Series : public testing::Test {
 protected:
  static constexpr int kPoints = 20'000;
  static void SetUpTestSuite() {
    dir_ = std::make_unique<base::TempDir>();
    std::mt19937 random(1);
    std::normal_distribution<double> noise;
    std::string file = version();
    for (int i = 0; i < kPoints; ++i) {
      const double value = i % 1'777 == 5 ? kNaN : i == 9'000 ? kInfinity : i == 9'001 ? -kInfinity : noise(random);
      file += scalar("loss", i * 3, value);
    }
    append(*dir_ / "train/" + std::string(kEvents), file);
    append(*dir_ / "short/" + std::string(kEvents),
           version() + scalar("loss", 10, 1) + scalar("loss", 20, 2) + scalar("loss", 30, 4));
    asked_ = std::make_unique<Asked>(dir_->path());
    points_ = *asked_->log().run("train")->scalars("loss");
  }
  static void TearDownTestSuite() {
    asked_.reset();
    dir_.reset();
  }

  static ReadSeries ask(const std::string& rest, const std::string& run = "train") {
    const auto all =
        read_series(asked_->post("series", R"({"series":[{"run":")" + run + R"(","tag":"loss"}])" + rest + "}"));
    return all.empty() ? ReadSeries{} : all.front();
  }
  // TensorBoard's loop, point by point; but a non-finite point is a gap of its steps.
  static Values smoothed(double weight) {
    Values out;
    double last = 0;
    double bias = 1;
    double passed = 1;  // points since the last finite one
    for (const double value : points_.values) {
      if (!std::isfinite(value)) {
        out.push_back(kNaN);
        ++passed;
        continue;
      }
      // sum = sum * weight^passed + value, and the mass in the same way, times (1 - weight)
      const double factor = std::pow(weight, passed);
      last = last * factor + (1 - weight) * value;
      bias = 1 - ((1 - bias) * factor + (1 - weight));
      passed = 1;
      out.push_back(last / (1 - bias));
    }
    return out;
  }
  static std::size_t place_of(double step) { return static_cast<std::size_t>(step) / 3; }

  static std::unique_ptr<base::TempDir> dir_;
  static std::unique_ptr<Asked> asked_;
  static Scalars points_;
};
std::unique_ptr<base::TempDir> Series::dir_;
std::unique_ptr<Asked> Series::asked_;
Scalars Series::points_;

// Of each of `width` columns of [first, last] the extremes, by brute force.
std::map<int, std::pair<double, double>> extremes(const std::vector<std::int64_t>& steps, const Values& values,
                                                  std::int64_t first, std::int64_t last, int width) {
  std::map<int, std::pair<double, double>> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] < first || steps[i] > last || !std::isfinite(values[i])) continue;
    const int column =
        static_cast<int>(static_cast<double>(steps[i] - first) * width / static_cast<double>(last - first + 1));
    const auto [at, is_new] = found.try_emplace(column, values[i], values[i]);
    at->second.first = std::min(at->second.first, values[i]);
    at->second.second = std::max(at->second.second, values[i]);
  }
  return found;
}

void expect_near(const std::map<int, std::pair<double, double>>& a, const std::map<int, std::pair<double, double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [column, pair] : a) {
    ASSERT_TRUE(b.contains(column));
    EXPECT_NEAR(pair.first, b.at(column).first, 1e-9) << column;
    EXPECT_NEAR(pair.second, b.at(column).second, 1e-9) << column;
  }
}

std::vector<std::int64_t> whole(const Values& steps) { return {steps.begin(), steps.end()}; }

TEST_F(Series, HasTheExtremesOfEveryPixelColumn) {
  const ReadSeries series = ask(R"(,"width":100)");
  EXPECT_EQ(series.status, 0U);
  EXPECT_EQ(series.total, 20'000U);
  EXPECT_LE(series.steps.size(), 400U);
  const std::int64_t last = points_.steps.back();
  expect_near(extremes(whole(series.steps), series.values, 0, last, 100),
              extremes(points_.steps, points_.values, 0, last, 100));
}

TEST_F(Series, SmoothsOverAllPointsWhicheverPartIsDrawn) {
  for (const double weight : {0.3, 0.9, 0.999}) {
    const Values expected = smoothed(weight);
    for (const auto& [range, first, last] :
         {std::tuple(R"(,"range":[null,null])", std::int64_t{0}, points_.steps.back()),
          std::tuple(R"(,"range":[30000,30100])", std::int64_t{30'000}, std::int64_t{30'100}),
          std::tuple(R"(,"range":[12345,45678])", std::int64_t{12'345}, std::int64_t{45'678})}) {
      const ReadSeries series = ask(range + std::string(R"(,"width":70,"smooth":)") + std::to_string(weight));
      ASSERT_FALSE(series.smooth_steps.empty());
      for (std::size_t i = 0; i < series.smooth_steps.size(); ++i) {
        ASSERT_NEAR(series.smooth_values[i], expected[place_of(series.smooth_steps[i])], 1e-9);
        ASSERT_EQ(series.smooth_times[i], kStart + series.smooth_steps[i]);
      }
      expect_near(extremes(whole(series.smooth_steps), series.smooth_values, first, last, 70),
                  extremes(points_.steps, expected, first, last, 70));
    }
  }
}

TEST_F(Series, WithoutSmoothingHasNoSmoothedLine) {
  EXPECT_THAT(ask("").smooth_steps, IsEmpty());
  EXPECT_THAT(ask(R"(,"smooth":0)").smooth_steps, IsEmpty());
}

TEST_F(Series, MarksNonFinitePoints) {
  const ReadSeries series = ask(R"(,"range":[26999,27004],"width":1)");
  EXPECT_THAT(series.bad_steps, ElementsAre(27'000));
  EXPECT_THAT(series.bad_times, ElementsAre(kStart + 27'000));
  EXPECT_THAT(series.positive, ElementsAre(1));
  EXPECT_THAT(series.negative, ElementsAre(1));
  EXPECT_EQ(series.total, 2U);
  const ReadSeries all = ask(R"(,"width":10)");
  std::uint32_t nan = 0;
  for (const std::uint32_t one : all.nan) nan += one;
  EXPECT_EQ(nan, std::ranges::count_if(points_.values, [](double value) { return std::isnan(value); }));
}

TEST_F(Series, HasTheNearestFinitePointOnEachSideOfItsRange) {
  // 8,999 is the last finite one before two infinities.
  EXPECT_THAT(ask(R"(,"range":[27000,27003],"smooth":0.5)").steps, ElementsAre(26'997, 27'006));
  EXPECT_THAT(ask(R"(,"range":[27000,27003],"smooth":0.5)").smooth_steps, ElementsAre(26'997, 27'006));
  EXPECT_THAT(ask(R"(,"range":[12.5,13.5])", "short").steps, ElementsAre(10, 20));
  EXPECT_THAT(ask(R"(,"range":[15,25])", "short").steps, ElementsAre(10, 20, 30));
  EXPECT_THAT(ask(R"(,"range":[31,99])", "short").steps, ElementsAre(30));
  EXPECT_THAT(ask(R"(,"range":[null,15])", "short").steps, ElementsAre(10, 20));
  EXPECT_EQ(ask(R"(,"range":[15,25])", "short").total, 1U);
}

TEST_F(Series, KnowsWallAndRelativeTimes) {
  const auto seconds = [](double time) { return std::to_string(time); };
  const ReadSeries wall =
      ask(R"(,"axis":"wall","range":[)" + seconds(kStart + 15) + "," + seconds(kStart + 25) + "]", "short");
  EXPECT_THAT(wall.steps, ElementsAre(10, 20, 30));
  EXPECT_EQ(wall.total, 1U);
  const ReadSeries relative = ask(R"(,"axis":"relative","range":[5,15])", "short");
  EXPECT_THAT(relative.steps, ElementsAre(10, 20, 30));
  EXPECT_EQ(relative.total, 1U);
}

TEST_F(Series, AnswersManyAtOnceAndMarksThoseThatAreNotThere) {
  const auto all = read_series(asked_->post(
      "series",
      R"({"series":[{"run":"short","tag":"loss"},{"run":"none","tag":"loss"},{"run":"short","tag":"none"}],"smooth":0.5})"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0].values, ElementsAre(1, 2, 4));
  EXPECT_EQ(all[1].status, 1U);
  EXPECT_EQ(all[2].status, 1U);
  EXPECT_THAT(all[2].steps, IsEmpty());
}

TEST_F(Series, RejectsInvalidRequests) {
  const auto refused = [&](const std::string& body) {
    const Answer answer = asked_->post("series", body);
    EXPECT_TRUE(answer.status == 400 || answer.status == 413) << answer.status << body;
    return Json(answer.body).text("/error");
  };
  const std::string series = R"("series":[{"run":"short","tag":"loss"}])";
  EXPECT_THAT(refused(""), HasSubstr("not JSON"));
  EXPECT_THAT(refused("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(refused("{}"), HasSubstr("lacks 'series'"));
  EXPECT_THAT(refused("{" + series + R"(,"width":0})"), HasSubstr("from 1 to 16384"));
  EXPECT_THAT(refused("{" + series + R"(,"width":16385})"), HasSubstr("from 1 to 16384"));
  EXPECT_THAT(refused("{" + series + R"(,"smooth":1})"), HasSubstr("below 1"));
  EXPECT_THAT(refused("{" + series + R"(,"smooth":"a"})"), HasSubstr("below 1"));
  EXPECT_THAT(refused("{" + series + R"(,"range":[2,1]})"), HasSubstr("after its end"));
  EXPECT_THAT(refused("{" + series + R"(,"axis":"depth"})"), HasSubstr("'depth'"));
  EXPECT_THAT(refused("{" + series + R"(,"colour":1})"), HasSubstr("'colour'"));
  EXPECT_THAT(refused(R"({"series":[{"run":"short"}]})"), HasSubstr("'tag'"));
  std::string many = R"({"series":[)";
  for (int i = 0; i < 1'001; ++i) many += std::string(i == 0 ? "" : ",") + R"({"run":"a","tag":"b"})";
  EXPECT_EQ(asked_->post("series", many + "]}").status, 413);
  EXPECT_EQ(asked_->post("series", std::string((1U << 20) + 1, ' ')).status, 413);
}

TEST_F(Series, GrowWithTheLogAndStaySmooth) {
  base::TempDir dir;
  const std::string path = dir / std::string("r/") + std::string(kEvents);
  std::string file = version();
  for (int i = 0; i < 30'000; ++i) file += scalar("x", i, std::sin(i));
  append(path, file);
  Asked asked(dir.path());
  const std::string question = R"({"series":[{"run":"r","tag":"x"}],"smooth":0.99,"range":[29990,40000]})";
  (void)asked.post("series", question);
  file.clear();
  for (int i = 30'000; i < 30'700; ++i) file += scalar("x", i, std::sin(i));
  append(path, file);
  asked.log().refresh();
  const auto grown = read_series(asked.post("series", question)).front();
  const auto again = read_series(Asked(dir.path()).post("series", question)).front();
  EXPECT_EQ(grown.total, 710U);
  EXPECT_EQ(grown.smooth_steps, again.smooth_steps);
  EXPECT_EQ(grown.smooth_values, again.smooth_values);
}

TEST_F(Series, OfSeveralWritersAtOnceAreSmoothedByStep) {
  base::TempDir dir;
  std::string even = version();
  std::string odd = version();
  for (int i = 0; i < 100; ++i) (i % 2 == 0 ? even : odd) += scalar("x", i, i * i % 17);
  append(dir / std::string("r/") + std::string(kEvents), even);
  append(dir / "r/events.out.tfevents.1700000000.host.2.0", odd);
  Asked asked(dir.path());
  const auto series = read_series(asked.post("series", R"({"series":[{"run":"r","tag":"x"}],"smooth":0.9})")).front();
  ASSERT_EQ(series.smooth_steps.size(), 100U);
  double last = 0;
  for (int i = 0; i < 100; ++i) {
    last = last * 0.9 + 0.1 * (i * i % 17);
    EXPECT_NEAR(series.smooth_values[static_cast<std::size_t>(i)], last / (1 - std::pow(0.9, i + 1)), 1e-9);
  }
}

TEST_F(Series, TableOfAStepIsOfThePointAtOrBeforeIt) {
  const auto row = [&](const std::string& rest) {
    return Json(asked_->post("table", R"({"series":[{"run":"short","tag":"loss"}],)" + rest + "}").body);
  };
  EXPECT_EQ(row(R"("step":25)").number("/rows/0/value"), 2);
  EXPECT_EQ(row(R"("step":20)").number("/rows/0/step"), 20);
  EXPECT_EQ(row(R"("step":1)").number("/rows/0/value"), 1);
  EXPECT_EQ(row(R"("step":99)").number("/rows/0/relative"), 20);
  EXPECT_EQ(row(R"("step":99)").number("/rows/0/time"), kStart + 30);
  // (1 * 0.25 + 2 * 0.5) / 0.75
  EXPECT_NEAR(row(R"("step":20,"smooth":0.5)").number("/rows/0/smoothed"), 1.25 / 0.75, 1e-12);
  EXPECT_EQ(asked_->post("table", R"({"series":[],"step":1,"range":[1,2]})").status, 400);
  EXPECT_EQ(asked_->post("table", R"({"series":[{"run":"short","tag":"loss","step":1}],"range":[1,2]})").status, 400);
}

TEST_F(Series, TableMayAskForAnotherStepOfEachSeries) {
  const Json table(asked_
                       ->post("table", R"({"series":[{"run":"short","tag":"loss","step":20},)"
                                       R"({"run":"short","tag":"loss"}],"step":30})")
                       .body);
  EXPECT_EQ(table.number("/rows/0/step"), 20);
  EXPECT_EQ(table.number("/rows/0/value"), 2);
  EXPECT_EQ(table.number("/rows/1/step"), 30);
  EXPECT_EQ(table.number("/rows/1/value"), 4);
}

TEST_F(Series, AreSmoothedOverTheIntervalThatIsAskedFor) {
  const auto smoothed_with = [&](const std::string& interval) {
    return Json(asked_
                    ->post("table",
                           R"({"series":[{"run":"short","tag":"loss")" + interval + R"(}],"step":20,"smooth":0.5})")
                    .body)
        .number("/rows/0/smoothed");
  };
  EXPECT_NEAR(smoothed_with(""), (0.5 * 1 + 2) / 1.5, 1e-12) << "the series has a point every ten steps";
  EXPECT_NEAR(smoothed_with(R"(,"interval":10)"), (0.5 * 1 + 2) / 1.5, 1e-12);
  EXPECT_NEAR(smoothed_with(R"(,"interval":5)"), (0.25 * 1 + 2) / 1.25, 1e-12);
  EXPECT_NEAR(smoothed_with(R"(,"interval":1)"), (std::pow(0.5, 10) * 1 + 2) / (std::pow(0.5, 10) + 1), 1e-12);
  const ReadSeries drawn =
      read_series(asked_->post("series", R"({"series":[{"run":"short","tag":"loss","interval":5}],"smooth":0.5})"))
          .front();
  EXPECT_NEAR(drawn.smooth_values[1], (0.25 * 1 + 2) / 1.25, 1e-12);
  for (const char* bad : {"0", "-1", "\"x\"", "null"}) {
    const std::string series = std::string(R"({"series":[{"run":"short","tag":"loss","interval":)") + bad + "}]}";
    EXPECT_EQ(asked_->post("series", series).status, 400) << bad;
  }
}

TEST_F(Series, TableOfARangeIsOfItsFinitePoints) {
  const Json table(asked_
                       ->post("table", R"({"series":[{"run":"train","tag":"loss"},{"run":"none","tag":"x"}],)"
                                       R"("range":[26000,50000],"smooth":0.9})")
                       .body);
  double sum = 0;
  double low = kInfinity;
  double low_step = 0;
  int finite = 0;
  int count = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (points_.steps[i] < 26'000 || points_.steps[i] > 50'000) continue;
    ++count;
    if (!std::isfinite(points_.values[i])) continue;
    ++finite;
    sum += points_.values[i];
    if (points_.values[i] < low) low_step = static_cast<double>(points_.steps[i]);
    low = std::min(low, points_.values[i]);
  }
  EXPECT_EQ(table.number("/rows/0/count"), count);
  EXPECT_NEAR(table.number("/rows/0/mean"), sum / finite, 1e-9);
  EXPECT_EQ(table.number("/rows/0/min"), low);
  EXPECT_EQ(table.number("/rows/0/min_step"), low_step);
  EXPECT_EQ(table.number("/rows/0/step"), 49'998);
  EXPECT_NEAR(table.number("/rows/0/smoothed"), smoothed(0.9)[49'998 / 3], 1e-9);
  EXPECT_NEAR(table.number("/rows/0/delta"), table.number("/rows/0/last") - table.number("/rows/0/first"), 1e-12);
  EXPECT_EQ(table.number("/rows/1/count"), 0);
}

TEST_F(Series, BandsAreOverTheMeansOfTheRuns) {
  base::TempDir dir;
  for (int run = 0; run < 3; ++run) {
    std::string file = version();
    for (int i = 0; i < 100; ++i) file += scalar("x", i, i == 50 && run == 2 ? kNaN : run * 10 + i);
    append(dir / std::to_string(run) + "/" + std::string(kEvents), file);
  }
  Asked asked(dir.path());
  const Answer answer = asked.post(
      "bands",
      R"({"groups":[{"tag":"x","runs":["0","1","2","none"]},{"tag":"y","runs":["0"]}],"width":50,"range":[0,99]})");
  Columns from(answer.body);
  EXPECT_EQ(from.four(), "SNDB");
  EXPECT_THAT(from.column<std::uint32_t>(3), ElementsAre(1, 2, 0));
  EXPECT_THAT(from.column<std::uint32_t>(2), ElementsAre(0, 50));
  EXPECT_EQ(from.one<std::uint64_t>(), 300U);
  const auto x = from.column<double>(50);
  const auto mean = from.column<double>(50);
  const auto deviation = from.column<double>(50);
  const auto low = from.column<double>(50);
  const auto high = from.column<double>(50);
  const auto count = from.column<std::uint32_t>(50);
  EXPECT_EQ(x[3], 6.5);
  EXPECT_EQ(mean[3], 16.5);
  EXPECT_NEAR(deviation[3], std::sqrt(200.0 / 3), 1e-12);
  EXPECT_EQ(low[3], 6.5);
  EXPECT_EQ(high[3], 26.5);
  EXPECT_EQ(count[3], 3U);
  EXPECT_EQ(high[25], 71);  // without its NaN
  from.align();
  EXPECT_THAT(from.column<std::uint32_t>(2), ElementsAre(1, 0));
  EXPECT_EQ(from.one<std::uint64_t>(), 0U);
  EXPECT_TRUE(from.done());
}

TEST_F(Series, AreDownloadedPointByPoint) {
  const Answer csv = asked_->get("scalars?run=short&tag=loss");
  EXPECT_EQ(csv.content_type, "text/csv; charset=utf-8");
  EXPECT_EQ(csv.file_name, "short-loss.csv");
  EXPECT_EQ(csv.body,
            "run,tag,step,wall_time,value\nshort,loss,10,1700000010,1\nshort,loss,20,1700000020,2\n"
            "short,loss,30,1700000030,4\n");
  EXPECT_EQ(asked_->get("scalars?run=short&tag=loss&format=json&first=15&last=25").body, "[[1700000020,20,2]]");
  EXPECT_THAT(asked_->get("scalars?run=train&tag=loss").body, HasSubstr(",Infinity\n"));
  EXPECT_THAT(asked_->get("scalars?run=train&tag=loss&format=json").body, HasSubstr(",\"-Infinity\"]"));
  EXPECT_EQ(asked_->get("scalars?run=short&tag=loss&format=xml").status, 400);
  EXPECT_EQ(asked_->get("scalars?run=short&tag=none").status, 404);
}

}  // namespace
}  // namespace sonde::query
