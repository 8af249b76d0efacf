// What policies keep, one rule a test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <limits>
#include <numeric>

#include "formats/csv.h"
#include "record/disk_use.h"
#include "record/recorder_testing.h"
#include "sonde/recorder.h"
#include "sonde/tensor_io.h"

namespace sonde::record {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Policy watching(std::vector<WatchPolicy> watches) { return {.watches = std::move(watches)}; }

// The steps in the statistics file at which a tensor was kept.
std::vector<std::int64_t> steps_of(const Log& log, std::string_view name) {
  std::vector<std::int64_t> steps;
  for (const Log::Step& step : log.steps) {
    for (const Log::Tensor& tensor : step.tensors) {
      if (tensor.name == name) steps.push_back(step.step);
    }
  }
  return steps;
}

TEST(Policy, SelectsByNameAndInterval) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.tensors = "encoder/.*", .every = 3}})});
  const Probe in = rec.probe("encoder/0");
  const Probe out = rec.probe("decoder/0");
  const std::vector<float> values = ramp(8);
  for (std::int64_t n = 0; n < 7; ++n) {
    auto step = rec.step(n);
    EXPECT_EQ(in.wanted(step), n % 3 == 0);
    EXPECT_FALSE(out.wanted(step));
    in.record(step, view(values));
    out.record(step, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_THAT(steps_of(log, "encoder/0"), ElementsAre(0, 3, 6));
  EXPECT_THAT(steps_of(log, "decoder/0"), IsEmpty());
}

TEST(Policy, AProbeSaysWhetherStatisticsCanReplaceItsTensor) {
  base::TempDir dir;
  Policy policy = watching({{.tensors = "some/.*", .record = Keep::stats},
                            {.tensors = "some/image", .every = 2, .record = Keep::image},
                            {.tensors = "some/rows", .sample = {.rows = 2}, .record = Keep::stats}});
  policy.triggers.push_back({.when = "nonfinite('some/seen')"});
  policy.flight = {.use = FlightPolicy::Use::on, .bytes = 64 << 10, .tensors = "some/ring"};
  Recorder rec = open(dir.path(), {.policy = policy});
  const auto needs = [&](std::string_view name, std::int64_t n) { return rec.probe(name).needs(rec.step(n)); };
  EXPECT_EQ(needs("other", 0), Keep::nothing);
  EXPECT_EQ(needs("some/plain", 0), Keep::stats);
  EXPECT_EQ(needs("some/image", 1), Keep::stats);
  EXPECT_EQ(needs("some/image", 2), Keep::stats | Keep::image);
  EXPECT_EQ(needs("some/rows", 2), Keep::stats | Keep::whole);
  EXPECT_EQ(needs("some/seen", 3), Keep::stats | Keep::histogram);
  EXPECT_EQ(needs("some/ring", 3), Keep::stats | Keep::whole);
}

TEST(Policy, AConditionSeesTheLossOfTheSameStep) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.when = "loss > 1.0", .record = Keep::stats | Keep::whole}})});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(8);
  for (std::int64_t n = 0; n < 6; ++n) {
    auto step = rec.step(n);
    out.record(step, view(values));
    rec.scalar("loss", n == 2 || n == 5 ? 2.0 : 0.5, n);  // after the activation
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(steps_of(read_log(dir.path()), "out"), ElementsAre(2, 5));
  EXPECT_EQ(files_with(dir / "tensors", ".safetensors").size(), 2U);
}

