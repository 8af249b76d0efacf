// What the public interface promises beyond single calls: inert handles, several intervals, statistics that come from
// elsewhere, printing, and numbers that the log cannot hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <string>

#include "record/capture_testing.h"
#include "record/recorder_testing.h"
#include "stats/summary.h"

namespace sonde::record {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// ---- Inert.

TEST(Inert, ADefaultConstructedRecorderDoesNothing) {
  Recorder rec;
  EXPECT_FALSE(rec.enabled());
  EXPECT_EQ(rec.directory(), "");
  const auto values = ramp(4);
  const TensorView tensor = view(values);
  rec.series("loss").record(1, 0);
  Step step = rec.step(3);
  EXPECT_EQ(step.number(), 3);
  EXPECT_FALSE(rec.probe("out").wanted(step));
  rec.probe("out").record(step, tensor);
  rec.probe("out").record(step, Statistics{});
  rec.probe("out").record(rec.evaluation(3), tensor);
  rec.probe("out").record(rec.pass(3), tensor);
  rec.epoch(1);
  rec.group(0).scalar("a", 1);
  rec.scalar("a", 1, 0);
  rec.histogram("h", tensor, 0);
  rec.image("i", tensor, 0, Layout::HW);
  rec.audio("a", tensor, 0);
  rec.text("t", "x", 0);
  rec.pr_curve("p", tensor, tensor, 0);
  rec.mesh("m", tensor, 0);
  rec.hparams({});
  rec.graph({});
  rec.event({});
  rec.custom_scalars({});
  rec.print("p", tensor, 0);
  rec.print_full("p", tensor, 0);
  EXPECT_TRUE(rec.print_now("p", tensor, 0).ok());
  rec.table("t", {{"x", tensor}}, 0);
  rec.trigger();
  EXPECT_TRUE(rec.set_policy({}).ok());
  EXPECT_THAT(rec.checkpoint("c", 0, {{"x", tensor}}).message(), HasSubstr("not saved"));
  EXPECT_EQ(rec.committed_step(), -1);
  EXPECT_EQ(rec.counters().scalars, 0U);
  EXPECT_TRUE(rec.flush().ok());
  EXPECT_TRUE(rec.close().ok());
}

TEST(Inert, DefaultConstructedHandlesDoNothing) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const auto values = ramp(4);
  Step step;
  Group group;
  const Probe probe;
  const Scalar scalar;
  step.end();
  group.scalar("a", 1);
  group.end();
  scalar.record(1, 0);
  probe.record(rec.step(0), view(values));
  EXPECT_FALSE(probe.wanted(step));
  EXPECT_FALSE(rec.probe("out").wanted(step));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().scalars, 0U);
  EXPECT_EQ(rec.counters().tensors, 0U);
}

TEST(Inert, ARecorderIsOpenedLaterByMovingAnotherIntoIt) {
  base::TempDir dir;
  struct Model {
    Recorder rec;
    Scalar loss;
  } model;
  model.loss.record(1, 0);
  model.rec = open(dir.path());
  model.loss = model.rec.series("loss");
  model.loss.record(2, 1);
  ASSERT_TRUE(model.rec.close().ok());
  EXPECT_EQ(read_log(dir.path()).scalars.at("loss").size(), 1U);
}

// ---- Several intervals.

TEST(ProbeOptions, RecordSeveralFormsAtTheirOwnIntervals) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out", {.record = {{Keep::stats, 1}, {Keep::image, 5}}});
  const Probe rare = rec.probe("rare", {.record = {{Keep::stats, 4}, {Keep::whole, 0}}});
  const auto values = ramp(16);
  for (std::int64_t n = 0; n < 10; ++n) {
    const Step step = rec.step(n);
    out.record(step, view(values, {4, 4}));
    rare.record(step, view(values, {4, 4}));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  std::size_t of_out = 0;
  std::size_t of_rare = 0;
  for (const Log::Step& step : log.steps) {
    for (const Log::Tensor& tensor : step.tensors) {
      (tensor.name == "out" ? of_out : of_rare)++;
      EXPECT_FALSE(tensor.histogram.has_value());
    }
  }
  EXPECT_EQ(of_out, 10U);
  EXPECT_EQ(of_rare, 3U);
  EXPECT_EQ(log.values.at("activation/out/image"), 2U);
}

TEST(ProbeOptions, GiveWayToAPolicyAndAreComparedAsAWhole) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  (void)rec.probe("out", {.record = {{Keep::stats, 1}}});
  (void)rec.probe("out", {.record = {{Keep::stats, 2}}});
  ASSERT_TRUE(rec.close().ok());
  ASSERT_THAT(errors.messages, SizeIs(1));
  EXPECT_THAT(errors.messages[0], HasSubstr("already exists with other options"));
}

