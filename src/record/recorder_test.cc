// The rules of recording, one test each. Threads, time, overflow, exit and fork have their own files.
#include "sonde/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <future>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "record/recorder_testing.h"

namespace sonde::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(Recorder, WritesScalarsThatReadBack) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Scalar loss = rec.series("loss");
  for (std::int64_t n = 0; n < 1000; ++n) loss.record(1.0 / static_cast<double>(n + 1), n);
  rec.scalar("accuracy", 0.5, 7);
  ASSERT_TRUE(rec.close().ok());

  const Log log = read_log(dir.path());
  ASSERT_EQ(log.scalars.at("loss").size(), 1000U);
  for (std::size_t n = 0; n < 1000; ++n) {
    EXPECT_EQ(log.scalars.at("loss")[n].step, static_cast<std::int64_t>(n));
    EXPECT_EQ(log.scalars.at("loss")[n].value,
              static_cast<double>(static_cast<float>(1.0 / static_cast<double>(n + 1))));
  }
  EXPECT_EQ(log.scalars.at("accuracy").at(0).step, 7);
  EXPECT_EQ(log.plugins.at("loss"), "scalars");
  EXPECT_TRUE(log.damage.empty());
  EXPECT_EQ(rec.counters().scalars, 1001U);
}

TEST(Recorder, WritesDoublesOnlyWhenAsked) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.precision = Precision::f64});
  rec.scalar("pi", 3.14159265358979, 0);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(read_log(dir.path()).scalars.at("pi").at(0).value, 3.14159265358979);
}

TEST(Recorder, SeveralRecordersInOneProcessWriteFilesOfTheirOwn) {
  base::TempDir dir;
  Recorder train = open(dir / "train");
  Recorder test = open(dir / "test");
  Recorder second = open(dir / "train");
  train.scalar("loss", 1, 0);
  test.scalar("loss", 2, 0);
  second.scalar("loss", 3, 0);
  ASSERT_TRUE(train.close().ok() && test.close().ok() && second.close().ok());
  EXPECT_EQ(files_with(dir / "train", "tfevents").size(), 2U);
  EXPECT_EQ(read_log(dir / "train").scalars.at("loss").size(), 2U);
  EXPECT_EQ(read_log(dir / "test").scalars.at("loss").at(0).value, 2);
}

TEST(Handles, TheSameNameGivesTheSameSeries) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  rec.series("loss").record(1, 0);
  rec.series("loss").record(2, 1);
  rec.scalar("loss", 3, 2);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(read_log(dir.path()).scalars.at("loss").size(), 3U);
}

TEST(Handles, StayValidAndInertAfterClose) {
  base::TempDir dir;
  Scalar loss;
  Probe probe;
  std::optional<Group> group;
  {
    Recorder rec = open(dir.path());
    loss = rec.series("loss");
    probe = rec.probe("out");
    group = rec.group(0);
    loss.record(1, 0);
    ASSERT_TRUE(rec.close().ok());
    loss.record(2, 1);
    rec.scalar("loss", 3, 2);
    const auto values = ramp(4);
    rec.histogram("weights", view(values), 3);
    Step step = rec.step(4);
    EXPECT_FALSE(probe.wanted(step));
    probe.record(step, view(values));
    EXPECT_GE(rec.counters().rejected, 3U);
    EXPECT_TRUE(rec.close().ok());
  }
  loss.record(4, 3);
  group->scalar("loss", 5);
  group->end();
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.scalars.at("loss").size(), 1U);
  EXPECT_EQ(log.values.size(), 1U);
}

TEST(Handles, DefaultConstructedOnesAreInert) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Step step = rec.step(0);
  Scalar().record(1, 0);
  EXPECT_FALSE(Probe().wanted(step));
  const auto values = ramp(2);
  Probe().record(step, view(values));
}