TEST(Policy, AConditionMayAskForStatisticsOfTensorsThatAreNotRecorded) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.tensors = "a", .when = "max('b') > 5"}})});
  const Probe a = rec.probe("a");
  const Probe b = rec.probe("b");
  for (std::int64_t n = 0; n < 4; ++n) {
    auto step = rec.step(n);
    const std::vector<float> values = {static_cast<float>(n * 2)};
    EXPECT_TRUE(b.wanted(step));
    a.record(step, view(values));
    b.record(step, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_THAT(steps_of(log, "a"), ElementsAre(3));
  EXPECT_THAT(steps_of(log, "b"), IsEmpty());
}

TEST(Policy, AsksForNothingOnceTheFirstStepsAreKept) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.first = 2, .record = Keep::stats}})});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(4);
  std::vector<bool> wanted;
  for (std::int64_t n = 0; n < 5; ++n) {
    {
      auto step = rec.step(n);
      wanted.push_back(out.wanted(step));
      out.record(step, view(values));
    }
    ASSERT_TRUE(rec.flush().ok());
  }
  EXPECT_THAT(wanted, ElementsAre(true, true, false, false, false));
  EXPECT_TRUE(out.wanted(rec.evaluation(5))) << "evaluation counts for itself";
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(steps_of(read_log(dir.path()), "out"), ElementsAre(0, 1));
}

TEST(Policy, KeepsComplexTensorsWholeAndSeesWhetherTheyAreFinite) {
  base::TempDir dir;
  Errors errors;
  Policy policy = watching({{.record = Keep::whole | Keep::stats}});
  policy.triggers = {{.when = "nonfinite('.*') > 0"}};
  policy.flight.bytes = 1 << 20;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  std::vector<std::complex<float>> values(6, {1, 2});
  const Probe out = rec.probe("out");
  out.record(rec.step(0), view(values, {3, 2}));
  values[4].imag(std::numeric_limits<float>::quiet_NaN());
  out.record(rec.step(1), view(values, {3, 2}));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the probe 'out' has no statistics")));
  EXPECT_EQ(rec.counters().captures, 1U);
  const auto files = files_with(dir / "tensors", ".safetensors");
  ASSERT_EQ(files.size(), 2U);
  const Tensor kept = *TensorFile::open(files[0])->load("activation/out");
  EXPECT_EQ(kept.dtype, DType::c64);
  EXPECT_EQ(kept.shape, (Shape{3, 2}));
  EXPECT_THAT(steps_of(read_log(dir.path()), "out"), IsEmpty());
}

TEST(Policy, KeepsWholeTensorsAsOneFileAStep) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.record = Keep::whole | Keep::npy | Keep::npz}})});
  const Probe a = rec.probe("a");
  const Probe b = rec.probe("b", {.kind = Kind::gradient});
  const std::vector<float> values = ramp(6);
  {
    auto step = rec.step(42);
    a.record(step, view(values, {2, 3}));
    b.record(step, view(values, {6}));
    a.record(step, view(values, {3, 2}));
  }
  ASSERT_TRUE(rec.close().ok());
  const auto files = files_with(dir / "tensors", "000000000042.");
  ASSERT_EQ(files.size(), 3U) << "a folder of npy files, an npz archive, a safetensors file";
  const auto kept = load_safetensors(files_with(dir / "tensors", ".safetensors").at(0));
  ASSERT_TRUE(kept) << kept.error().message();
  std::vector<std::string> names;
  for (const NamedTensor& tensor : kept->tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("activation/a", "activation/a#1", "gradient/b"));
  const auto archive = load_npz(files_with(dir / "tensors", ".npz").at(0));
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->size(), 3U);
  const auto one = load_npy(files.at(0) + "/gradient/b.npy");
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ(one->shape, (Shape{6}));
}