// ---- Statistics from elsewhere.

Statistics statistics_of(const std::vector<float>& data) {
  stats::Histogram histogram;
  const stats::Summary s = *stats::summarize(view(data), histogram);
  Statistics made = {.shape = {static_cast<std::int64_t>(data.size())},
                     .count = s.count,
                     .nan = s.nan,
                     .positive_infinity = s.positive_infinity,
                     .negative_infinity = s.negative_infinity,
                     .zeros = s.zeros,
                     .negatives = s.negatives,
                     .min = s.min,
                     .max = s.max,
                     .mean = s.mean,
                     .m2 = s.m2,
                     .sum_abs = s.sum_abs};
  for (const auto& bin : histogram.bins()) made.histogram.push_back({bin.key, bin.count});
  return made;
}

TEST(StatisticsFromElsewhere, AreWrittenAsThoseOfTheTensorWouldBe) {
  const std::vector<float> data = {-1, 0, 0.5F, 3, std::numeric_limits<float>::infinity()};
  std::vector<Log> logs;
  for (const bool elsewhere : {false, true}) {
    base::TempDir dir;
    Recorder rec = open(dir.path());
    const Probe out = rec.probe("out", {.kind = Kind::gradient});
    {
      const Step step = rec.step(4);
      ASSERT_TRUE(out.wanted(step));
      elsewhere ? out.record(step, statistics_of(data)) : out.record(step, view(data));
    }
    ASSERT_TRUE(rec.close().ok());
    EXPECT_EQ(rec.counters().tensors, 1U);
    logs.push_back(read_log(dir.path()));
  }
  const Log::Tensor& here = logs[0].steps.at(0).tensors.at(0);
  const Log::Tensor& there = logs[1].steps.at(0).tensors.at(0);
  EXPECT_EQ(there.kind, Kind::gradient);
  EXPECT_EQ(there.summary.count, here.summary.count);
  EXPECT_EQ(there.summary.positive_infinity, 1U);
  EXPECT_EQ(there.summary.mean, here.summary.mean);
  EXPECT_EQ(there.summary.m2, here.summary.m2);
  EXPECT_EQ(there.histogram, here.histogram);
  double total = 0;
  for (const stats::Bucket& bucket : logs[1].histograms.at("gradient/out").at(0)) total += bucket.count;
  EXPECT_EQ(total, 4);
}

TEST(StatisticsFromElsewhere, AreSeenByConditions) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = triggered({.name = "bad", .when = "nonfinite('.*') > 0"})});
  const Probe out = rec.probe("out");
  for (std::int64_t n = 0; n < 3; ++n) {
    const Step step = rec.step(n);
    out.record(step, statistics_of({1, n == 1 ? std::numeric_limits<float>::quiet_NaN() : 2}));
  }
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  ASSERT_FALSE(captures[0].info().dropped.empty());
  EXPECT_EQ(captures[0].info().dropped[0].what, "activation/out");
  EXPECT_THAT(captures[0].info().dropped[0].reason, HasSubstr("only its statistics were recorded"));
}

TEST(StatisticsFromElsewhere, ThatContradictEachOtherAreRejectedWithTheReasonOnce) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const Probe out = rec.probe("out");
  Statistics wrong = statistics_of({1, 2});
  wrong.nan = 7;
  for (std::int64_t n = 0; n < 3; ++n) out.record(rec.step(n), wrong);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 3U);
  ASSERT_THAT(errors.messages, SizeIs(1));
  EXPECT_THAT(errors.messages[0], HasSubstr("the probe 'out' was not recorded: its statistics contradict each other: "
                                            "there are more NaN and infinities than elements"));
}

TEST(StatisticsFromElsewhere, HaveNoPictureAndNoFileAndReportIt) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const Probe out = rec.probe("out", {.keep = Keep::stats | Keep::image | Keep::whole});
  for (std::int64_t n = 0; n < 3; ++n) out.record(rec.step(n), statistics_of({1, 2}));
  ASSERT_TRUE(rec.close().ok());
  ASSERT_THAT(errors.messages, SizeIs(1));
  EXPECT_THAT(errors.messages[0], HasSubstr("of the probe 'out' only statistics were recorded"));
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.steps.size(), 3U);
  EXPECT_EQ(log.steps[2].tensors.size(), 1U);
  EXPECT_EQ(log.values.count("activation/out/image"), 0U);
  EXPECT_THAT(log.texts.at("sonde/warnings"), SizeIs(1));
  EXPECT_THAT(files_with(dir.path(), "tensors"), IsEmpty());
}

