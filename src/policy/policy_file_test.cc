#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "policy/control_file.h"
#include "policy/expression.h"
#include "policy/rules.h"
#include "sonde/policy.h"
#include "tests/test_data.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Policy parsed(std::string_view toml) {
  const auto policy = Policy::parse(toml, "policy.toml");
  EXPECT_TRUE(policy) << toml << '\n' << policy.error().message();
  return policy ? *policy : Policy();
}

std::string error_of(std::string_view toml) {
  const auto policy = Policy::parse(toml, "policy.toml");
  EXPECT_FALSE(policy) << toml;
  return policy ? "" : policy.error().message();
}

TEST(PolicyFile, ThatIsEmptyIsAPolicyWithoutWatches) {
  EXPECT_EQ(parsed(""), Policy());
  EXPECT_EQ(parsed("# nothing\n"), Policy());
}

TEST(PolicyFile, ReadsEveryKeyOfAWatch) {
  const Policy policy = parsed(R"(
[[watch]]
tensors = "encoder/.*"
exclude = "encoder/mask"
kind    = ["gradient", "weight"]
every   = 100
steps   = "1000..2000"
first   = 7
sample  = { rows = 8, random = true }
when    = "loss > 1.0"
record  = ["stats", "histogram", "image", "audio", "whole", "npy", "npz", "print", "csv"]

[[watch]]
)");
  ASSERT_EQ(policy.watches.size(), 2U);
  WatchPolicy expected;
  expected.tensors = "encoder/.*";
  expected.exclude = "encoder/mask";
  expected.kinds = {Kind::gradient, Kind::weight};
  expected.every = 100;
  expected.first_step = 1000;
  expected.last_step = 2000;
  expected.first = 7;
  expected.sample = {.rows = 8, .random = true};
  expected.when = "loss > 1.0";
  expected.record = static_cast<Keep>(511);
  EXPECT_EQ(policy.watches[0], expected);
  EXPECT_EQ(policy.watches[1], WatchPolicy());
}

TEST(PolicyFile, ReadsEveryWayToSayHowOften) {
  const auto every = [](const std::string& value) {
    const WatchPolicy watch = parsed("[[watch]]\nevery = " + value).watches.at(0);
    return std::pair(watch.every, watch.epochs);
  };
  EXPECT_EQ(every("1"), std::pair(std::int64_t{1}, false));
  EXPECT_EQ(every("\"epoch\""), std::pair(std::int64_t{1}, true));
  EXPECT_EQ(every("\"5 epochs\""), std::pair(std::int64_t{5}, true));
  EXPECT_EQ(every("\"1 epoch\""), std::pair(std::int64_t{1}, true));
  EXPECT_EQ(every("\"100 steps\""), std::pair(std::int64_t{100}, false));
  EXPECT_EQ(every("\"step\""), std::pair(std::int64_t{1}, false));
}

TEST(PolicyFile, ReadsEveryWayToSayWhichSteps) {
  const auto steps = [](const std::string& value) {
    const WatchPolicy watch = parsed("[[watch]]\nsteps = \"" + value + "\"").watches.at(0);
    return std::pair(watch.first_step, watch.last_step);
  };
  EXPECT_EQ(steps("1000..2000"), std::pair(std::int64_t{1000}, std::int64_t{2000}));
  EXPECT_EQ(steps("1000 .. 2000"), std::pair(std::int64_t{1000}, std::int64_t{2000}));
  EXPECT_EQ(steps("5..5"), std::pair(std::int64_t{5}, std::int64_t{5}));
  EXPECT_EQ(steps("1000.."), std::pair(std::int64_t{1000}, std::int64_t{-1}));
  EXPECT_EQ(steps("..2000"), std::pair(std::int64_t{0}, std::int64_t{2000}));
}