TEST(Policy, SamplesRows) {
  base::TempDir dir;
  Recorder rec = open(
      dir.path(),
      {.policy =
           watching({{.tensors = "first", .sample = {.rows = 2}, .record = Keep::whole},
                     {.tensors = "any", .sample = {.rows = 2, .random = true}, .record = Keep::whole | Keep::stats}})});
  const std::vector<float> values = ramp(30);
  for (std::int64_t n = 0; n < 3; ++n) {
    auto step = rec.step(n);
    rec.probe("first").record(step, view(values, {10, 3}));
    rec.probe("any").record(step, view(values, {10, 3}));
  }
  ASSERT_TRUE(rec.close().ok());
  std::vector<std::vector<float>> random;
  for (const std::string& path : files_with(dir / "tensors", ".safetensors")) {
    const auto file = TensorFile::open(path);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->info("activation/first")->shape, (Shape{2, 3}));
    const Tensor any = *file->load("activation/any");
    EXPECT_EQ(any.shape, (Shape{2, 3}));
    const auto* data = reinterpret_cast<const float*>(any.data.data());
    EXPECT_EQ(data[1], data[0] + 1) << "whole rows";
    random.emplace_back(data, data + 6);
  }
  ASSERT_EQ(random.size(), 3U);
  EXPECT_FALSE(random[0] == random[1] && random[1] == random[2]) << "others at every step";
  const Log log = read_log(dir.path());
  EXPECT_EQ(log.steps.at(0).tensors.at(0).summary.count, 6U);
}

TEST(Policy, StatisticsAreOfTheSampledRowsEvenIfTheWholeTensorIsRecorded) {
  std::vector<Log> logs;
  for (const bool random : {false, true}) {
    for (const bool armed : {false, true}) {
      base::TempDir dir;
      Policy policy =
          watching({{.sample = {.rows = 4, .random = random}, .record = Keep::stats | Keep::histogram | Keep::image}});
      Recorder rec = open(dir.path(), {.policy = policy});
      if (armed) {
        policy.triggers = {{.when = "count('out') != 96"}};  // it sees all elements
        policy.flight.bytes = 1 << 20;
        ASSERT_TRUE(rec.set_policy(policy).ok());
      }
      const std::vector<float> values = ramp(96);
      for (std::int64_t n = 0; n < 5; ++n) rec.probe("out").record(rec.step(n), view(values, {32, 3}));
      ASSERT_TRUE(rec.close().ok());
      EXPECT_EQ(rec.counters().captures, 0U);
      logs.push_back(read_log(dir.path()));
    }
  }
  for (const std::size_t i : {0U, 2U}) {
    ASSERT_EQ(logs[i].steps.size(), 5U);
    ASSERT_EQ(logs[i + 1].steps.size(), 5U);
    for (std::size_t n = 0; n < 5; ++n) {
      const Log::Tensor& alone = logs[i].steps[n].tensors.at(0);
      const Log::Tensor& armed = logs[i + 1].steps[n].tensors.at(0);
      EXPECT_EQ(alone.summary.count, 12U);
      EXPECT_EQ(armed.summary.count, 12U);
      EXPECT_EQ(armed.summary.mean, alone.summary.mean) << "the same rows";
      EXPECT_EQ(armed.histogram, alone.histogram);
    }
    for (const std::size_t one : {i, i + 1}) {
      for (const auto& buckets : logs[one].histograms.at("activation/out")) {
        EXPECT_EQ(std::accumulate(buckets.begin(), buckets.end(), 0.0,
                                  [](double sum, const stats::Bucket& bucket) { return sum + bucket.count; }),
                  12);
      }
    }
  }
}

TEST(Policy, EachWatchHasStatisticsOfItsOwnRows) {
  base::TempDir dir;
  Recorder rec =
      open(dir.path(),
           {.policy = watching({{.exclude = "some", .record = Keep::stats},
                                {.exclude = "some", .every = 2, .sample = {.rows = 4}, .record = Keep::histogram},
                                {.tensors = "some", .sample = {.rows = 2}, .when = "loss > 1"},
                                {.tensors = "some", .sample = {.rows = 3}}})});
  const std::vector<float> values = ramp(30);
  for (std::int64_t n = 0; n < 2; ++n) {
    auto step = rec.step(n);
    rec.probe("out").record(step, view(values, {10, 3}));
    rec.probe("some").record(step, view(values, {10, 3}));
    rec.scalar("loss", n == 0 ? 2 : 0, n);
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.size(), 2U);
  const auto counted = [&](std::size_t step, std::size_t tensor) {
    const Log::Tensor& found = log.steps[step].tensors.at(tensor);
    return std::pair(found.summary.count, found.histogram ? found.histogram->total() : 0);
  };
  EXPECT_EQ(counted(0, 0), std::pair(30UL, 12UL)) << "statistics of all, a histogram of four rows";
  EXPECT_EQ(counted(1, 0), std::pair(30UL, 0UL));
  EXPECT_EQ(counted(0, 1), std::pair(6UL, 6UL)) << "the first watch that keeps it counts";
  EXPECT_EQ(counted(1, 1), std::pair(9UL, 9UL)) << "its condition does not hold";
}