TEST(OpenOrDisabled, ReportsTheReasonAndContinues) {
  base::TempDir dir;
  ASSERT_TRUE(base::write_file(dir / "file", "in the way").ok());
  std::string reason;
  Recorder rec = Recorder::open_or_disabled(dir / "file", [&](const Status& status) { reason = status.message(); });
  EXPECT_FALSE(rec.enabled());
  EXPECT_THAT(reason, HasSubstr("file"));
  rec.scalar("loss", 1, 0);
  const Scalar loss = rec.series("loss");
  loss.record(1, 0);
  const auto values = ramp(3);
  auto step = rec.step(0);
  rec.probe("x").record(step, view(values));
  rec.histogram("h", view(values), 0);
  rec.group(0).scalar("a", 1);
  EXPECT_TRUE(rec.flush().ok());
  EXPECT_TRUE(rec.close().ok());
}

// A call compiles only where `Step` is an integer.
template <class Step>
concept ScalarTakesStep = requires(Recorder& rec, Step step) { rec.scalar("loss", 1.0, step); };
template <class Step>
concept SeriesTakesStep = requires(Scalar series, Step step) { series.record(1.0, step); };
template <class Step>
concept HistogramTakesStep = requires(Recorder& rec, TensorView v, Step step) { rec.histogram("h", v, step); };

TEST(Steps, AreIntegersSoSwappedArgumentsDoNotCompile) {
  static_assert(ScalarTakesStep<int> && ScalarTakesStep<std::int64_t> && ScalarTakesStep<std::size_t>);
  static_assert(!ScalarTakesStep<float> && !ScalarTakesStep<double>);
  static_assert(SeriesTakesStep<int> && !SeriesTakesStep<double> && !SeriesTakesStep<float>);
  static_assert(HistogramTakesStep<int> && !HistogramTakesStep<double>);
}

TEST(Steps, EndWithTheirScope) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out");
  const auto values = ramp(10);
  EXPECT_EQ(rec.committed_step(), -1);
  {
    const Step step = rec.step(41);
    out.record(step, view(values));
    ASSERT_TRUE(rec.flush().ok());
    EXPECT_EQ(rec.committed_step(), -1);
    EXPECT_TRUE(read_log(dir.path()).steps.empty());
  }
  ASSERT_TRUE(rec.flush().ok());
  EXPECT_EQ(rec.committed_step(), 41);
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.size(), 1U);
  EXPECT_EQ(log.steps[0].step, 41);
  EXPECT_EQ(log.steps[0].tensors.at(0).summary.max, 9);
}

TEST(Steps, EndWhenALargerStepBegins) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out");
  const auto values = ramp(3);
  const Step first = rec.step(1);
  out.record(first, view(values));
  const Step second = rec.step(2);
  ASSERT_TRUE(rec.flush().ok());
  EXPECT_EQ(rec.committed_step(), 1);
  out.record(first, view(values));  // too late
  ASSERT_TRUE(rec.flush().ok());
  EXPECT_EQ(rec.counters().rejected, 1U);
}

TEST(Steps, ARestartThatGoesBackIsRecordedAsItIs) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  for (const std::int64_t n : {5, 6, 3, 4}) {
    const Step step = rec.step(n);
    rec.scalar("loss", static_cast<double>(n), n);
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  std::vector<std::int64_t> steps;
  for (const auto& step : log.steps) steps.push_back(step.step);
  EXPECT_THAT(steps, ElementsAre(5, 6, 3, 4));
  EXPECT_EQ(log.scalars.at("loss").at(2).step, 3);
  EXPECT_EQ(rec.committed_step(), 4);
}

TEST(Steps, AConditionSeesTheLossThatComesAfterTheActivations) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out", {.keep = Keep::stats | Keep::histogram | Keep::image,
                                      .when = [](const StepValues& step) { return step.scalar("loss") > 1.0; },
                                      .layout = Layout::HW});
  const Scalar loss = rec.series("loss");
  const auto values = ramp(64);
  for (std::int64_t n = 0; n < 6; ++n) {
    const Step step = rec.step(n);
    out.record(step, view(values, {8, 8}));
    loss.record(n == 3 ? 2.0 : 0.5, n);
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.size(), 6U);
  for (const auto& step : log.steps) EXPECT_EQ(step.tensors.size(), step.step == 3 ? 1U : 0U) << step.step;
  EXPECT_EQ(log.values.at("activation/out"), 1U);
  EXPECT_EQ(log.values.at("activation/out/image"), 1U);
}