TEST(PolicyFile, ReadsEveryWayToSayWhichRowsAndWhatToRecord) {
  EXPECT_EQ(parsed("[[watch]]\nsample = 8").watches[0].sample, (RowSample{.rows = 8, .random = false}));
  EXPECT_EQ(parsed("[[watch]]\nsample = \"8 rows\"").watches[0].sample, (RowSample{.rows = 8, .random = false}));
  EXPECT_EQ(parsed("[[watch]]\nsample = { rows = 3 }").watches[0].sample, (RowSample{.rows = 3, .random = false}));
  EXPECT_EQ(parsed("[[watch]]\nrecord = \"whole\"").watches[0].record, Keep::whole);
  EXPECT_THAT(parsed("[[watch]]\nkind = \"output\"").watches[0].kinds, ElementsAre(Kind::output));
}

TEST(PolicyFile, ReadsEveryKeyOfATrigger) {
  const Policy policy = parsed(R"(
[[trigger]]
name         = "spike"
when         = "loss > 1"
before       = 3
after        = 2
hold_off     = 1000
rearm        = "always"
max_captures = 0

[[trigger]]
rule    = "nonfinite"
tensors = "encoder/.*"
scalar  = "train/loss"
rearm   = "never"
)");
  ASSERT_EQ(policy.triggers.size(), 2U);
  TriggerPolicy first;
  first.name = "spike";
  first.when = "loss > 1";
  first.before = 3;
  first.after = 2;
  first.hold_off = 1000;
  first.rearm = Rearm::always;
  first.max_captures = 0;
  EXPECT_EQ(policy.triggers[0], first);
  TriggerPolicy second;
  second.rule = "nonfinite";
  second.tensors = "encoder/.*";
  second.scalar = "train/loss";
  second.rearm = Rearm::never;
  EXPECT_EQ(policy.triggers[1], second);
}

TEST(PolicyFile, ReadsFlightBudgetAndAllow) {
  const Policy policy = parsed(R"(
[flight]
use     = true
size    = "256MiB"
steps   = 20
tensors = "a.*"
exclude = "ab"
kind    = "gradient"
dir     = "/dev/shm"

[budget]
overhead = "1%"
memory   = "512MB"
disk     = 1000

[allow]
negative_infinity = ["attn/.*", "mask"]
)");
  EXPECT_EQ(policy.flight.use, FlightPolicy::Use::on);
  EXPECT_EQ(policy.flight.bytes, 256U << 20);
  EXPECT_EQ(policy.flight.steps, 20);
  EXPECT_EQ(policy.flight.tensors, "a.*");
  EXPECT_EQ(policy.flight.exclude, "ab");
  EXPECT_THAT(policy.flight.kinds, ElementsAre(Kind::gradient));
  EXPECT_EQ(policy.flight.directory, "/dev/shm");
  EXPECT_EQ(policy.budget, (BudgetPolicy{.overhead = 0.01, .memory = 512'000'000U, .disk = 1000U}));
  EXPECT_THAT(policy.allow_negative_infinity, ElementsAre("attn/.*", "mask"));
  EXPECT_EQ(parsed("[flight]\nuse = false").flight.use, FlightPolicy::Use::off);
  EXPECT_EQ(parsed("[flight]\nuse = \"automatic\"").flight.use, FlightPolicy::Use::automatic);
  EXPECT_EQ(parsed("[budget]\noverhead = 0.05").budget.overhead, 0.05);
  EXPECT_THAT(parsed("[allow]\nnegative_infinity = \"m\"").allow_negative_infinity, ElementsAre("m"));
}

