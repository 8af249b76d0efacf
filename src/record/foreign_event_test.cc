// Events that another library encoded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/tfevents.h"
#include "formats/tfrecord.h"
#include "record/recorder_testing.h"
#include "sonde/recorder.h"

namespace sonde::record {
namespace {

using ::testing::HasSubstr;

// An Event as another library gives it: without the framing of a record.
std::string event_of(std::int64_t step, double wall_time, const std::string& summary) {
  std::string record;
  tfevents::put_summary_event(record, wall_time, step, summary);
  return record.substr(tfrecord::kHeaderSize, record.size() - tfrecord::kHeaderSize - tfrecord::kFooterSize);
}

std::string scalar(std::string_view tag, double value, bool with_metadata = true) {
  std::string summary;
  tfevents::put_scalar(summary, tag, value, Precision::f32, with_metadata);
  return summary;
}

TEST(ForeignEvent, IsWrittenWithItsStepAndItsTime) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  rec.event(event_of(7, 1234.5, scalar("loss", 0.5)));
  rec.event(event_of(8, 0, scalar("loss", 0.25, false)));
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.scalars.at("loss").size(), 2U);
  EXPECT_EQ(log.scalars.at("loss")[0].step, 7);
  EXPECT_EQ(log.scalars.at("loss")[0].value, 0.5);
  EXPECT_EQ(log.scalars.at("loss")[0].wall_time, 1234.5);
  EXPECT_EQ(log.scalars.at("loss")[1].step, 8);
  EXPECT_GT(log.scalars.at("loss")[1].wall_time, 1e9) << "without a time it gets the present one";
  EXPECT_EQ(rec.counters().scalars, 2U);
}

TEST(ForeignEvent, ConditionsSeeItsScalars) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  const Probe out = rec.probe("out", {.when = [](const StepValues& step) { return step.scalar("loss") > 1.0; }});
  const auto values = ramp(8);
  for (std::int64_t n = 0; n < 3; ++n) {
    const Step step = rec.step(n);
    out.record(step, view(values));
    rec.event(event_of(n, 0, scalar("loss", n == 1 ? 2.0 : 0.5)));
  }
  ASSERT_TRUE(rec.close().ok());
  for (const auto& step : read_log(dir.path()).steps) EXPECT_EQ(step.tensors.size(), step.step == 1 ? 1U : 0U);
}

TEST(ForeignEvent, ThatGivesATagASecondKindIsRejectedWithTheReason) {
  base::TempDir dir;
  std::vector<std::string> errors;
  Recorder rec = open(dir.path(), {.on_error = [&](const Status& status) { errors.push_back(status.message()); }});
  rec.histogram("loss", view(ramp(8)), 0);
  rec.event(event_of(1, 0, scalar("other", 1) + scalar("loss", 0.5)));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 1U);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], HasSubstr("an event was not recorded: the tag 'loss' holds histograms already"));
  EXPECT_EQ(read_log(dir.path()).scalars.count("other"), 0U);
}

TEST(ForeignEvent, ThatIsMalformedIsRejected) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  rec.event("\xff\xff\xff");
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 1U);
  EXPECT_TRUE(read_log(dir.path()).damage.empty());
}

TEST(ForeignEvent, OfAFileVersionIsLeftOutBecauseEveryFileBeginsWithItsOwn) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  std::string record;
  tfevents::put_version_event(record, 5);
  rec.event(std::string_view(record).substr(tfrecord::kHeaderSize,
                                            record.size() - tfrecord::kHeaderSize - tfrecord::kFooterSize));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(rec.counters().rejected, 0U);
  EXPECT_TRUE(read_log(dir.path()).damage.empty());
}

}  // namespace
}  // namespace sonde::record
