// The control file: one that exists when a job starts, one that asks for what the budget does not allow, and those
// that come while a job runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "record/capture_testing.h"

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

TEST(Control, AnExistingFileAppliesFromTheFirstStepOn) {
  base::TempDir dir;
  ASSERT_TRUE(
      base::write_file(dir / "control.toml",
                       "[[watch]]\nrecord = \"stats\"\nfirst = 5\n[[trigger]]\nwhen = \"step == 3\"\nbefore = 1\n"
                       "[flight]\nsize = \"1MiB\"\n")
          .ok());
  Recorder rec = open(dir.path());
  EXPECT_THAT(*base::read_file(dir / "control.state"), StartsWith("applied "));
  record(rec, 0, 59);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(recorded_steps(dir.path()), 5U);
  const auto captures = *list_captures(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(Capture::open(captures[0])->steps().size(), 2U);
}

TEST(Control, ThatIsWrongAtTheStartIsAnsweredAndTheProgramsPolicyCounts) {
  for (const char* wrong : {"[[watch]]\nevry = 3\n", "[[watch]]\ntensors = \"(\"\n"}) {
    base::TempDir dir;
    Errors errors;
    ASSERT_TRUE(base::write_file(dir / "control.toml", wrong).ok());
    Recorder rec = open(dir.path(), {.policy = {.watches = {{.every = 2}}}, .on_error = errors.handler()});
    EXPECT_THAT(*base::read_file(dir / "control.state"), StartsWith("refused "));
    record(rec, 0, 9);
    ASSERT_TRUE(rec.close().ok());
    EXPECT_EQ(recorded_steps(dir.path()), 5U);
    EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the policy stays as it was: ")));
  }
}

TEST(Control, AtTheStartAnswersThatARingCouldNotBeCreated) {
  base::TempDir dir;
  Errors errors;
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[flight]\nuse = true\nsize = \"4000TiB\"\n").ok());
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  EXPECT_THAT(*base::read_file(dir / "control.state"),
              AllOf(StartsWith("applied "), HasSubstr("recording continues, but ")));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("recording continues, but ")));
}

TEST(Control, ThatTheProgramDoesNotWantIsNotTakenAtTheStartEither) {
  base::TempDir dir;
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[[watch]]\nfirst = 1\n").ok());
  Recorder rec = open(dir.path(), {.live_control = false});
  record(rec, 0, 9);
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(recorded_steps(dir.path()), 10U);
  EXPECT_FALSE(std::filesystem::exists(dir / "control.state"));
}

TEST(Control, RejectsACaptureUntilTheDiskHasRoom) {
  base::TempDir dir;
  Errors errors;
  ASSERT_TRUE(base::write_file(dir / "old", std::string(100'000, 'x')).ok());
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  policy.budget.disk = 100'000;
  Recorder rec = open(dir.path(), {.policy = policy, .on_error = errors.handler()});
  record(rec, 0, 9);
  ASSERT_TRUE(rec.flush().ok());
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[control]\nfire = 7\n").ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*base::read_file(dir / "control.state"),
              AllOf(StartsWith("refused "), HasSubstr("the capture 'manual' of step 9 was not saved: it would take"),
                    HasSubstr("set a larger [budget] disk")));
  EXPECT_THAT(*list_captures(dir.path()), IsEmpty());
  // The same number again, with a budget that has room for it.
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[control]\nfire = 7\n[budget]\ndisk = \"10MB\"\n").ok());
  EXPECT_TRUE(comes_true([&] { return rec.counters().captures == 1; }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the capture 'manual' of step 9 was not saved")));
}

// ---- While a job runs.

TEST(Control, ArmsATriggerOnARunningJob) {
  base::TempDir dir;
  Recorder rec = open(dir.path());
  train(rec, 0, 3, 100);
  ASSERT_TRUE(base::write_file(dir / "control.toml",
                               "[control]\nkeep_triggers = true\n[[trigger]]\nname = \"late\"\nwhen = "
                               "\"step == 50\"\nbefore = 1\n[flight]\nsize = \"1MiB\"\n")
                  .ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*base::read_file(dir / "control.state"), testing::StartsWith("applied "));
  ASSERT_TRUE(comes_true([&] { return !files_with(dir.path(), ".ring").empty(); }));
  ASSERT_TRUE(rec.flush().ok());  // waits until the ring is in use
  train(rec, 40, 55, 100);
  ASSERT_TRUE(rec.close().ok());
  const auto captures = captures_of(dir.path());
  ASSERT_EQ(captures.size(), 1U);
  EXPECT_EQ(captures[0].info().reason, "late");
  EXPECT_THAT(steps_of(captures[0]), ElementsAre(49, 50));
}

TEST(Control, AnswersThatARingCouldNotBeCreated) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[flight]\nuse = true\nsize = \"4000TiB\"\n").ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*base::read_file(dir / "control.state"),
              testing::AllOf(testing::StartsWith("applied "), HasSubstr("recording continues, but ")));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("recording continues, but ")));
  EXPECT_EQ(read_log(dir.path()).texts.at("sonde/flight"), errors.messages);
}