TEST(Policy, EachKindOfFileHasItsOwnRows) {
  base::TempDir dir;
  Recorder rec =
      open(dir.path(), {.policy = watching({{.sample = {.rows = 2}, .record = Keep::whole}, {.record = Keep::npz}})});
  const std::vector<float> values = ramp(30);
  {
    auto step = rec.step(0);
    rec.probe("a").record(step, view(values, {10, 3}));
  }
  ASSERT_TRUE(rec.close().ok());
  const auto whole = TensorFile::open(files_with(dir / "tensors", ".safetensors").at(0));
  const auto archive = TensorFile::open(files_with(dir / "tensors", ".npz").at(0));
  EXPECT_EQ(whole->info()->shape, (Shape{2, 3}));
  EXPECT_EQ(archive->info()->shape, (Shape{10, 3}));
}

TEST(Policy, CountsEpochs) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.every = 2, .epochs = true}})});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(4);
  for (std::int64_t n = 0; n < 12; ++n) {
    if (n % 3 == 0) rec.epoch(n / 3);
    auto step = rec.step(n);
    out.record(step, view(values));
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(steps_of(read_log(dir.path()), "out"), ElementsAre(0, 6));
}

TEST(Policy, ChangesWhileTheProgramRuns) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.tensors = "a"}})});
  const Probe a = rec.probe("a");
  const Probe b = rec.probe("b");
  const std::vector<float> values = ramp(4);
  const auto record = [&](std::int64_t n) {
    auto step = rec.step(n);
    a.record(step, view(values));
    b.record(step, view(values));
  };
  record(0);
  EXPECT_FALSE(rec.set_policy(watching({{.tensors = "("}})).ok()) << "changes nothing";
  record(1);
  ASSERT_TRUE(rec.set_policy(watching({{.tensors = "b"}})).ok());
  record(2);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_THAT(steps_of(log, "a"), ElementsAre(0, 1));
  EXPECT_THAT(steps_of(log, "b"), ElementsAre(2));
}

TEST(Policy, ThatMakesNoSenseIsKnownAtOpen) {
  base::TempDir dir;
  const auto opened = Recorder::open(dir.path(), {.policy = watching({{.when = "loss >"}})});
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message(), HasSubstr("column"));
}

TEST(Policy, WarnsOnceAboutAPatternThatMatchesNothing) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.policy = watching({{.tensors = "encodr/.*"}}), .on_error = errors.handler()});
  rec.probe("encoder/0");
  rec.probe("decoder/0");
  for (std::int64_t n = 0; n < 30; ++n) rec.step(n);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages,
              ElementsAre("the watch on 'encodr/.*' matches none of the 2 probes; the nearest are 'encoder/0', "
                          "'decoder/0' and 'activation/encoder/0'"));
  EXPECT_EQ(read_log(dir.path()).texts.at("sonde/warnings"), errors.messages);
}

TEST(Policy, IsWarnedOfInTheLogAlsoWithoutAnErrorHandler) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = {.watches = {{.tensors = "encodr/.*"}, {.tensors = "decodr/.*"}},
                                              .triggers = {{.name = "spike", .when = "los > 3"}},
                                              .flight = {.use = FlightPolicy::Use::off}}});
  rec.probe("encoder/0");
  for (std::int64_t n = 0; n < 3; ++n) {
    auto step = rec.step(n);
    rec.scalar("loss", 1, n);
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(
      read_log(dir.path()).texts.at("sonde/warnings"),
      ElementsAre(AllOf(HasSubstr("'encodr/.*' matches none"), HasSubstr("\n\nthe watch on 'decodr/.*' matches"),
                        HasSubstr("\n\nthe scalar 'los' in the trigger 'spike' was never recorded"))));
}