TEST(Steps, AConditionThatThrowsKeepsNothingAndIsCounted) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const Probe out = rec.probe("out", {.when = [](const StepValues&) -> bool { throw 1; }});
  const auto values = ramp(4);
  {
    const Step step = rec.step(0);
    out.record(step, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 1U);
  ASSERT_EQ(errors.messages.size(), 1U);
  EXPECT_TRUE(read_log(dir.path()).steps.at(0).tensors.empty());
}

TEST(Steps, AProbeRecordedAgainIsAnotherOccurrence) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out");
  const auto values = ramp(8);
  for (std::int64_t n = 0; n < 2; ++n) {
    const Step step = rec.step(n);
    for (int micro_batch = 0; micro_batch < 3; ++micro_batch) out.record(step, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.size(), 2U);
  for (const auto& step : log.steps) {
    ASSERT_EQ(step.tensors.size(), 3U);
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(step.tensors[i].occurrence, i);
  }
  EXPECT_EQ(log.values.at("activation/out"), 2U);
  EXPECT_EQ(log.values.at("activation/out#1"), 2U);
  EXPECT_EQ(log.values.at("activation/out#2"), 2U);
}

TEST(Steps, EvaluationPassesGoUnderEvalAtTheStepTheyBelongTo) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out");
  const auto values = ramp(8);
  for (std::int64_t n = 100; n < 102; ++n) {
    const Step step = rec.step(n);
    out.record(step, view(values));
    const Step pass = rec.evaluation(n);
    EXPECT_TRUE(pass.evaluation());
    EXPECT_EQ(pass.number(), n);
    out.record(pass, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.values.at("activation/out"), 2U);
  EXPECT_EQ(log.values.at("eval/activation/out"), 2U);
  std::vector<std::pair<std::int64_t, bool>> steps;
  for (const auto& step : log.steps) steps.emplace_back(step.step, step.evaluation);
  EXPECT_THAT(
      steps, ElementsAre(std::pair(100L, true), std::pair(100L, false), std::pair(101L, true), std::pair(101L, false)));
}

TEST(Probes, KeepTheOrderOfExecutionTheirKindAndTheirInputs) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe first = rec.probe("conv", {.kind = Kind::activation});
  const Probe second = rec.probe("dense", {.kind = Kind::gradient, .inputs = {"conv"}, .keep = Keep::stats});
  const auto values = ramp(8);
  {
    const Step step = rec.step(0);
    second.record(step, view(values));
    first.record(step, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  const auto& tensors = log.steps.at(0).tensors;
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[0].name, "dense");
  EXPECT_EQ(tensors[0].kind, Kind::gradient);
  EXPECT_FALSE(tensors[0].histogram.has_value());
  EXPECT_EQ(tensors[1].name, "conv");
  EXPECT_TRUE(tensors[1].histogram.has_value());
  EXPECT_THAT(log.inputs.at("dense"), ElementsAre("conv"));
  EXPECT_FALSE(log.values.contains("gradient/dense"));
}

TEST(Probes, AreWantedAtTheirInterval) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe often = rec.probe("often");
  const Probe seldom = rec.probe("seldom", {.every = 10});
  const Probe never = rec.probe("never", {.every = 0});
  const auto values = ramp(8);
  int wanted = 0;
  for (std::int64_t n = 0; n < 30; ++n) {
    const Step step = rec.step(n);
    EXPECT_TRUE(often.wanted(step));
    EXPECT_FALSE(never.wanted(step));
    wanted += seldom.wanted(step) ? 1 : 0;
    seldom.record(step, view(values));  // decides by itself, too
    never.record(step, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(wanted, 3);
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.values.at("activation/seldom"), 3U);
  EXPECT_FALSE(log.values.contains("activation/never"));
}

