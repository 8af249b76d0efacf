// What a budget holds back of captures and checkpoints, one rule a test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "record/disk_use.h"
#include "record/recorder_testing.h"
#include "sonde/capture.h"
#include "sonde/recorder.h"

namespace sonde::record {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kDisk = 1'000'000;

Policy firing_at(std::string when, std::int64_t before) {
  Policy policy = {.triggers = {{.when = std::move(when), .before = before, .rearm = Rearm::always}}};
  policy.flight.bytes = 4 << 20;
  policy.budget.disk = kDisk;
  return policy;
}

void record(Recorder& rec, std::int64_t first, std::int64_t last, std::size_t elements) {
  const Probe out = rec.probe("out", {.keep = Keep::nothing});
  const std::vector<float> values = ramp(elements);
  for (std::int64_t n = first; n <= last; ++n) out.record(rec.step(n), view(values));
}

// Captures are written on their own thread: the ones not yet written count as well.
TEST(Budget, OfTheDiskIsNotExceededByCapturesHoweverFastTheyFire) {
  for (const std::size_t elements : {std::size_t{4}, std::size_t{10'000}}) {
    base::TempDir dir;
    Policy policy = firing_at("every(1)", 20);
    policy.triggers[0].max_captures = 0;
    Recorder rec = open(dir.path(), {.policy = policy});
    record(rec, 0, 1000, elements);
    ASSERT_TRUE(rec.close().ok());
    const std::uint64_t taken = bytes_below(dir / "captures");
    EXPECT_LE(bytes_below(dir.path()), kDisk) << elements;
    EXPECT_GE(taken, kDisk / 2) << elements;
    EXPECT_GE(rec.counters().captures, 1U);
    EXPECT_LT(rec.counters().captures, 1000U);
  }
}

TEST(Budget, ThatPreventsCapturesIsReportedOnceInTheLogAndToTheHandler) {
  base::TempDir dir;
  Errors errors;
  ASSERT_TRUE(base::write_file(dir / "old", std::string(kDisk * 95 / 100, 'x')).ok());
  Policy policy = firing_at("every(1)", 2);
  policy.triggers[0].name = "often";
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  record(rec, 0, 50, 16);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(*list_captures(dir.path()), IsEmpty());
  const auto held_back = AllOf(HasSubstr("the capture 'often' of step 0 was not saved"), HasSubstr("of the 976.6 KiB"),
                               HasSubstr("[budget] disk"));
  EXPECT_THAT(errors.messages, ElementsAre(held_back));
  const Log log = read_log(dir.path());
  EXPECT_THAT(log.texts.at("sonde/budget"), ElementsAre(HasSubstr("full -> statistics"), held_back));
  ASSERT_EQ(log.gaps.size(), 2U);
  EXPECT_EQ(log.gaps[1].reason, stats_record::GapReason::budget);
  EXPECT_THAT(log.gaps[1].detail, held_back);
}

TEST(Budget, ThatHoldsBackCapturesDoesNotUseUpTheirMaximum) {
  base::TempDir dir;
  ASSERT_TRUE(base::write_file(dir / "old", std::string(kDisk * 95 / 100, 'x')).ok());
  Policy policy = firing_at("every(1)", 0);
  policy.triggers[0].max_captures = 2;
  Recorder rec = open(dir.path(), {.policy = policy});
  record(rec, 0, 9, 16);
  ASSERT_TRUE(rec.flush().ok());
  EXPECT_EQ(rec.counters().captures, 0U);
  policy.budget.disk = 10 * kDisk;
  ASSERT_TRUE(rec.set_policy(policy).ok());
  ASSERT_TRUE(rec.flush().ok());
  record(rec, 10, 19, 16);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().captures, 2U);
}

TEST(Budget, RejectsEachManualCaptureWithAMessage) {
  base::TempDir dir;
  Errors errors;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 4 << 20;
  policy.budget.disk = kDisk;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  record(rec, 0, 9, 40'000);  // 160 kB each
  rec.trigger("all of it", 9);
  rec.trigger("all of it", 9);
  rec.trigger("the last ones", 2);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, AllOf(SizeIs(2), Each(HasSubstr("the capture 'all of it' of step 9 was not saved: it "
                                                               "would take about"))));
  EXPECT_THAT(*list_captures(dir.path()), ElementsAre(HasSubstr("the_last_ones")));
  EXPECT_THAT(read_log(dir.path()).texts.at("sonde/budget"), ElementsAre(HasSubstr("all of it")));
}

TEST(Budget, OfOverheadHoldsBackNoCapture) {
  base::TempDir dir;
  Policy policy = firing_at("step == 1", 0);
  policy.budget = {.overhead = 1e-9};
  Recorder rec = open(dir.path(), {.policy = policy});
  record(rec, 0, 2, 16);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().captures, 1U);
}

TEST(Budget, DiskCountsNewAndRemovedCheckpointsAtOnce) {
  base::TempDir dir;
  Policy policy = {.watches = {{.record = Keep::whole}}};
  policy.budget.disk = kDisk;
  Recorder rec = open(dir.path(), {.policy = policy});
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(16);
  const std::vector<float> weights = ramp(100'000);  // 400 kB
  const auto save = [&](std::int64_t step, int keep_last) {
    const CheckpointOptions options = {.keep_last = keep_last, .keep_best = 0};
    ASSERT_TRUE(rec.checkpoint("model", step, {{"w", view(weights)}}, options).ok());
  };
  std::int64_t n = 0;
  const auto tensor_files = [&] {
    out.record(rec.step(n++), view(values));
    EXPECT_TRUE(rec.flush().ok());
    return files_with(dir / "tensors", ".safetensors").size();
  };
  EXPECT_EQ(tensor_files(), 1U);
  for (std::int64_t step = 0; step < 10; ++step) save(step, 1);
  EXPECT_EQ(tensor_files(), 2U) << "one of ten is there";
  for (std::int64_t step = 10; step < 12; ++step) save(step, 0);
  EXPECT_EQ(tensor_files(), 2U) << "three are more than the run may have";
  save(12, 0);
  ASSERT_TRUE(rec.close().ok());
}

}  // namespace
}  // namespace sonde::record