TEST(PolicyFile, ReadsSizesInBothKindsOfUnits) {
  const auto size = [](const std::string& value) { return *parsed("[budget]\ndisk = \"" + value + "\"").budget.disk; };
  EXPECT_EQ(size("100B"), 100U);
  EXPECT_EQ(size("1KB"), 1000U);
  EXPECT_EQ(size("1KiB"), 1024U);
  EXPECT_EQ(size("2 MiB"), 2U << 20);
  EXPECT_EQ(size("1.5GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(size("20GB"), 20'000'000'000U);
  EXPECT_EQ(size("3TiB"), std::uint64_t{3} << 40);
}

struct Wrong {
  std::string_view toml;
  std::string_view message;
};

TEST(PolicyFile, AnErrorNamesLineColumnAndWhatWasExpected) {
  const Wrong table[] = {
      {"[[watch]]\nevry = 3", "policy.toml:2:1: [[watch]] has no key 'evry'; did you mean 'every'?"},
      {"[[wach]]", "policy.toml:1:3: a policy has no key 'wach'; did you mean 'watch'?"},
      {"[watch]\nevery = 3", "policy.toml:1:1: expected tables, each headed [[watch]], found a table"},
      {"watch = 3", "policy.toml:1:9: expected tables, each headed [[watch]], found 3"},
      {"[[flight]]", "policy.toml:1:1: expected a table, headed [flight], found an array"},
      {"[[watch]]\nevery = 0",
       "policy.toml:2:9: expected a number of steps from 1, \"epoch\", or such as \"5 epochs\" or \"100 steps\", found "
       "0"},
      {"[[watch]]\nevery = \"5 epochs 3 steps\"",
       "policy.toml:2:9: expected a number of steps from 1, \"epoch\", or such as \"5 epochs\" or \"100 steps\", found "
       "\"5 epochs 3 steps\""},
      {"[[watch]]\nsteps = \"20..10\"",
       "policy.toml:2:9: expected a range of steps whose end is not before its beginning, found \"20..10\""},
      {"[[armed]]\nrule = \"nonfinite\"",
       "policy.toml:1:1: [[armed]] belongs in the control.toml of a run: write [[trigger]] in a policy"},
      {"[[watch]]\nsteps = 5",
       "policy.toml:2:9: expected a range of steps, such as \"1000..2000\", \"1000..\" or \"..2000\", found 5"},
      {"[[watch]]\nfirst = -1", "policy.toml:2:9: expected a number of steps, a whole number from 1, found -1"},
      {"[[watch]]\nsample = 0",
       "policy.toml:2:10: expected a number of rows, such as 8, \"8 rows\" or { rows = 8, random = true }, found 0"},
      {"[[watch]]\nsample = { random = true }", "policy.toml:2:10: expected rows = N in the sample"},
      {"[[watch]]\nsample = { rows = 8, random = 1 }", "policy.toml:2:31: expected true or false, found 1"},
      {"[[watch]]\nkind = \"gradients\"",
       "policy.toml:2:8: expected a kind (activation, gradient, weight, update, input or output), found \"gradients\""},
      {"[[watch]]\nkind = [\"weight\", 3]",
       "policy.toml:2:19: expected a kind (activation, gradient, weight, update, input or output), found 3"},
      {"[[watch]]\nrecord = []",
       "policy.toml:2:10: expected what to record (stats, histogram, image, audio, whole, npy, npz, print or csv), "
       "found an empty array"},
      {"[[watch]]\nrecord = [\"stats\", \"histo\"]",
       "policy.toml:2:20: expected what to record (stats, histogram, image, audio, whole, npy, npz, print or csv), "
       "found \"histo\""},
      {"[[watch]]\ntensors = \"a(\"",
       "policy.toml:2:11: 'a(' is not a valid regular expression (missing ')' for '(' at position 2); escape special "
       "characters of a name with \\"},
      {"[[watch]]\ntensors = \"\"",
       "policy.toml:2:11: expected a pattern for the names of tensors, such as \"dense_.*\", found \"\""},
      {"[[watch]]\nwhen = \"loss > \"", "policy.toml:2:16: expected a number or a name, found the end"},
      {"[[watch]]\nwhen = 'loss > 1 and )'", "policy.toml:2:22: expected a number or a name, found ')'"},
      {"[[watch]]\nwhen = \"lo\\u0073s > )\"",
       "policy.toml:2:8: column 8 of the condition: expected a number or a name, found ')'"},
      {"[[watch]]\nwhen = \"\"\"\nloss > )\"\"\"", "policy.toml:3:8: expected a number or a name, found ')'"},
      {"[[watch]]\nwhen = \"\"\"loss > 1\n\n  or l > )\n\"\"\"",
       "policy.toml:4:10: expected a number or a name, found ')'"},
      {"[[watch]]\r\nwhen = '''\r\nloss > 1 or max('ü') > 2\r\n  or )'''",
       "policy.toml:4:6: expected a number or a name, found ')'"},
      {"# ü\n[[watch]]\nevery = 5\nwhen = \"max('ü') > )\"",
       "policy.toml:4:20: expected a number or a name, found ')'"},
      {"[[watch]]\nwhen = \"\"\"\\\n  loss > )\"\"\"",
       "policy.toml:2:8: column 8 of the condition: expected a number or a name, found ')'"},
      {"[[watch]]\nwhen = \"l\\u006fss > 1\\n  or )\"",
       "policy.toml:2:8: line 2, column 6 of the condition: expected a number or a name, found ')'"},
      {"[[watch]]\nwhen = \"max('\\\\\\\\.') > )\"",
       "policy.toml:2:8: column 14 of the condition: expected a number or a name, found ')'"},
      {"[[watch]]\nwhen = 3", "policy.toml:2:8: expected a condition, such as \"loss > 1.0\", found 3"},
      {"[[trigger]]\nbefore = 5", "policy.toml:1:1: a trigger needs 'when' or 'rule'"},
      {"[[trigger]]\nrule = \"nonfinit\"", "policy.toml:2:8: there is no rule 'nonfinit'; did you mean 'nonfinite'?"},
      {"[[trigger]]\nrule = \"nonfinite\"\nwhen = \"1\"",
       "policy.toml:2:8: a trigger has either 'when' or 'rule', not both"},
      {"[[trigger]]\nrule = \"loss_spike\"\ntensors = \"a\"",
       "policy.toml:3:11: the rule 'loss_spike' looks at no tensors; remove 'tensors' from its trigger"},
      {"[[trigger]]\nrule = \"dead_relu\"\nbefore = 1\nscalar = \"a\"",
       "policy.toml:4:10: the rule 'dead_relu' looks at no scalar; remove 'scalar' from its trigger"},
      {"[[trigger]]\nwhen = \"1\"\nscalar = \"a\"\ntensors = \"b\"",
       "policy.toml:4:11: 'tensors' belongs to a rule; write the pattern into 'when'"},
      {"[[trigger]]\nwhen = \"1\"\nbefore = -1",
       "policy.toml:3:10: expected a number of steps, a whole number from 0, found -1"},
      {"[[trigger]]\nwhen = \"1\"\nrearm = \"sometimes\"",
       "policy.toml:3:9: expected \"edge\", \"always\" or \"never\", found \"sometimes\""},
      {"[[trigger]]\nwhen = \"1\"\nname = \"../../x\"",
       "policy.toml:3:8: expected a name of letters, digits, '_', '-' and '.', up to 64, since it becomes part of a "
       "file's name, found \"../../x\""},
      {"[[trigger]]\nwhen = \"1\"\nhold_off = 1.5",
       "policy.toml:3:12: expected a number of steps, a whole number from 0, found 1.5"},
      {"[[trigger]]\nwhen = \"1\"\nhold_off = 2.0",
       "policy.toml:3:12: expected a number of steps, a whole number from 0, found 2.0"},
      {"[[watch]]\nsample = { rows = 8, rnd = true }",
       "policy.toml:2:22: sample has no key 'rnd'; it may have rows and random"},
      {"[flight]\ndir = \"a\\u0000b\"", "policy.toml:2:7: the path contains a zero byte"},
      {"[flight]\nuse = \"on\"", "policy.toml:2:7: expected true, false or \"automatic\", found \"on\""},
      {"[flight]\nsize = \"256\"",
       "policy.toml:2:8: expected a size, such as \"256MiB\" or \"20GB\" or a number of bytes, found \"256\""},
      {"[flight]\nsize = \"99999999TiB\"",
       "policy.toml:2:8: expected a size, such as \"256MiB\" or \"20GB\" or a number of bytes, found \"99999999TiB\""},
      {"[flight]\nsize = -5",
       "policy.toml:2:8: expected a size, such as \"256MiB\" or \"20GB\" or a number of bytes, found -5"},
      {"[flight]\nsize = 8191", "policy.toml:2:8: expected a size from 8KiB, which is the smallest ring, found 8191"},
      {"[flight]\nsize = \"4KiB\"",
       "policy.toml:2:8: expected a size from 8KiB, which is the smallest ring, found \"4KiB\""},
      {"[flight]\nsize = 0", "policy.toml:2:8: expected a size from 8KiB, which is the smallest ring, found 0"},
      {"[budget]\nmemory = 0", "policy.toml:2:10: expected a size above 0, found 0"},
      {"[budget]\ndisk = \"0.1B\"", "policy.toml:2:8: expected a size above 0, found \"0.1B\""},
      {"[budget]\noverhead = 5",
       "policy.toml:2:12: expected a share of time above 0 and up to 1, such as \"1%\" or 0.01, found 5"},
      {"[budget]\noverhead = \"101%\"",
       "policy.toml:2:12: expected a share of time above 0 and up to 1, such as \"1%\" or 0.01, found \"101%\""},
      {"[budget]\noverhead = nan",
       "policy.toml:2:12: expected a share of time above 0 and up to 1, such as \"1%\" or 0.01, found nan"},
      {"[allow]\nnegative_infinity = [\"a\", 3]",
       "policy.toml:2:27: expected a pattern for the names of tensors, such as \"dense_.*\", found 3"},
      {"[allow]\nnegative_infinity = 1979-05-27",
       "policy.toml:2:21: expected a pattern for the names of tensors, such as \"dense_.*\", found a date or time"},
      {"[control]\nfire = 1", "policy.toml:1:1: [control] belongs in the control.toml of a run, not in a policy"},
      {"[[watch]]\nzzz = 1\nevery = 0",
       "policy.toml:2:1: [[watch]] has no key 'zzz'; it may have tensors, exclude, kind, every, steps, first, sample, "
       "when and record"},
      {"[[trigger]]\nwhen = \"\"\n[[watch]]\nevery = 0",
       "policy.toml:2:9: the condition is empty; write one such as loss > 1.0"},
  };
  for (const Wrong& wrong : table) EXPECT_EQ(error_of(wrong.toml), wrong.message) << wrong.toml;
}

TEST(PolicyFile, InvalidTomlIsAnErrorWithItsPosition) {
  EXPECT_THAT(error_of("[[watch]]\nevery = = 3"), StartsWith("policy.toml:2:9: "));
  EXPECT_THAT(error_of("[[ = \"watch\"]]"), StartsWith("policy.toml:1:4: "));
  EXPECT_THAT(error_of("[\xEF\xBB\xB7[A["), StartsWith("policy.toml:1:2: "));
  EXPECT_THAT(error_of("[[watch]]\nevery = 3\nevery = 4"), StartsWith("policy.toml:3:"));
  EXPECT_THAT(error_of("[[watch]]\ntensors = \"\xff\""), StartsWith("policy.toml:2:"));
  EXPECT_THAT(error_of("x = " + std::string(100'000, '[')), StartsWith("policy.toml:1:"));
  EXPECT_THAT(error_of("every = 99999999999999999999"), StartsWith("policy.toml:1:"));
  EXPECT_EQ(error_of(std::string((1 << 20) + 1, '#')), "policy.toml is larger than 1 MiB, the limit of a policy");
}

TEST(PolicyFile, IsLoadedByItsPath) {
  const base::TempDir dir;
  ASSERT_TRUE(base::write_file(dir / "p.toml", "[[watch]]\nevery = 3\n"));
  ASSERT_TRUE(Policy::load(dir / "p.toml"));
  EXPECT_EQ(Policy::load(dir / "p.toml")->watches[0].every, 3);
  ASSERT_TRUE(base::write_file(dir / "wrong.toml", "x = 1"));
  EXPECT_EQ(Policy::load(dir / "wrong.toml").error().message(),
            dir / "wrong.toml" + ":1:1: a policy has no key 'x'; it may have watch, trigger, flight, budget and allow");
  ASSERT_TRUE(base::write_file(dir / "huge.toml", std::string(2 << 20, '\n')));
  EXPECT_THAT(Policy::load(dir / "huge.toml").error().message(), HasSubstr("is larger than 1 MiB"));
  EXPECT_EQ(Policy::load(dir / "none.toml").error().code(), Code::not_found);
  EXPECT_FALSE(Policy::load(dir.path()));
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(Policy::load(dir / "pipe").error().message(), HasSubstr("is not a regular file")) << "and does not wait";
}

TEST(PolicyCheck, AcceptsWhatParseReturns) {
  EXPECT_TRUE(Policy().check());
  EXPECT_TRUE(parsed("[[watch]]\nsteps='5..9'\n[[trigger]]\nrule='dead_relu'\n[budget]\noverhead='2%'").check());
}

TEST(PolicyCheck, NamesInvalidValues) {
  const auto message = [](const auto& change) {
    Policy policy;
    policy.watches.resize(2);
    policy.triggers.resize(1);
    policy.triggers[0].when = "loss > 1";
    EXPECT_TRUE(policy.check());
    change(policy);
    return policy.check().message();
  };
  EXPECT_EQ(message([](Policy& p) { p.watches[1].every = 0; }), "watch 2: every is 0: give 1 or more");
  EXPECT_THAT(message([](Policy& p) { p.watches[0].tensors = "("; }),
              StartsWith("watch 1: tensors '(' is not a valid regular"));
  EXPECT_THAT(message([](Policy& p) { p.watches[0].exclude = "("; }),
              StartsWith("watch 1: exclude '(' is not a valid regular"));
  EXPECT_EQ(message([](Policy& p) { p.watches[0].when = "loss >"; }),
            "watch 1: 'loss >', column 7: expected a number or a name, found the end");
  EXPECT_EQ(message([](Policy& p) { p.watches[0].when = "loss > 1\n  and )"; }),
            "watch 1: 'loss > 1\n  and )', line 2, column 7: expected a number or a name, found ')'");
  EXPECT_EQ(message([](Policy& p) { p.watches[0].first_step = 5, p.watches[0].last_step = 4; }),
            "watch 1: last_step is 4, which is before first_step, 5: swap them, or give -1 for no end");
  EXPECT_EQ(message([](Policy& p) { p.watches[0].record = Keep::nothing; }), "watch 1: record is nothing");
  EXPECT_THAT(message([](Policy& p) { p.watches[0].sample.rows = -1; }), StartsWith("watch 1: sample.rows is -1"));
  EXPECT_THAT(message([](Policy& p) { p.triggers[0].before = -1; }), StartsWith("trigger 1: before is -1"));
  EXPECT_EQ(message([](Policy& p) { p.triggers[0].rule = "nonfinite"; }),
            "trigger 1: a trigger has either 'when' or 'rule', not both");
  EXPECT_THAT(message([](Policy& p) { p.triggers[0].name = "a/b"; }), StartsWith("trigger 1: the name 'a/b'"));
  EXPECT_THAT(message([](Policy& p) { p.flight.tensors = "["; }), StartsWith("flight: tensors '['"));
  EXPECT_THAT(message([](Policy& p) { p.flight.steps = -1; }), StartsWith("flight: steps is -1"));
  EXPECT_EQ(message([](Policy& p) { p.flight.bytes = 8191; }),
            "flight: bytes is 8191, but the smallest ring has 8192; 0 leaves the choice to the recorder");
  EXPECT_EQ(message([](Policy& p) { p.flight.bytes = 8192; }), "");
  EXPECT_THAT(message([](Policy& p) { p.budget.memory = 0; }), StartsWith("budget: memory is 0: give 1 byte"));
  EXPECT_THAT(message([](Policy& p) { p.budget.disk = 0; }), StartsWith("budget: disk is 0: give 1 byte"));
  EXPECT_THAT(message([](Policy& p) { p.budget.overhead = std::numeric_limits<double>::quiet_NaN(); }),
              StartsWith("budget: overhead is a share"));
  EXPECT_EQ(message([](Policy& p) { p.watches[1].record = static_cast<Keep>(0xffff); }),
            "watch 2: record is 65535, which sonde::Keep does not have");
  EXPECT_EQ(message([](Policy& p) { p.watches[1].record = static_cast<Keep>(0x1ff); }), "");
  EXPECT_EQ(message([](Policy& p) { p.watches[1].kinds = {Kind::output, static_cast<Kind>(77)}; }),
            "watch 2: kinds is 77, which sonde::Kind does not have");
  EXPECT_EQ(message([](Policy& p) { p.triggers[0].rearm = static_cast<Rearm>(9); }),
            "trigger 1: rearm is 9, which sonde::Rearm does not have");
  EXPECT_EQ(message([](Policy& p) { p.flight.kinds = {static_cast<Kind>(6)}; }),
            "flight: kinds is 6, which sonde::Kind does not have");
  EXPECT_EQ(message([](Policy& p) { p.flight.use = static_cast<FlightPolicy::Use>(3); }),
            "flight: use is 3, which sonde::FlightPolicy::Use does not have");
  EXPECT_EQ(message([](Policy& p) { p.flight.directory = std::string("a\0b", 3); }),
            "flight: directory contains a zero byte");
  EXPECT_THAT(message([](Policy& p) { p.allow_negative_infinity = {"("}; }), StartsWith("allow_negative_infinity"));
}

TEST(ControlFile, KnowsWhichTablesItHas) {
  const auto file = policy::parse_control("[control]\nkeep_triggers = true\nfire = 3\n[[trigger]]\nwhen = '1'", "c");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_TRUE(file->keep_triggers && file->has_triggers);
  EXPECT_FALSE(file->has_watches || file->has_flight || file->has_budget || file->has_allow);
  EXPECT_EQ(file->fire, 3);
  const auto other = policy::parse_control("watch = []\n[flight]\n[budget]\n[allow]\n", "c");
  ASSERT_TRUE(other) << other.error().message();
  EXPECT_TRUE(other->has_watches && other->has_flight && other->has_budget && other->has_allow);
  EXPECT_FALSE(other->has_triggers || other->keep_triggers);
  EXPECT_EQ(policy::parse_control("[control]\nfire = 'now'", "c").error().message(),
            "c:2:8: expected a number that grows, a whole number from 0, found \"now\"");
  EXPECT_EQ(policy::parse_control("[control]\nkeep = true", "c").error().message(),
            "c:2:1: [control] has no key 'keep'; it may have keep_triggers and fire");
}

TEST(ControlFile, KeepsArmedTriggersApartFromThoseOfThePolicy) {
  const TriggerPolicy armed = {.name = "mine", .when = "loss > 5", .after = 2};
  const auto file =
      policy::parse_control("[[trigger]]\nrule = 'nonfinite'\n" + policy::to_toml(armed, "armed"), "control.toml");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->policy.triggers.size(), 1U);
  EXPECT_EQ(file->armed, std::vector<TriggerPolicy>{armed});
  EXPECT_EQ(policy::parse_control("[[armed]]\nbefor = 1", "c").error().message(),
            "c:2:1: [[armed]] has no key 'befor'; did you mean 'before'?");
}

TEST(ControlFile, ATriggerIsReadBackAsItWasWritten) {
  const bool same = rc::check("parse(to_toml(t)) == t", [] {
    TriggerPolicy trigger;
    // Anything except the quote itself may be between the quotes of a condition.
    const auto name = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
    std::string in_quotes;
    for (const char c : name) in_quotes += c == '\'' ? '"' : c;
    const auto rule = *rc::gen::arbitrary<bool>();
    if (rule) {
      trigger.rule = "nonfinite";
      trigger.scalar = in_quotes;
      trigger.tensors = *rc::gen::element<std::string>("", "a\\.b", "a'b", ".*\"");
    } else {
      trigger.when = "scalar('" + in_quotes + "') > 1";
    }
    trigger.name = *rc::gen::element<std::string>("", "a", "x-1_2.3");
    const auto count =
        rc::gen::map(rc::gen::nonNegative<std::int32_t>(), [](std::int32_t x) { return std::int64_t{x}; });
    trigger.before = *count;
    trigger.after = *count;
    trigger.hold_off = *count;
    trigger.max_captures = *count;
    trigger.rearm = *rc::gen::element(Rearm::edge, Rearm::always, Rearm::never);
    const auto back = Policy::parse(policy::to_toml(trigger));
    if (!back) RC_FAIL(back.error().message());
    RC_ASSERT(back->triggers.size() == 1U);
    RC_ASSERT(back->triggers[0] == trigger);
  });
  EXPECT_TRUE(same);
}

// The manual: every block of TOML in it is a policy, and it shows the rules as they are.
std::string manual() {
  std::ifstream in(std::filesystem::path(SONDE_TEST_DATA) / "../../docs/policy.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string in_code(std::string_view text) { return std::string(1, '`').append(text) + '`'; }

TEST(Manual, ShowsPoliciesThatParse) {
  const std::string text = manual();
  int blocks = 0;
  for (std::size_t at = text.find("```toml\n"); at != std::string::npos; at = text.find("```toml\n", at + 1)) {
    const std::size_t begin = at + 8;
    const std::string block = text.substr(begin, text.find("```", begin) - begin);
    const auto policy = policy::parse_control(block, "docs/policy.md");
    EXPECT_TRUE(policy) << block << policy.error().message();
    ++blocks;
  }
  EXPECT_GE(blocks, 5) << "a manual without examples";
}

TEST(Manual, ShowsEveryRuleAsItIs) {
  const std::string text = manual();
  for (const policy::Rule& rule : policy::rules()) {
    EXPECT_THAT(text, HasSubstr(in_code(rule.name)));
    const auto expression = policy::expression_of({.rule = std::string(rule.name)});
    ASSERT_TRUE(expression);
    std::string shown;  // the manual wraps lines
    for (const char c : text) {
      const bool space = c == '\n' || c == ' ';
      if (!space || !shown.ends_with(' ')) shown += space ? ' ' : c;
    }
    EXPECT_THAT(shown, HasSubstr(*expression));
  }
}

TEST(Manual, NamesEveryFunction) {
  const std::string text = manual();
  for (const auto* name : {"nonfinite(re)",
                           "nan(re)",
                           "inf(re)",
                           "max(re)",
                           "min(re)",
                           "absmax(re)",
                           "mean(re)",
                           "std(re)",
                           "rms(re)",
                           "mean_abs(re)",
                           "zero_fraction(re)",
                           "negative_fraction(re)",
                           "count(re)",
                           "any(re, condition)",
                           "all(re, condition)",
                           "of(kind, statistic)",
                           "is(kind)",
                           "scalar('name')",
                           "abs(x)",
                           "log10(x)",
                           "sqrt(x)",
                           "round(x)",
                           "isnan(x)",
                           "isinf(x)",
                           "zscore(x, n)",
                           "delta(x)",
                           "rising(x, level)",
                           "trend(x, n)",
                           "average(x, n)",
                           "every(n)",
                           "step"}) {
    EXPECT_THAT(text, HasSubstr(in_code(name))) << name;
  }
}

}  // namespace
}  // namespace sonde