TEST(Policy, NamesEachOfTheNearestOnce) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.policy = watching({{.tensors = "dense/kernle"}}), .on_error = errors.handler()});
  rec.probe("dense/out");
  rec.probe("dense/kernel", {.kind = Kind::weight});
  rec.probe("dense/kernel", {.kind = Kind::gradient});
  rec.probe("dense/bias", {.kind = Kind::weight});
  rec.step(0);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre("the watch on 'dense/kernle' matches none of the 4 probes; the nearest are "
                                           "'dense/kernel', 'dense/out' and 'dense/bias'"));
}

TEST(Policy, WarnsOfEpochsThatNeverBegin) {
  for (const int steps : {3, 2000}) {
    base::TempDir dir;
    Errors errors;
    Recorder rec = open(dir.path(), {.policy = watching({{.tensors = "out", .every = 1, .epochs = true}}),
                                     .on_error = errors.handler()});
    const Probe out = rec.probe("out");
    const std::vector<float> values = ramp(4);
    for (int n = 0; n < steps; ++n) out.record(rec.step(n), view(values));
    ASSERT_TRUE(rec.flush().ok());
    EXPECT_EQ(errors.messages.size(), steps < 1000 ? 0U : 1U);
    ASSERT_TRUE(rec.close().ok());
    EXPECT_THAT(errors.messages, ElementsAre("the watch on 'out' waits for an epoch, and none has begun: call "
                                             "Recorder::epoch at the beginning of each, or count steps, as with "
                                             "every = 100"));
  }
}

TEST(Policy, WarnsOfAScalarThatLooksLikeASlipOfThePen) {
  base::TempDir dir;
  Errors errors;
  {
    Recorder rec =
        open(dir.path(), {.policy = {.triggers = {{.name = "spike", .when = "los > 3"},
                                                  {.name = "test", .when = "scalar('test/accuracy') < 0.5"}}},
                          .on_error = errors.handler()});
    for (std::int64_t n = 0; n < 12; ++n) {
      auto step = rec.step(n);
      rec.scalar("loss", 1, n);
    }
    ASSERT_TRUE(rec.flush().ok());
    const std::scoped_lock lock(errors.mutex);
    EXPECT_THAT(errors.messages,
                ElementsAre("the scalar 'los' in the trigger 'spike' was never recorded; did you mean 'loss'?"));
  }
  EXPECT_THAT(errors.messages, Contains("the scalar 'test/accuracy' in the trigger 'test' was never recorded"));
  EXPECT_EQ(errors.messages.size(), 2U);
}

TEST(Policy, SaysHowANameWithASlashIsWritten) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.policy = {.triggers = {{.name = "spike", .when = "train/loss > 3"}}},
                                   .on_error = errors.handler()});
  for (std::int64_t n = 0; n < 12; ++n) {
    auto step = rec.step(n);
    rec.scalar("train/loss", 1, n);
  }
  ASSERT_TRUE(rec.flush().ok());
  const std::scoped_lock lock(errors.mutex);
  EXPECT_THAT(errors.messages, ElementsAre("the scalar 'train' in the trigger 'spike' was never recorded; the one with "
                                           "a slash in its name is scalar('train/loss')"));
}

TEST(Policy, SupportsManyWatchesOnOneTensorAndReportsTooMany) {
  base::TempDir dir;
  Errors errors;
  std::vector<WatchPolicy> watches;
  for (int i = 0; i < 40; ++i) watches.push_back({.every = 1000, .record = Keep::stats});
  watches.push_back({.every = 1, .record = Keep::stats});
  Recorder rec = open(dir.path(), {.policy = watching(watches), .on_error = errors.handler()});
  const Probe out = rec.probe("out");
  EXPECT_TRUE(out.wanted(rec.step(1)));
  watches.insert(watches.end(), 40, WatchPolicy{.every = 1000, .record = Keep::stats});
  ASSERT_TRUE(rec.set_policy(watching(watches)).ok());
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre("more than 64 watches match 'out': only the first ones count"));
}