TEST(Copying, HappensBeforeTheCallReturns) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  std::vector<float> values(1000);
  for (std::int64_t n = 0; n < 50; ++n) {
    std::fill(values.begin(), values.end(), static_cast<float>(n));
    rec.histogram("weights", view(values), n);
  }
  std::fill(values.begin(), values.end(), -1.0F);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.histograms.at("weights").size(), 50U);
  for (std::size_t n = 0; n < 50; ++n) {
    EXPECT_EQ(log.histograms.at("weights")[n].at(0).left, static_cast<double>(n));
    EXPECT_EQ(log.histograms.at("weights")[n].at(0).count, 1000);
  }
}

TEST(Copying, OfAStridedViewTakesItsElementsOnly) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  std::vector<float> values(100, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < 100; i += 10) values[i] = 3;
  const Probe column = rec.probe("column");
  {
    const Step step = rec.step(0);
    column.record(step, view(values.data(), {10}, {10}));
  }
  ASSERT_TRUE(rec.close().ok());
  const auto summary = read_log(dir.path()).steps.at(0).tensors.at(0).summary;
  EXPECT_EQ(summary.count, 10U);
  EXPECT_EQ(summary.nan, 0U);
  EXPECT_EQ(summary.mean, 3);
}

TEST(Frozen, SharesTheMemoryAndCopiesNothing) {
  base::TempDir dir;
  // No room for a copy: only a shared tensor can be recorded.
  Recorder rec = open(dir.path(), {.memory = 1 << 10});
  const auto values = std::make_shared<std::vector<float>>(ramp(1 << 20));
  rec.histogram("weights", frozen(view(*values), values), 0);
  rec.histogram("copied", view(*values), 0);
  EXPECT_EQ(rec.close().code(), Code::exhausted) << "the copy was dropped";
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.histograms.at("weights").size(), 1U);
  EXPECT_FALSE(log.histograms.contains("copied"));
  EXPECT_EQ(rec.counters().dropped_tensors, 1U);
}

TEST(Frozen, OwnersAreReleasedOnARecordingThreadNeverOnTheBackend) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  std::vector<std::thread::id> released_on;
  const auto values = ramp(100);
  for (std::int64_t n = 0; n < 20; ++n) {
    const std::shared_ptr<const void> owner(values.data(),
                                            [&](const void*) { released_on.push_back(std::this_thread::get_id()); });
    rec.histogram("weights", frozen(view(values), owner), n);
  }
  ASSERT_TRUE(rec.close().ok());
  ASSERT_EQ(released_on.size(), 20U);
  for (const auto& id : released_on) EXPECT_EQ(id, std::this_thread::get_id());
}

TEST(Frozen, OwnersAreReleasedWhenTheNextStepBegins) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe probe = rec.probe("weights", {.keep = Keep::stats});
  const auto values = std::make_shared<std::vector<float>>(ramp(100));
  {
    const Step step = rec.step(0);
    probe.record(step, frozen(view(*values), values));
  }
  EXPECT_TRUE(comes_true([&] { return rec.committed_step() == 0; }));
  EXPECT_EQ(values.use_count(), 2);
  const Step next = rec.step(1);
  EXPECT_EQ(values.use_count(), 1);
}

TEST(Frozen, AnErrorHandlerThatRecordsReleasesNoOwners) {
  base::TempDir dir;
  std::atomic<bool> told = false;
  std::optional<Recorder> rec;
  rec.emplace(open(dir.path(), {.on_error = [&](const Status&) {  // on the backend
                     rec->text("error", "something went wrong", 0);
                     told = true;
                   }}));
  const Probe probe = rec->probe("x", {.keep = Keep::stats});
  const std::vector<float> values = ramp(100);
  std::thread::id released_on;
  {
    const Step step = rec->step(0);
    const auto note = [&](const void*) { released_on = std::this_thread::get_id(); };
    probe.record(step, frozen(view(values), std::shared_ptr<const void>(values.data(), note)));
  }
  EXPECT_TRUE(comes_true([&] { return rec->committed_step() == 0; }));
  rec->histogram("no values", TensorView{.shape = {-1}}, 0);
  EXPECT_TRUE(comes_true([&] { return told.load(); }));
  EXPECT_TRUE(rec->close().ok());
  EXPECT_EQ(released_on, std::this_thread::get_id());
}