// ---- Printing.

// A console with its own buffer: what is read has really been written.
struct Console {
  Console() : out(std::tmpfile()) { std::setvbuf(out, nullptr, _IOFBF, 1 << 16); }
  ~Console() { std::fclose(out); }
  std::string text() const {
    std::string read(1 << 16, '\0');
    const ssize_t size = ::pread(::fileno(out), read.data(), read.size(), 0);
    read.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return read;
  }
  std::FILE* out;
};

TEST(Print, HasAppearedWhenFlushReturns) {
  base::TempDir dir;
  const Console console;
  Recorder rec = open(dir.path(), {.console = console.out});
  const auto values = ramp(4);
  const Probe probed = rec.probe("probed", {.keep = Keep::print});
  rec.print("by name", view(values), 7);
  {
    probed.record(rec.step(8), view(values));
  }
  ASSERT_TRUE(rec.flush().ok());
  EXPECT_THAT(console.text(), HasSubstr("step 7  by name f32[4]"));
  EXPECT_THAT(console.text(), HasSubstr("step 8  probed f32[4]"));
}

TEST(PrintNow, HasAppearedWhenItReturnsWithSoManyValuesAtEachEnd) {
  base::TempDir dir;
  const Console console;
  Recorder rec = open(dir.path(), {.console = console.out});
  const auto values = ramp(100);
  ASSERT_TRUE(rec.print_now("x", view(values), 1, {.summarize = 2}).ok());
  EXPECT_THAT(console.text(), HasSubstr("step 1  x f32[100] 0 |"));
  EXPECT_THAT(console.text(), HasSubstr("\n[ 0.  1. ... 98. 99.]\n"));
  ASSERT_TRUE(rec.print_now("y", view(values, {10, 10}), 2, {.summarize = 1}).ok());
  EXPECT_THAT(console.text(), HasSubstr("\n[[ 0. ...  9.]\n ...\n [90. ... 99.]]\n"));
  ASSERT_TRUE(rec.print_now("z", view(values), 3, {.summarize = -1}).ok());
  EXPECT_THAT(console.text(), HasSubstr(" 49. 50. 51."));
  ASSERT_TRUE(rec.print_now("w", view(values), 4, {.summarize = 0}).ok());
  const std::string text = console.text();
  EXPECT_EQ(text.find('[', text.find("step 4") + sizeof "step 4  w f32["), std::string::npos) << "only the line";
}

TEST(PrintNow, SaysWhyItCannotPrint) {
  base::TempDir dir;
  const Console console;
  Recorder rec = open(dir.path(), {.console = console.out});
  const auto values = ramp(4);
  const Status status = rec.print_now("x", view(values, {5}), 1);
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_THAT(status.message(), HasSubstr("'x' was not printed"));
  EXPECT_EQ(console.text(), "");
}

// ---- Numbers that f32 cannot hold.

TEST(Precision, FiniteNumbersThatBecomeInfiniteAreCountedAndReportedOncePerTag) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  for (std::int64_t n = 0; n < 5; ++n) {
    rec.scalar("loss", 1e300, n);
    rec.group(n).scalar("other", -1e39);
    rec.scalar("fine", std::numeric_limits<float>::max(), n);
    rec.scalar("infinite", std::numeric_limits<double>::infinity(), n);
    rec.scalar("nan", std::numeric_limits<double>::quiet_NaN(), n);
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().overflowed_scalars, 10U);
  EXPECT_EQ(rec.counters().rejected, 0U);
  ASSERT_THAT(errors.messages, SizeIs(2));
  EXPECT_THAT(errors.messages[0], HasSubstr("the scalar 'loss' was 1e+300, which is infinite in the log"));
  EXPECT_THAT(errors.messages[1], HasSubstr("the scalar 'other' was -1e+39"));
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.texts.count("sonde/warnings"), 1U);
  EXPECT_THAT(log.texts.at("sonde/warnings").at(0), HasSubstr("'loss'"));
}

TEST(Precision, NothingIsLostWithF64) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.precision = Precision::f64, .on_error = errors.handler()});
  rec.scalar("loss", 1e300, 0);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().overflowed_scalars, 0U);
  EXPECT_THAT(errors.messages, IsEmpty());
  EXPECT_EQ(read_log(dir.path()).scalars.at("loss").at(0).value, 1e300);
}

}  // namespace
}  // namespace sonde::record