TEST(Probe, CreatedAgainWithOtherOptionsIsReportedOnce) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  (void)rec.probe("out", {.every = 2});
  (void)rec.probe("out", {.every = 2});
  (void)rec.probe("out");
  EXPECT_FALSE(rec.probe("out").wanted(rec.step(1)));
  (void)rec.probe("out", {.every = 3});
  (void)rec.probe("out", {.every = 4});
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre("the probe 'out' already exists with other options: those apply"));
}

TEST(Probe, IsFoundAgainByNameAndKindAmongMany) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  constexpr int kProbes = 20'000;
  for (int i = 0; i < kProbes; ++i) rec.probe("layer_" + std::to_string(i));
  for (int i = 0; i < kProbes; ++i) rec.probe("layer_" + std::to_string(i), {.kind = Kind::gradient});
  const std::vector<float> values = ramp(4);
  {
    auto step = rec.step(0);
    for (const int i : {0, 777, kProbes - 1}) {
      rec.probe("layer_" + std::to_string(i)).record(step, view(values));
      rec.probe("layer_" + std::to_string(i), {.kind = Kind::gradient}).record(step, view(values));
    }
  }
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.size(), 1U);
  std::vector<std::pair<std::string, Kind>> found;
  for (const Log::Tensor& tensor : log.steps[0].tensors) {
    found.emplace_back(tensor.name, tensor.kind);
    EXPECT_EQ(tensor.occurrence, 0U);
  }
  EXPECT_THAT(found, ElementsAre(std::pair("layer_0", Kind::activation), std::pair("layer_0", Kind::gradient),
                                 std::pair("layer_777", Kind::activation), std::pair("layer_777", Kind::gradient),
                                 std::pair("layer_19999", Kind::activation), std::pair("layer_19999", Kind::gradient)));
}

TEST(Table, GrowsByARowForEachOfItsTensorsRows) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const std::vector<std::int64_t> labels = {3, 1, 2};
  const std::vector<float> predicted = {0.5F, 0.5F, 0.25F, 0.75F, 1, 0};
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    rec.table("validation", {{"label", view(labels)}, {"predicted", view(predicted, {3, 2})}}, epoch * 100);
  }
  ASSERT_TRUE(rec.close().ok());
  const auto files = files_with(dir / "tables", "validation");
  ASSERT_EQ(files.size(), 1U);
  const auto rows = csv::decode(*base::read_file(files[0]));
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 7U);
  EXPECT_THAT((*rows)[0], ElementsAre("step", "wall_time", "row", "label", "predicted[0]", "predicted[1]"));
  EXPECT_EQ((*rows)[4][0], "100");
  EXPECT_EQ((*rows)[5][3], "1");
  EXPECT_EQ((*rows)[5][5], "0.75");
}

// Values of 3 * row, which identify the row of each line.
TEST(Table, NumbersRandomRowsAsTheBatchDoes) {
  base::TempDir dir;
  const RowSample some = {.rows = 4, .random = true};
  Recorder rec = open(dir.path(), {.policy = watching({{.tensors = "early", .sample = some, .record = Keep::csv},
                                                       {.tensors = "late", .sample = some, .record = Keep::csv},
                                                       {.tensors = "late", .record = Keep::stats}})});
  const std::vector<float> values = ramp(300);
  {
    auto step = rec.step(5);
    rec.probe("early").record(step, view(values, {100, 3}));  // its rows are taken by the caller
    rec.probe("late").record(step, view(values, {100, 3}));   // these by the backend, which sees all
    rec.table("table", {{"x", view(values, {100, 3})}}, 5, {.sample = some});
  }
  ASSERT_TRUE(rec.close().ok());
  for (const auto& [folder, name] : {std::pair("tables/activation", "early"), std::pair("tables/activation", "late"),
                                     std::pair("tables", "table.")}) {
    const auto rows = csv::decode(*base::read_file(files_with(dir / folder, name).at(0)));
    ASSERT_TRUE(rows);
    ASSERT_EQ(rows->size(), 5U) << name;
    for (std::size_t i = 1; i < rows->size(); ++i) {
      const int row = std::stoi((*rows)[i][2]);
      EXPECT_EQ(std::stoi((*rows)[i][3]), 3 * row) << name;
    }
    EXPECT_GT(std::stoi(rows->back()[2]), 3) << name;
  }
}