TEST(Groups, AreOneEventThatTheirPicturesFollow) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const auto values = ramp(300);
  {
    Group group = rec.group(12);
    group.scalar("loss", 1);
    group.scalar("accuracy", 0.5);
    group.histogram("weights", view(values));
    group.image("picture", view(values, {10, 10, 3}), Layout::HWC);
    group.text("note", "hello");
  }
  rec.group(13).scalar("loss", 2);
  rec.group(14).end();  // an empty one leaves nothing
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_THAT(log.values_per_event, UnorderedElementsAre(4, 1, 1));
  EXPECT_EQ(log.scalars.at("loss").at(0).step, 12);
  EXPECT_EQ(log.texts.at("note").at(0), "hello");
  EXPECT_EQ(log.plugins.at("picture"), "images");
}

TEST(Groups, TakeWhatWasComputedElsewhere) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const auto values = ramp(30);
  {
    Group group = rec.group(3);
    group.audio("sound", view(values));
    group.histogram("counted", std::vector<Bucket>{{0, 1, 5}, {1, 4, 7}});
    group.images("drawn", {.width = 2, .height = 1, .files = {"PNG"}});
    group.mesh("points", view(values, {10, 3}), {.config = R"({"camera": 1})"});
    group.pr_curve("curve", view(std::vector<int>{0, 1}), view(std::vector<float>{0.25F, 0.75F}), 5);
    group.tensor("whole", view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_THAT(log.values_per_event, ElementsAre(6));
  EXPECT_EQ(log.plugins.at("sound"), "audio");
  EXPECT_EQ(log.plugins.at("drawn"), "images");
  EXPECT_EQ(log.plugins.at("points_VERTEX"), "mesh");
  EXPECT_EQ(log.plugins.at("curve"), "pr_curves");
  EXPECT_EQ(log.plugins.at("whole"), "tensor");
  const auto& counted = log.histograms.at("counted").at(0);
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[1].right, 4);
  EXPECT_EQ(counted[1].count, 7);
}

TEST(Groups, RejectWhatCannotBeEncodedAndSayWhy) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const auto values = ramp(4);
  {
    Group group = rec.group(1);
    group.mesh("flat", view(values));
    group.pr_curve("uneven", view(values), view(ramp(3)));
    group.scalar("loss", 1);
    group.tensor("loss", view(values));  // a second kind under one name
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(read_log(dir.path()).values_per_event, ElementsAre(1));
  EXPECT_EQ(rec.counters().rejected, 3u);
  EXPECT_EQ(errors.messages.size(), 3u);
}

TEST(Groups, MayHaveATimeOfTheirOwn) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  rec.group(1, 1234.5).scalar("then", 1);
  rec.group(1).scalar("now", 1);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.scalars.at("then").at(0).wall_time, 1234.5);
  EXPECT_GT(log.scalars.at("now").at(0).wall_time, 1e9);
}

TEST(Print, WritesOneReadableLine) {
  base::TempDir dir;
  std::FILE* console = std::tmpfile();
  Recorder rec = open(dir.path(), {.console = console});
  const auto values = ramp(8);
  rec.print("dense_1/out", view(values, {2, 4}), 3);
  rec.print_full("dense_1/out", view(values, {2, 4}), 4);
  ASSERT_TRUE(rec.close().ok());
  std::string text(4096, '\0');
  std::rewind(console);
  text.resize(std::fread(text.data(), 1, text.size(), console));
  std::fclose(console);
  EXPECT_THAT(text, HasSubstr("step 3  dense_1/out f32[2,4] 0 |"));
  EXPECT_THAT(text, HasSubstr("mean 3.5"));
  EXPECT_THAT(text, HasSubstr("[[0. 1. 2. 3.]\n [4. 5. 6. 7.]]"));
}

