#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/clock.h"
#include "formats/capture_json.h"
#include "formats/stats_record.h"
#include "query/query_testing.h"
#include "tensor_files/capture_files.h"

namespace sonde::query {
namespace {

using index::append;
using index::kEvents;
using index::kStart;
using index::scalar;
using index::version;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string events_in(const base::TempDir& dir, std::string_view run) {
  return dir / std::string(run) + "/" + std::string(kEvents);
}
// As if nothing had been written for a long time.
void make_old(const std::string& path) {
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST(Status, GivesTheVersionAndTheReadingProgress) {
  Asked asked(kGolden + "/torch");
  const Json status(asked.get("status").body);
  EXPECT_EQ(status.text("/logs/0/directory"), kGolden + "/torch");
  EXPECT_EQ(status.number("/progress/runs_read"), static_cast<double>(asked.log().runs().size()));
  EXPECT_EQ(status.number("/progress/bytes_read"), status.number("/progress/bytes_found"));
  EXPECT_EQ(static_cast<std::uint64_t>(status.number("/revision")), asked.api().revision());
}

TEST(Runs, ReportTheContentOfTheLog) {
  for (const std::string_view writer : {"torch", "tensorboardx", "tensorflow", "tensorflow_v1", "keras"}) {
    Asked asked(kGolden + "/" + std::string(writer));
    const Json answer(asked.get("runs").body);
    const auto runs = asked.log().runs();
    ASSERT_EQ(answer.size("/runs"), runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::string at = "/runs/" + std::to_string(i);
      EXPECT_EQ(answer.text(at + "/run"), runs[i].name());
      std::uint64_t points = 0;
      for (const Tag& tag : runs[i].tags()) points += tag.points;
      EXPECT_EQ(answer.number(at + "/points"), static_cast<double>(points));
      EXPECT_EQ(answer.number(at + "/started"), runs[i].start_time());
      EXPECT_EQ(answer.text(at + "/state"), "finished");
    }
  }
}

TEST(Runs, HaveTheirHyperParameters) {
  Asked torch(kGolden + "/torch");
  const Json runs(torch.get("runs").body);
  for (std::size_t i = 0; i < runs.size("/runs"); ++i) {
    const std::string at = "/runs/" + std::to_string(i);
    if (runs.text(at + "/run") != "train/trial") continue;
    simdjson::dom::object hparams;
    ASSERT_EQ(runs.at(at + "/hparams").get(hparams), simdjson::SUCCESS);
    EXPECT_GT(hparams.size(), 0U);
    EXPECT_GT(runs.size(at + "/metrics"), 0U);
    return;
  }
  FAIL() << "no run train/trial";
}

TEST(Runs, AreLiveWhileTheirFilesGrow) {
  base::TempDir dir;
  append(events_in(dir, "new"), version() + scalar("x", 0, 1) + scalar("x", 60, 1));
  append(events_in(dir, "old"), version() + scalar("x", 0, 1) + scalar("x", 50, 1));
  make_old(events_in(dir, "old"));
  const Json runs(Asked(dir.path()).get("runs").body);
  EXPECT_EQ(runs.text("/runs/0/state"), "live");
  EXPECT_EQ(runs.text("/runs/1/state"), "finished");
  EXPECT_EQ(runs.number("/runs/1/steps_per_second"), 1);
}

TEST(Runs, WithAnAbandonedRingHaveDied) {
  base::TempDir dir;
  append(events_in(dir, "r"), version() + scalar("x", 7, 1));
  append(dir / "r/flight-host-1-1.ring", std::string(100, '\0'));
  Asked asked(dir.path());
  EXPECT_EQ(Json(asked.get("runs").body).text("/runs/0/state"), "died");
  const Json alerts(asked.get("alerts").body);
  EXPECT_EQ(alerts.text("/alerts/0/kind"), "died");
  EXPECT_EQ(alerts.number("/alerts/0/step"), 7);
}

TEST(Start, IsTheAnswersOfStatusRunsTagsAndLayouts) {
  Asked asked(kGolden + "/torch");
  std::string expected = "{";
  for (const char* part : {"status", "runs", "tags", "layouts"}) {
    expected.append(expected == "{" ? "\"" : ",\"").append(part).append("\":").append(asked.get(part).body);
  }
  const Answer start = asked.get("start");
  EXPECT_EQ(start.body, expected + "}");
  EXPECT_FALSE(start.etag.empty());
  EXPECT_EQ(asked.get("start").body, start.body) << "also from answers that are kept";
  EXPECT_EQ(asked.get("start?runs=a").status, 400);
  EXPECT_EQ(asked.post("start", "{}").status, 405);
}

TEST(Tags, AreByKindAndNameWithTheRunsThatHaveThem) {
  base::TempDir dir;
  append(events_in(dir, "a"), version() + scalar("loss", 1, 1) + scalar("loss", 5, 1) + scalar("acc", 2, 1));
  append(events_in(dir, "b"), version() + scalar("loss", 3, 1));
  Asked asked(dir.path());
  const Json all(asked.get("tags").body);
  EXPECT_EQ(all.size("/tags"), 2U);
  EXPECT_EQ(all.text("/tags/1/tag"), "loss");
  EXPECT_THAT(all.numbers("/tags/1/runs"), ElementsAre(0, 1));
  EXPECT_THAT(all.numbers("/tags/1/points"), ElementsAre(2, 1));
  EXPECT_THAT(all.numbers("/tags/1/last_step"), ElementsAre(5, 3));
  EXPECT_EQ(Json(asked.get("tags?tags=%5Ea").body).size("/tags"), 1U);
  EXPECT_THAT(Json(asked.get("tags?runs=b").body).texts("/runs"), ElementsAre("b"));
  EXPECT_EQ(Json(asked.get("tags?kind=images").body).size("/tags"), 0U);
}

TEST(Tags, SayHowManyPointsARestartWroteAgain) {
  base::TempDir dir;
  append(dir / "a/events.out.tfevents.1700000000.h.1.0",
         version() + scalar("loss", 0, 1) + scalar("loss", 2, 1) + scalar("loss", 1, 1));
  append(dir / "b/events.out.tfevents.1700000000.h.1.0", version() + scalar("loss", 0, 1) + scalar("loss", 1, 1));
  append(dir / "b/events.out.tfevents.1700000100.h.2.0",
         version(index::kStart + 100) + scalar("loss", 1, 2, index::kStart + 101));
  Asked asked(dir.path());
  const Json all(asked.get("tags").body);
  EXPECT_THAT(all.numbers("/tags/0/points"), ElementsAre(3, 2)) << "points out of order all count";
  EXPECT_THAT(all.numbers("/tags/0/written_again"), ElementsAre(0, 1));
}

TEST(Tags, InvalidPatternsAreRejected) {
  Asked asked(kGolden + "/torch");
  EXPECT_EQ(asked.get("tags?tags=(").status, 400);
  EXPECT_EQ(asked.get("tags?tags=(((a{1000}){1000}){1000})").status, 400);
  EXPECT_EQ(asked.get("tags?kind=colours").status, 400);
  EXPECT_EQ(asked.get("tags?tags=" + std::string(2'000, 'a')).status, 400);
}

TEST(Alerts, NameTheFirstPointThatIsNotFinite) {
  base::TempDir dir;
  std::string file = version();
  for (int i = 0; i < 2'000; ++i) file += scalar("loss", i, i >= 1'500 ? kNaN : 1);
  file += scalar("once", 3, std::numeric_limits<double>::infinity()) + scalar("once", 4, 1);
  append(events_in(dir, "r"), file);
  Asked asked(dir.path());
  const Json alerts(asked.get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 2U);  // the newest first
  EXPECT_EQ(alerts.text("/alerts/0/text"), "loss is NaN from step 1,500 on (500 points)");
  EXPECT_EQ(alerts.text("/alerts/0/tag"), "loss");
  EXPECT_EQ(alerts.text("/alerts/0/tag_kind"), "scalars");
  EXPECT_EQ(alerts.number("/alerts/0/step"), 1'500);
  EXPECT_EQ(alerts.number("/alerts/0/time"), kStart + 1'500);
  EXPECT_EQ(alerts.text("/alerts/0/value"), "NaN");
  EXPECT_EQ(alerts.text("/alerts/1/text"), "once is infinite at step 3");
  EXPECT_EQ(alerts.text("/alerts/1/value"), "Infinity");
  EXPECT_EQ(Json(asked.get("runs").body).number("/runs/0/first_bad_step"), 3);
}

TEST(Alerts, GiveTheFirstNonFiniteValue) {
  base::TempDir dir;
  append(events_in(dir, "r"), version() + scalar("mixed", 1, 1) +
                                  scalar("mixed", 2, -std::numeric_limits<double>::infinity()) +
                                  scalar("mixed", 3, kNaN));
  const Json alerts(Asked(dir.path()).get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 1U);
  EXPECT_EQ(alerts.text("/alerts/0/text"), "mixed is NaN or infinite from step 2 on (2 points)");
  EXPECT_EQ(alerts.text("/alerts/0/value"), "-Infinity");
}

TEST(Alerts, OfAKindInARunAreTheNewest) {
  base::TempDir dir;
  std::string file = version();
  for (int i = 0; i < 250; ++i) file += scalar("t" + std::to_string(i), i, kNaN);
  append(events_in(dir, "r"), file);
  Asked asked(dir.path());
  const Json alerts(asked.get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 100U);
  EXPECT_EQ(alerts.text("/alerts/0/tag"), "t249");
  EXPECT_EQ(alerts.text("/alerts/99/tag"), "t150");
  EXPECT_EQ(Json(asked.get("runs").body).number("/runs/0/first_bad_step"), 0);
}

TEST(Alerts, NameTriggersAndCrashes) {
  base::TempDir dir;
  append(events_in(dir, "r"), version() + scalar("x", 1, 1));
  CaptureInfo info;
  info.cause = CaptureInfo::Cause::trigger;
  info.reason = "high";
  info.when = "loss > 1";
  info.step = 12'345;
  info.wall_time = kStart + 5;
  ASSERT_TRUE(tensor_files::write_capture(dir / "r", info, {}));
  info.cause = CaptureInfo::Cause::crash;
  info.reason = "crash";
  info.wall_time = kStart + 9;
  ASSERT_TRUE(tensor_files::write_capture(dir / "r", info, {}));
  Asked asked(dir.path());
  const Json alerts(asked.get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 2U);
  EXPECT_EQ(alerts.text("/alerts/0/kind"), "died");
  EXPECT_EQ(alerts.text("/alerts/1/kind"), "trigger");
  EXPECT_EQ(alerts.number("/alerts/1/step"), 12'345);
  EXPECT_EQ(alerts.text("/alerts/1/text"),
            "the trigger 'high' fired at step 12,345: loss > 1; it is saved in captures/1-high");
  EXPECT_EQ(Json(asked.get("runs").body).text("/runs/0/state"), "died");
  append(events_in(dir, "r"), scalar("x", 2, 1));  // somebody has gone on with it
  asked.log().refresh();
  EXPECT_EQ(Json(asked.get("alerts").body).size("/alerts"), 2U);
}

CapturedTensor captured(const std::string& name, std::vector<std::string> inputs, std::uint64_t nan) {
  CapturedTensor tensor;
  tensor.key = "activation/" + name;
  tensor.name = name;
  tensor.inputs = std::move(inputs);
  tensor.shape = {2, 3};
  tensor.count = 6;
  tensor.nan = nan;
  return tensor;
}

TEST(Alerts, LeadWithTheTensorThatProducedTheNaN) {
  base::TempDir dir;
  std::string file = version();
  for (int i = 0; i < 10; ++i) file += scalar("loss", i, i < 7 ? 1 : kNaN);
  append(events_in(dir, "r"), file);
  std::string statistics;
  for (const std::uint32_t id : {1U, 2U}) {
    stats_record::put_definition(statistics, {.id = id, .name = id == 1 ? "softmax" : "dense"});
  }
  for (std::int64_t step = 0; step < 10; ++step) {
    stats_record::StepWriter writer(statistics, step, kStart + static_cast<double>(step), false);
    stats::Summary summary;
    summary.count = 6;
    summary.nan = step >= 7 ? 2 : 0;
    for (const std::uint32_t id : {1U, 2U}) writer.add({.id = id}, summary, nullptr);
    writer.end();
  }
  append(dir / "r/stats.1.tfrecord", statistics);
  CaptureInfo info;
  info.reason = "nan";
  info.when = "nonfinite('.*')";
  info.step = 7;
  info.wall_time = kStart + 7.5;
  CapturedStep& step = info.steps.emplace_back();
  step.step = 7;
  step.scalars = {{"loss", kNaN}};
  step.tensors = {captured("input", {}, 0), captured("dense", {"input"}, 2), captured("softmax", {"dense"}, 6)};
  append(dir / "r/captures/1-nan/capture.json", capture_json::encode(info, find_origin(info)));
  Asked asked(dir.path());
  const Json alerts(asked.get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 3U);
  EXPECT_EQ(alerts.text("/alerts/0/text"),
            "activation/dense produced the first NaN at step 7: 2 of 6 elements, from finite inputs; then 1 other "
            "tensor");
  EXPECT_EQ(alerts.text("/alerts/0/tag"), "activation/dense");
  EXPECT_EQ(alerts.text("/alerts/0/capture"), "1-nan");
  EXPECT_EQ(alerts.text("/alerts/1/tag"), "loss");
  EXPECT_TRUE(alerts.at("/alerts/1/capture").is_null());
  EXPECT_EQ(alerts.text("/alerts/2/kind"), "trigger");
  EXPECT_EQ(alerts.text("/alerts/2/capture"), "1-nan");

  const Json capture(asked.get("capture?run=r&name=1-nan").body);
  EXPECT_EQ(capture.text("/reason"), "nan");
  EXPECT_EQ(capture.text("/when"), "nonfinite('.*')");
  EXPECT_EQ(capture.number("/step"), 7);
  EXPECT_EQ(capture.text("/origin/producers/0/key"), "activation/dense");
  EXPECT_EQ(capture.number("/steps/0/tensors/2/nan"), 6);
  EXPECT_EQ(capture.text("/steps/0/scalars/0/value"), "NaN");
}

TEST(Captures, ThatAreNotThereAreNotFound) {
  base::TempDir dir;
  append(events_in(dir, "r"), version() + scalar("x", 1, 1));
  CaptureInfo info;
  info.reason = "high";
  ASSERT_TRUE(tensor_files::write_capture(dir / "r", info, {}));
  Asked asked(dir.path());
  EXPECT_EQ(asked.get("capture?run=r&name=1-high").status, 200);
  for (const char* query :
       {"run=r&name=2-high", "run=r&name=..", "run=r&name=1-high%2F..%2F1-high", "run=s&name=1-high"}) {
    EXPECT_EQ(asked.get(std::string("capture?") + query).status, 404) << query;
  }
  EXPECT_EQ(asked.get("capture?run=r").status, 400);
}

TEST(Alerts, NameWhatTheRecorderLeftOut) {
  base::TempDir dir;
  std::string file;
  stats_record::put_definition(file, {.id = 1, .name = "out"});
  stats_record::put_gap(file, {.id = 1, .first_step = 3, .last_step = 9, .count = 7});
  stats_record::put_gap(file, {.id = 1,
                               .first_step = 2'000,
                               .last_step = 3'000,
                               .count = 1'000,
                               .reason = stats_record::GapReason::budget,
                               .detail = "half of the steps"});
  append(dir / "r/stats.1.tfrecord", file);
  append(events_in(dir, "r"), version() + scalar("x", 0, 1) + scalar("x", 3'000, 1));
  Asked asked(dir.path());
  const Json alerts(asked.get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 2U);
  EXPECT_EQ(alerts.text("/alerts/0/kind"), "budget");
  EXPECT_EQ(alerts.text("/alerts/0/text"),
            "1,000 recordings of tensors left out from step 2,000 to 3,000: budget: half of the steps");
  EXPECT_EQ(alerts.text("/alerts/1/kind"), "dropped");
  EXPECT_EQ(Json(asked.get("runs").body).number("/runs/0/dropped"), 1'007);
}

TEST(Alerts, NameTheFirstOfTheTensorsThatAreNotFinite) {
  base::TempDir dir;
  std::string file;
  for (const std::uint32_t id : {1U, 2U, 3U}) {
    stats_record::put_definition(file, {.id = id, .name = "layer_" + std::to_string(4 - id)});
  }
  for (std::int64_t step = 0; step < 10; ++step) {
    stats_record::StepWriter writer(file, step, kStart, false);
    stats::Summary summary;
    summary.count = 5;
    summary.nan = step >= 4 ? 1 : 0;
    for (const std::uint32_t id : {1U, 2U, 3U}) writer.add({.id = id}, summary, nullptr);
    writer.end();
  }
  append(dir / "r/stats.1.tfrecord", file);
  Asked asked(dir.path());
  const Json alerts(asked.get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 1U);
  EXPECT_EQ(alerts.text("/alerts/0/tag"), "activation/layer_3");
  EXPECT_EQ(alerts.text("/alerts/0/tag_kind"), "statistics");
  EXPECT_TRUE(alerts.at("/alerts/0/value").is_null());
  EXPECT_EQ(alerts.text("/alerts/0/text"),
            "activation/layer_3 has NaN or infinite elements from step 4 on (6 steps); and 2 other tensors from the "
            "same step on");
  const Json statistics(asked.get("statistics?run=r&tag=activation%2Flayer_2&most=2").body);
  EXPECT_THAT(statistics.numbers("/steps"), ElementsAre(0, 9));
  EXPECT_THAT(statistics.numbers("/nan"), ElementsAre(0, 1));
  EXPECT_EQ(statistics.number("/total"), 10);
  const Json histograms(asked.get("histograms?run=r&tag=activation%2Flayer_2&step=5").body);
  EXPECT_EQ(histograms.text("/kind"), "statistics");
  EXPECT_EQ(histograms.number("/histograms/0/nan"), 1);
}

TEST(Alerts, NameTheDamageOfAFile) {
  base::TempDir dir;
  std::string file = version() + scalar("x", 1, 1) + scalar("x", 2, 1) + scalar("x", 3, 1);
  file[version().size() + 20] ^= 1;
  append(events_in(dir, "r"), file);
  const Json alerts(Asked(dir.path()).get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 1U);
  EXPECT_EQ(alerts.text("/alerts/0/kind"), "damage");
  EXPECT_THAT(alerts.text("/alerts/0/text"), AllOf(HasSubstr(std::string(kEvents)), HasSubstr("damaged in 1 place")));
}

TEST(Alerts, OfAFileWithoutAReadableEventHaveTheTimeOfTheFile) {
  base::TempDir dir;
  append(events_in(dir, "r"), std::string(100, 'x'));
  const double now = base::wall_seconds();
  const Json alerts(Asked(dir.path()).get("alerts").body);
  ASSERT_EQ(alerts.size("/alerts"), 1U);
  EXPECT_EQ(alerts.text("/alerts/0/kind"), "damage");
  EXPECT_NEAR(alerts.number("/alerts/0/time"), now, 3'600);
}

TEST(Layouts, AreTheCustomScalarsOfALog) {
  const Json layouts(Asked(kGolden + "/torch").get("layouts").body);
  EXPECT_EQ(layouts.text("/layouts/0/run"), "train");
  EXPECT_EQ(layouts.text("/layouts/0/categories/0/charts/0/title"), "both");
  EXPECT_THAT(layouts.texts("/layouts/0/categories/0/charts/0/tags"), ElementsAre("loss/train", "loss/eval"));
  EXPECT_EQ(layouts.text("/layouts/0/categories/0/charts/1/margins/0/lower"), "loss/low");
}

TEST(Changes, AreTheRunsThatGrew) {
  base::TempDir dir;
  append(events_in(dir, "a"), version() + scalar("x", 1, 1));
  append(events_in(dir, "b"), version() + scalar("x", 1, 1));
  Asked asked(dir.path());
  const std::uint64_t first = asked.api().revision();
  const Json all(asked.api().change_since(0).data);
  EXPECT_THAT(all.texts("/runs"), ElementsAre("a", "b"));
  EXPECT_TRUE(all.at("/all").get_bool().value_unsafe());

  append(events_in(dir, "b"), scalar("x", 2, 1));
  asked.log().refresh();
  const std::uint64_t second = asked.api().wait_for_change(first, 10s);
  EXPECT_GT(second, first);
  const Change change = asked.api().change_since(first);
  EXPECT_EQ(change.revision, second);
  const Json news(change.data);
  EXPECT_THAT(news.texts("/runs"), ElementsAre("b"));
  EXPECT_FALSE(news.at("/all").get_bool().value_unsafe());
  EXPECT_EQ(Json(asked.api().change_since(second).data).size("/runs"), 0U);

  append(events_in(dir, "c"), version() + scalar("x", 1, 1));
  asked.log().refresh();
  EXPECT_TRUE(Json(asked.api().change_since(second).data).at("/all").get_bool().value_unsafe());
}

TEST(Changes, AreAlsoNotesAndCapturesThatComeWithoutARecord) {
  base::TempDir dir;
  append(events_in(dir, "a"), version() + scalar("x", 1, 1));
  append(events_in(dir, "b"), version() + scalar("x", 1, 1));
  make_old(events_in(dir, "a"));
  make_old(events_in(dir, "b"));
  Asked asked(dir.path(), nullptr, {.cache = LogOptions::Cache::off, .follow = LogOptions::Follow::live});
  EXPECT_EQ(Json(asked.get("alerts").body).size("/alerts"), 0U);
  // The revision in which that run has changed.
  const auto change_of = [&](std::string_view run, std::uint64_t seen) {
    for (int i = 0; i < 100; ++i) {
      seen = asked.api().wait_for_change(seen, 300ms);
      const Json change(asked.api().change_since(seen - 1).data);
      if (change.size("/runs") > 0 && change.text("/runs/0") == run) return seen;
    }
    ADD_FAILURE() << "nothing was told of " << run;
    return seen;
  };
  const std::uint64_t first = asked.api().revision();
  append(dir / "b/note.md", "baseline");
  const std::uint64_t second = change_of("b", first);
  EXPECT_EQ(Json(asked.get("runs").body).text("/runs/1/note"), "baseline");
  CaptureInfo info;
  info.cause = CaptureInfo::Cause::trigger;
  info.reason = "high";
  ASSERT_TRUE(tensor_files::write_capture(dir / "a", info, {}));
  change_of("a", second);
  EXPECT_EQ(Json(asked.get("alerts").body).size("/alerts"), 1U);
}

TEST(Changes, AreProblemsOfALogThatComeAndGo) {
  base::TempDir dir;
  const std::string logs = dir / "logs";
  std::filesystem::create_directory(logs);
  Asked asked(logs, nullptr, {.cache = LogOptions::Cache::off, .follow = LogOptions::Follow::live});
  EXPECT_EQ(Json(asked.get("status").body).size("/logs/0/problems"), 0U);
  const std::uint64_t before = asked.api().revision();
  std::filesystem::remove(logs);
  const std::uint64_t gone = asked.api().wait_for_change(before, 30s);
  EXPECT_THAT(Json(asked.get("status").body).texts("/logs/0/problems"),
              ElementsAre("the log directory '" + logs + "' is gone: its runs appear again when it is back"));
  std::filesystem::create_directory(logs);
  EXPECT_NE(asked.api().wait_for_change(gone, 30s), gone);
  EXPECT_EQ(Json(asked.get("status").body).size("/logs/0/problems"), 0U);
}

TEST(Changes, AreWaitedForNoLongerThanAsked) {
  Asked asked(kGolden + "/torch");
  const std::uint64_t revision = asked.api().revision();
  EXPECT_EQ(asked.api().wait_for_change(revision, 1ms), revision);
  EXPECT_EQ(asked.api().wait_for_change(revision - 1, 1h), revision);
}

TEST(Logs, OfSeveralDirectoriesAreDistinguishedByTheirLabels) {
  base::TempDir dir;
  append(events_in(dir, "one/train"), version() + scalar("x", 1, 1));
  append(events_in(dir, "two"), version() + scalar("x", 1, 2));
  std::vector<Served> logs;
  for (const std::string name : {"one", "two"}) {
    logs.push_back({.label = name, .directory = dir / name, .log = index::open(dir / name)});
    logs.back().log.wait();
  }
  const Api api(std::move(logs), nullptr);
  const Json runs(api.answer({.path = "runs", .query = "", .body = ""}).body);
  EXPECT_EQ(runs.text("/runs/0/run"), "one/train");
  EXPECT_EQ(runs.text("/runs/1/run"), "two");
  const auto series = read_series(api.answer({.method = Question::Method::post,
                                              .path = "series",
                                              .query = "",
                                              .body = R"({"series":[{"run":"two","tag":"x"}]})"}));
  EXPECT_THAT(series.front().values, ElementsAre(2));
}

TEST(Questions, ThatAreUnknownAreRejectedInOneSentence) {
  Asked asked(kGolden + "/torch");
  const auto refused = [&](const Answer& answer, int status) {
    EXPECT_EQ(answer.status, status) << answer.body;
    return Json(answer.body).text("/error");
  };
  EXPECT_THAT(refused(asked.get("nothing"), 404), HasSubstr("'nothing'"));
  EXPECT_THAT(refused(asked.get("series"), 405), HasSubstr("POST"));
  EXPECT_THAT(refused(asked.post("runs", "{}"), 405), HasSubstr("GET"));
  EXPECT_THAT(refused(asked.get("runs?x=1"), 400), HasSubstr("'x'"));
  EXPECT_THAT(refused(asked.get("steps?run=train"), 400), HasSubstr("'tag'"));
  EXPECT_THAT(refused(asked.get("steps?run=train&run=train&tag=x"), 400), HasSubstr("twice"));
  EXPECT_THAT(refused(asked.get("steps?run=%zz&tag=x"), 400), HasSubstr("hexadecimal"));
  EXPECT_THAT(refused(asked.get("steps?run=%4&tag=x"), 400), HasSubstr("hexadecimal"));
  EXPECT_THAT(refused(asked.get("steps?run=trian&tag=x"), 404), HasSubstr("'train'"));
  EXPECT_THAT(refused(asked.get("image?run=train&tag=picture&step=x"), 400), HasSubstr("'step'"));
  EXPECT_THAT(refused(asked.get("image?run=train&tag=picture"), 400), HasSubstr("'step' is missing"));
  EXPECT_THAT(refused(asked.get("image?run=train&tag=picture&step=0&index=-1"), 400), HasSubstr("'index'"));
}

TEST(Answers, HaveTheSameETagAsLongAsTheyAreTheSame) {
  base::TempDir dir;
  append(events_in(dir, "r"), version() + scalar("x", 1, 1));
  make_old(events_in(dir, "r"));
  Asked asked(dir.path());
  const std::string etag = asked.get("tags").etag;
  EXPECT_THAT(etag, testing::MatchesRegex("\".+\""));
  EXPECT_EQ(asked.get("tags").etag, etag);
  EXPECT_NE(asked.get("steps?run=r&tag=x").etag, etag);
  append(events_in(dir, "r"), scalar("x", 2, 1));
  asked.log().refresh();
  EXPECT_NE(asked.get("tags").etag, etag);
}

}  // namespace
}  // namespace sonde::query