TEST(Control, ARingThatCouldNotBeCreatedIsReportedInTheLogWithoutAnErrorHandler) {
  base::TempDir dir;
  Recorder rec =
      open(dir.path(), {.policy = {.flight = {.use = FlightPolicy::Use::on, .bytes = std::uint64_t{900} << 40}}});
  train(rec, 0, 3, 100);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  EXPECT_THAT(log.texts.at("sonde/flight"), ElementsAre(HasSubstr("recording continues, but ")));
  EXPECT_EQ(log.steps.size(), 4U);
}

TEST(Control, AnInvalidFileChangesNothingAndIsAnswered) {
  base::TempDir dir;
  Errors errors;
  Recorder rec = open(dir.path(), {.policy = {.watches = {{.tensors = "one"}}}, .on_error = errors.handler()});
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\nevry = 3\n").ok());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  EXPECT_THAT(*base::read_file(dir / "control.state"),
              testing::AllOf(testing::StartsWith("refused "), HasSubstr("evry"), HasSubstr("3:1")));
  train(rec, 0, 0, 100);
  ASSERT_TRUE(rec.close().ok());
  const Log log = read_log(dir.path());
  ASSERT_EQ(log.steps.at(0).tensors.size(), 1U);
  EXPECT_EQ(log.steps[0].tensors[0].name, "one");
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("the policy stays as it was: ")));
}

TEST(Control, RepeatedFiringsAreCaptures) {
  base::TempDir dir;
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 1 << 20;
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[control]\nfire = 7\n").ok());  // asked of an earlier process
  Recorder rec = open(dir.path(), {.policy = policy});
  train(rec, 0, 3, 100);
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[control]\nfire = 8\n").ok());
  EXPECT_TRUE(comes_true([&] { return rec.counters().captures == 1; }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_EQ(captures_of(dir.path()).size(), 1U);
}

TEST(Control, AFileOfAnotherOwnerIsIgnored) {
  base::TempDir dir;
  Errors errors;
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\n").ok());
  if (::chown((dir / "control.toml").c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    if (::geteuid() == 0) return;  // in a container without chown; all files belong to this user
    std::filesystem::remove(dir / "control.toml");
    std::filesystem::create_symlink("/etc/passwd", dir / "control.toml");
  }
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  EXPECT_TRUE(comes_true([&] {
    const std::scoped_lock lock(errors.mutex);
    return errors.messages.size() == 1;
  }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("is ignored: it belongs to another user")));
  EXPECT_FALSE(std::filesystem::exists(dir / "control.state"));
}

TEST(Control, APipeInItsPlaceDoesNotBlockAndIsReported) {
  base::TempDir dir;
  Errors errors;
  ASSERT_EQ(::mkfifo((dir / "control.toml").c_str(), 0600), 0);
  Recorder rec = open(dir.path(), {.on_error = errors.handler()});
  EXPECT_TRUE(comes_true([&] {
    const std::scoped_lock lock(errors.mutex);
    return !errors.messages.empty();
  }));
  ASSERT_TRUE(rec.close().ok());
  EXPECT_THAT(errors.messages, ElementsAre(HasSubstr("control.toml': it is not a regular file")));
}

TEST(Control, StaysOnTopOfThePolicyThatTheProgramSets) {
  base::TempDir dir;
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\n").ok());
  Recorder rec = open(dir.path());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  ASSERT_TRUE(rec.set_policy({.watches = {{.tensors = "one"}}}).ok());
  EXPECT_FALSE(rec.probe("one").wanted(rec.step(0)));
  EXPECT_TRUE(rec.probe("two").wanted(rec.step(0)));
}

TEST(Control, EndsWithItsFile) {
  base::TempDir dir;
  ASSERT_TRUE(base::write_file(dir / "control.toml", "[[watch]]\ntensors = \"two\"\n").ok());
  Recorder rec = open(dir.path());
  ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(dir / "control.state"); }));
  const Probe one = rec.probe("one");
  EXPECT_FALSE(one.wanted(rec.step(0)));
  std::filesystem::remove(dir / "control.toml");
  EXPECT_TRUE(comes_true([&] { return one.wanted(rec.step(1)); }));
}

}  // namespace
}  // namespace sonde::record