TEST(Table, OfColumnsThatDoNotMatchIsRejected) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const std::vector<float> values = ramp(6);
  rec.table("t", {{"a", view(values)}, {"b", view(values, {2, 3})}}, 0);
  rec.table("t", {}, 0);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(errors.messages.size(), 2U);
  EXPECT_EQ(rec.counters().rejected, 2U);
}

TEST(Table, MayHoldTheTensorOfAProbe) {
  base::TempDir dir;
  Recorder rec = open(dir.path(), {.policy = watching({{.sample = {.rows = 2}, .record = Keep::csv}})});
  const std::vector<float> values = ramp(8);
  for (std::int64_t n = 0; n < 2; ++n) {
    auto step = rec.step(n);
    rec.probe("out").record(step, view(values, {4, 2}));
  }
  ASSERT_TRUE(rec.close().ok());
  const auto files = files_with(dir / "tables/activation", "out");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(csv::decode(*base::read_file(files[0]))->size(), 5U);
}

TEST(Checkpoint, IsSavedWhenTheCallReturns) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const std::vector<float> weights = ramp(12);
  ASSERT_TRUE(rec.checkpoint("model", 7, {{"w", view(weights, {3, 4})}}, {.metric = 0.25}).ok());
  const auto loaded = load_checkpoint(dir.path(), 7);
  ASSERT_TRUE(loaded) << loaded.error().message();
  ASSERT_EQ(loaded->tensors.size(), 1U);
  EXPECT_EQ(loaded->tensors[0].tensor.shape, (Shape{3, 4}));
  EXPECT_EQ(list_checkpoints(dir.path())->checkpoints.at(0).metric, 0.25);
}

TEST(Budget, OfOverheadIsNotUsedUpByWaiting) {
  base::TempDir dir;
  Policy policy = watching({{.record = Keep::stats}});
  policy.budget.overhead = 0.5;
  Recorder rec = open(dir.path(), {.policy = policy});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(16);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (std::int64_t n = 0; std::chrono::steady_clock::now() < end; ++n) {
    auto step = rec.step(n);
    out.record(step, view(values));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // as training would take: the backend waits as well
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(read_log(dir.path()).gaps, IsEmpty());
}

TEST(Budget, ThatIsUsedUpLeavesStatisticsAndANoteInTheLog) {
  base::TempDir dir;
  std::filesystem::create_directories(dir / "old");
  ASSERT_TRUE(base::write_file(dir / "old/file", std::string(1000, 'x')).ok());
  Policy policy = watching({{.record = Keep::stats | Keep::whole}});
  policy.budget.disk = 1050;  // reached at once
  Recorder rec = open(dir.path(), {.policy = policy});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(100);
  std::int64_t n = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (bool wanted = true; wanted && std::chrono::steady_clock::now() < deadline; ++n) {
    auto step = rec.step(n);
    wanted = out.wanted(step);  // until the budget is used up, which is checked a few times per second
    out.record(step, view(values));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // as training would take
  }
  rec.scalar("loss", 1, n);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.gaps.size(), 2U);
  EXPECT_EQ(log.gaps[0].reason, stats_record::GapReason::budget);
  EXPECT_THAT(log.gaps[0].detail, HasSubstr("full -> statistics: the run takes"));
  EXPECT_THAT(log.gaps[1].detail, HasSubstr("statistics -> nothing"));
  EXPECT_EQ(log.texts.at("sonde/budget").size(), 2U);
  EXPECT_EQ(log.scalars.at("loss").size(), 1U) << "scalars are always recorded";
}