TEST(BadInput, ADirectoryThatCannotBeCreatedIsAnError) {
  base::TempDir dir;
  ASSERT_TRUE(base::write_file(dir / "file", "in the way").ok());
  const auto below_a_file = Recorder::open(dir / "file/logs");
  ASSERT_FALSE(below_a_file.ok());
  EXPECT_THAT(below_a_file.error().message(), HasSubstr("file/logs"));
  EXPECT_FALSE(Recorder::open("").ok());
  EXPECT_FALSE(Recorder::open("/proc/sonde").ok());
  EXPECT_FALSE(Recorder::open(dir.path(), {.histogram_buckets = 0}).ok());
  EXPECT_FALSE(Recorder::open(dir.path(), {.file_suffix = "a/b"}).ok());
  EXPECT_EQ(Recorder::open(dir.path(), {.memory = 0}).error().message(),
            "memory is 0, which would drop every tensor: give the bytes that may wait");
  EXPECT_FALSE(Recorder::open(dir.path(), {.max_wait = std::chrono::milliseconds(-1)}).ok());
  EXPECT_FALSE(Recorder::open(dir.path(), {.flush_interval = std::chrono::milliseconds(-1)}).ok());
}

TEST(BadInput, NegativeNumbersAreRejectedWithAMessage) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const auto values = ramp(4);
  rec.probe("out", {.every = -2}).record(rec.step(0), view(values));
  rec.trigger("now", -1, 0);
  rec.table("t", {{"a", view(values)}}, 0, {.sample = {.rows = -3}});
  rec.image("low", view(values, {2, 2}), 0, Layout::HW, {.low = 1, .high = -1});
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 4U);
  EXPECT_THAT(errors.messages,
              ElementsAre("the probe 'out' has every = -2 and records nothing: give 1 or more steps, or 0 for never",
                          "a capture of -1 steps before and 0 after was not taken: give 0 or more",
                          "the table 't' has a sample of -3 rows: give 1 or more, or 0 for all",
                          HasSubstr("low is above high")));
}

TEST(BadInput, AShapeThatDoesNotMatchItsDataIsCountedAndReported) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const auto values = ramp(10);
  rec.histogram("short", view(values, {3, 4}), 0);
  rec.histogram("negative", view(values.data(), {-1, 4}), 0);
  rec.histogram("deep", view(values.data(), {1, 1, 1, 1, 1, 1, 1, 1, 10}), 0);
  rec.histogram("null", view(static_cast<const float*>(nullptr), {3}), 0);
  rec.image("flat", view(values), 0, Layout::NHWC);
  rec.audio("cube", view(values, {1, 1, 10}), 0);
  rec.pr_curve("curve", view(values), view(values, {5, 2}), 0);
  rec.histogram("fine", view(values), 0);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_GE(rec.counters().rejected, 6U);
  EXPECT_EQ(errors.messages.size(), rec.counters().rejected);
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.histograms.at("fine").size(), 1U);
  EXPECT_FALSE(log.values.contains("short") || log.values.contains("flat") || log.values.contains("cube"));
}

TEST(BadInput, NanAndInfinitiesAreCountedAndDoNoHarm) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  constexpr double kInf = std::numeric_limits<double>::infinity();
  std::vector<double> values(256, std::nan(""));
  values[0] = kInf;
  values[1] = -kInf;
  const Probe out =
      rec.probe("out", {.keep = Keep::stats | Keep::histogram | Keep::image | Keep::print, .layout = Layout::HW});
  for (const double value : {std::nan(""), kInf, -kInf}) rec.scalar("loss", value, 0);
  rec.histogram("weights", view(values), 0);
  rec.audio("sound", view(values), 0);
  {
    const Step step = rec.step(0);
    out.record(step, view(values, {16, 16}));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_TRUE(std::isnan(log.scalars.at("loss").at(0).value));
  EXPECT_EQ(log.scalars.at("loss").at(1).value, kInf);
  EXPECT_EQ(log.scalars.at("loss").at(2).value, -kInf);
  const auto& summary = log.steps.at(0).tensors.at(0).summary;
  EXPECT_EQ(summary.nan, 254U);
  EXPECT_EQ(summary.positive_infinity, 1U);
  EXPECT_EQ(summary.negative_infinity, 1U);
  EXPECT_TRUE(log.damage.empty());
}

