// A control file that is there when a job starts, and one that asks for what the budget does not allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "record/recorder_testing.h"
#include "sonde/capture.h"
#include "sonde/recorder.h"

namespace sonde::record {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

void record(Recorder& rec, std::int64_t first, std::int64_t last) {
  const Probe out = rec.probe("out");
  const std::vector<float> values = ramp(64);
  for (std::int64_t n = first; n <= last; ++n) out.record(rec.step(n), view(values));
}

std::size_t recorded_steps(const std::string& directory) {
  std::size_t steps = 0;
  for (const Log::Step& step : read_log(directory).steps) steps += step.tensors.empty() ? 0U : 1U;
  return steps;
}

TEST(Control, ThatIsThereAtTheStartCountsFromTheFirstStepOn) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "control.toml",
                         "[[watch]]\nrecord = \"stats\"\nfirst = 5\n[[trigger]]\nwhen = \"step == 3\"\nbefore = 1\n"
                         "[flight]\nsize = \"1MiB\"\n")
                  .ok());
  Recorder rec = open(dir.path());
  EXPECT_THAT(*read_file(dir / "control.state"), StartsWith("applied "));
  record(rec, 0, 59);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(recorded_steps(dir.path()), 5U);
  const auto captures = *list_captures(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(Capture::open(captures[0])->steps().size(), 2U);
}

TEST(Control, ThatIsWrongAtTheStartIsAnsweredAndTheProgramsPolicyCounts) {
  for (const char* wrong : {"[[watch]]\nevry = 3\n", "[[watch]]\ntensors = \"(\"\n"}) {
    TempDir dir;
    Errors errors;
    ASSERT_TRUE(write_file(dir / "control.toml", wrong).ok());
    Recorder rec = open(dir.path(), {.policy = {.watches = {{.every = 2}}}, .on_error = errors.handler()});
    EXPECT_THAT(*read_file(dir / "control.state"), StartsWith("refused "));
    record(rec, 0, 9);
    ASSERT_TRUE(rec.close().ok());
    EXPECT_EQ(recorded_steps(dir.path()), 5U);
    EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the policy stays as it was: ")));
  }
}

TEST(Control, AtTheStartAnswersThatARingCouldNotBeMade) {
  TempDir dir;
  Errors errors;
  ASSERT_TRUE(write_file(dir / "control.toml", "[flight]\nuse = true\nsize = \"4000TiB\"\n").ok());
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  EXPECT_THAT(*read_file(dir / "control.state"), AllOf(StartsWith("applied "), HasSubstr("recording goes on, but ")));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("recording goes on, but ")));
}

TEST(Control, ThatTheProgramDoesNotWantIsNotTakenAtTheStartEither) {
  TempDir dir;
  ASSERT_TRUE(write_file(dir / "control.toml", "[[watch]]\nfirst = 1\n").ok());
  Recorder rec = open(dir.path(), {.live_control = false});
  record(rec, 0, 9);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(recorded_steps(dir.path()), 10U);
  EXPECT_FALSE(std::filesystem::exists(dir / "control.state"));
}

TEST(Control, ThatAsksForACaptureWithoutRoomIsRefusedUntilThereIsSome) {
  TempDir dir;
  Errors errors;
  ASSERT_TRUE(write_file(dir / "old", std::string(100'000, 'x')).ok());
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  policy.budget.disk = 100'000;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  record(rec, 0, 9);
  ASSERT_TRUE(rec.flush().ok());
  ASSERT_TRUE(write_file(dir / "control.toml", "[control]\nfire = 7\n").ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*read_file(dir / "control.state"),
              AllOf(StartsWith("refused "), HasSubstr("the capture 'manual' of step 9 was not saved: it would take"),
                    HasSubstr("set a larger [budget] disk")));
  EXPECT_THAT(*list_captures(dir.path()), IsEmpty());
  // The same number again, with a budget that has room for it.
  ASSERT_TRUE(write_file(dir / "control.toml", "[control]\nfire = 7\n[budget]\ndisk = \"10MB\"\n").ok());
  EXPECT_TRUE(comes_true([&] { return rec.counters().captures == 1; }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the capture 'manual' of step 9 was not saved")));
}

}  // namespace
}  // namespace sonde::record