TEST(Budget, OfTheDiskIsNotExceededByWholeTensorsHoweverFastTheyCome) {
  base::TempDir dir;
  Policy policy = watching({{.record = Keep::stats | Keep::whole}});
  policy.budget.disk = 1'000'000;
  Recorder rec = open(dir.path(), {.policy = policy});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(10'000);  // 40 kB
  for (std::int64_t n = 0; n < 100; ++n) out.record(rec.step(n), view(values));
  ASSERT_TRUE(rec.close().ok());
  const std::uint64_t taken = bytes_below(dir.path());
  EXPECT_LE(taken, 1'000'000U);
  EXPECT_GE(taken, 800'000U);
  const Log log = read_log(dir.path());
  EXPECT_EQ(steps_of(log, "out").size(), 100U) << "statistics go on";
  EXPECT_EQ(log.texts.at("sonde/budget").size(), 1U);
}

TEST(Budget, MemoryIsAllForTensorsWithoutARing) {
  base::TempDir dir;
  Policy policy = watching({{.record = Keep::stats}});
  policy.budget.memory = 100'000;
  Recorder rec = open(dir.path(), {.policy = policy});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(20'000);  // 80 kB
  out.record(rec.step(0), view(values));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(steps_of(read_log(dir.path()), "out"), ElementsAre(0));
}

TEST(Image, OfAProbeWithoutALayoutFollowsFromItsAxes) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.policy = watching({{.record = Keep::image}}), .on_error = errors.handler()});
  const std::vector<float> values = ramp(48);
  const std::vector<std::pair<std::string, Shape>> tensors = {
      {"vector", {48}}, {"matrix", {16, 3}}, {"matrices", {4, 4, 3}}, {"batch", {2, 4, 2, 3}}};
  for (std::int64_t n = 0; n < 3; ++n) {
    auto step = rec.step(n);
    for (const auto& [name, shape] : tensors) rec.probe(name).record(step, view(values, shape));
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, IsEmpty());
  const Log log = read_log(dir.path());
  for (const auto& [name, shape] : tensors) EXPECT_EQ(log.values.at("activation/" + name + "/image"), 3U) << name;
}

TEST(Probe, ThatCannotBeShownIsNamedOnceAndCountedEachTime) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.console = stderr,
                                   .policy = watching({{.tensors = "deep|number", .record = Keep::image},
                                                       {.tensors = "wave", .record = Keep::print}}),
                                   .on_error = errors.handler()});
  const std::vector<float> values = ramp(32);
  const std::vector<std::complex<float>> complex(4);
  for (std::int64_t n = 0; n < 5; ++n) {
    auto step = rec.step(n);
    rec.probe("deep").record(step, view(values, {2, 2, 2, 2, 2}));
    rec.probe("number").record(step, view(values.data(), {}));
    rec.probe("wave").record(step, view(complex));
  }
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages,
              UnorderedElementsAre(
                  HasSubstr("'activation/deep/image' was not recorded: the tensor f32[2,2,2,2,2] cannot be"),
                  HasSubstr("'activation/number/image' was not recorded"), HasSubstr("'wave' was not printed")));
  EXPECT_EQ(rec.counters().rejected, 15U);
}

TEST(Probe, OfABadShapeIsNamedOnceAndCountedEachTime) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  const std::vector<float> values = ramp(10);
  for (std::int64_t n = 0; n < 5; ++n) {
    auto step = rec.step(n);
    rec.probe("out").record(step, view(values, {3, 4}));
  }
  rec.histogram("weights", view(values, {3, 4}), 5);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre("the probe 'out' was not recorded: its shape does not match its data",
                                           "'weights' was not recorded: its shape does not match its data"));
  EXPECT_EQ(rec.counters().rejected, 6U);
}

}  // namespace
}  // namespace sonde::record