TEST(BadInput, AnEmptyTensorIsRecordedAsOne) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out");
  const std::vector<float> none;
  rec.histogram("weights", view(none), 0);
  rec.print("weights", view(none, {0, 3}), 0);
  {
    const Step step = rec.step(0);
    out.record(step, view(none, {0, 3}));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.steps.at(0).tensors.at(0).summary.count, 0U);
  EXPECT_EQ(log.values.at("weights"), 1U);
  EXPECT_TRUE(log.damage.empty());
}

TEST(BadInput, EveryTagExceptAnEmptyOneIsAccepted) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const std::vector<std::string> tags = {"a/b/c",
                                         "/",
                                         "with blanks ",
                                         "Verlust \xc3\xbc \xe6\x90\x8d",
                                         "new\nline",
                                         std::string(10'000, 'x'),
                                         std::string("nul\0byte", 8)};
  for (const auto& tag : tags) rec.scalar(tag, 1, 0);
  rec.scalar("", 1, 0);
  rec.scalar(std::string(100'000, 'x'), 1, 0);
  rec.scalar("broken \xff utf-8", 1, 0);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  for (const auto& tag : tags) EXPECT_EQ(log.scalars.at(tag).size(), 1U);
  EXPECT_EQ(log.scalars.at("broken \xef\xbf\xbd utf-8").size(), 1U);
  EXPECT_EQ(log.scalars.size(), tags.size() + 1);
  EXPECT_EQ(rec.counters().rejected, 2U);
}

TEST(OneTagOnePlugin, ASecondKindOfSummaryIsACountedError) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const auto values = ramp(12);
  rec.scalar("x", 1, 0);
  rec.histogram("x", view(values), 0);
  rec.image("x", view(values, {2, 2, 3}), 0, Layout::HWC);
  rec.text("x", "text", 0);
  rec.scalar("x", 2, 1);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 3U);
  ASSERT_EQ(errors.messages.size(), 3U);
  EXPECT_THAT(errors.messages[0], HasSubstr("'x' holds scalars already and cannot hold histograms"));
  EXPECT_EQ(read_log(dir.path()).scalars.at("x").size(), 2U);
}

TEST(ErrorHandler, MayRecordButNotFlushOrClose) {
  base::TempDir dir;
  std::optional<Recorder> rec;
  std::promise<Code> flushed;
  RecorderOptions options;
  options.on_error = [&](const Status&) {
    rec->scalar("errors", 1, 0);
    flushed.set_value(rec->flush().code());
  };
  rec.emplace(open(dir.path(), options));
  rec->scalar("", 1, 0);
  EXPECT_EQ(flushed.get_future().get(), Code::invalid_argument);
  ASSERT_TRUE(rec->close().ok());
  EXPECT_EQ(read_log(dir.path()).scalars.at("errors").size(), 1U);
}

TEST(Rejected, LeavesAGapThatSaysWhatAndWhy) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const std::vector<std::complex<float>> complex(3);
  const std::vector<float> values = ramp(3);
  rec.histogram("complex", view(complex), 7);
  const Probe out = rec.probe("out", {.keep = Keep::image, .layout = Layout::NHWC});
  for (std::int64_t n = 0; n < 5; ++n) {
    const Step step = rec.step(n);
    out.record(step, view(values));  // one axis, but a picture needs four
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 6U);
  const Log log = read_log(dir.path());
  std::uint64_t of_probe = 0;
  std::uint64_t by_name = 0;
  for (const stats_record::Gap& gap : log.gaps) {
    EXPECT_EQ(gap.reason, stats_record::GapReason::rejected);
    (gap.id ? of_probe : by_name) += gap.count;
    EXPECT_THAT(gap.detail, HasSubstr(gap.id ? "'activation/out" : "'complex'"));
    if (!gap.id) {
      EXPECT_EQ(gap.first_step, 7);
    }
  }
  EXPECT_EQ(of_probe, 5U);
  EXPECT_EQ(by_name, 1U);
  EXPECT_TRUE(log.inputs.contains("out")) << "the gap's probe has a name";
}

}  // namespace
}  // namespace sonde::record
