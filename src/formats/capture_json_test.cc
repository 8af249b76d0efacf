#include "formats/capture_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cmath>
#include <limits>

namespace sonde::capture_json {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

CaptureInfo example() {
  CaptureInfo capture;
  capture.reason = "nan";
  capture.when = "nonfinite('.*') or loss > 1";
  capture.values = {{"nonfinite('.*')", 12}, {"loss", kNan}};
  capture.step = 123;
  capture.wall_time = 1700000000.25;
  capture.before = 5;
  capture.after = 2;
  capture.host = "host";
  capture.pid = 4711;
  capture.writer = "1700000000.host.4711.0";
  CapturedStep step;
  step.step = 122;
  step.wall_time = 1700000000.125;
  step.file = "000000000122.safetensors";
  step.scalars = {{"loss", 0.1}, {"lr", -kInfinity}, {"x", kInfinity}};
  step.tensors.push_back({.key = "gradient/a \"b\"\n/\xc3\xa9#3",
                          .name = "a \"b\"\n/\xc3\xa9",
                          .kind = Kind::gradient,
                          .occurrence = 3,
                          .inputs = {"a", "weight/b"},
                          .dtype = DType::bf16,
                          .shape = {2, 0, 3},
                          .count = 0,
                          .nan = 1,
                          .positive_infinity = 2,
                          .negative_infinity = std::numeric_limits<std::uint64_t>::max()});
  capture.steps.push_back(step);
  capture.steps.push_back(
      {.step = -3, .evaluation = true, .complete = false, .wall_time = 0, .file = "", .scalars = {}, .tensors = {}});
  capture.dropped.push_back({"weight/b", -1, 9'000'000'000'000'000'000, 17, "no room"});
  capture.allow_negative_infinity = {".*mask.*"};
  return capture;
}

std::string encoded() { return encode(example(), {}); }

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CaptureJson, KeepsEverything) {
  const CaptureInfo original = example();
  const auto read = decode(encoded());
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(encode(*read, {}), encoded());
  EXPECT_EQ(read->cause, original.cause);
  EXPECT_EQ(read->reason, original.reason);
  EXPECT_EQ(read->when, original.when);
  EXPECT_EQ(read->values[0], original.values[0]);
  EXPECT_TRUE(std::isnan(read->values[1].second));
  EXPECT_EQ(read->step, 123);
  EXPECT_EQ(read->wall_time, original.wall_time);
  EXPECT_EQ(read->before, 5);
  EXPECT_EQ(read->after, 2);
  EXPECT_EQ(read->host, "host");
  EXPECT_EQ(read->pid, 4711U);
  EXPECT_EQ(read->writer, original.writer);
  EXPECT_EQ(read->allow_negative_infinity, original.allow_negative_infinity);
  ASSERT_EQ(read->dropped.size(), 1U);
  EXPECT_EQ(read->dropped[0].what, "weight/b");
  EXPECT_EQ(read->dropped[0].first_step, -1);
  EXPECT_EQ(read->dropped[0].last_step, 9'000'000'000'000'000'000);
  EXPECT_EQ(read->dropped[0].count, 17U);
  EXPECT_EQ(read->dropped[0].reason, "no room");
}

TEST(CaptureJson, KeepsEverythingOfAStep) {
  const auto read = decode(encoded());
  ASSERT_TRUE(read.ok()) << read.error().message();
  ASSERT_EQ(read->steps.size(), 2U);
  const CapturedStep& step = read->steps[0];
  EXPECT_EQ(step.step, 122);
  EXPECT_FALSE(step.evaluation);
  EXPECT_TRUE(step.complete);
  EXPECT_EQ(step.wall_time, 1700000000.125);
  EXPECT_EQ(step.file, "000000000122.safetensors");
  EXPECT_THAT(step.scalars, ElementsAre(Pair("loss", 0.1), Pair("lr", -kInfinity), Pair("x", kInfinity)));
  EXPECT_EQ(read->steps[1].step, -3);
  EXPECT_TRUE(read->steps[1].evaluation);
  EXPECT_FALSE(read->steps[1].complete);
  ASSERT_EQ(step.tensors.size(), 1U);
  const CapturedTensor& tensor = step.tensors[0];
  const CapturedTensor original = example().steps[0].tensors[0];
  EXPECT_EQ(tensor.key, original.key);
  EXPECT_EQ(tensor.name, original.name);
  EXPECT_EQ(tensor.kind, Kind::gradient);
  EXPECT_EQ(tensor.occurrence, 3U);
  EXPECT_THAT(tensor.inputs, ElementsAre("a", "weight/b"));
  EXPECT_EQ(tensor.dtype, DType::bf16);
  EXPECT_EQ(tensor.shape, (Shape{2, 0, 3}));
  EXPECT_EQ(tensor.count, 0U);
  EXPECT_EQ(tensor.nan, 1U);
  EXPECT_EQ(tensor.positive_infinity, 2U);
  EXPECT_EQ(tensor.negative_infinity, std::numeric_limits<std::uint64_t>::max());
}

TEST(CaptureJson, KeepsEveryDouble) {
  for (const double value : {0.0, -0.0, 1.0, 0.1, -1e-310, 4.0e18, 18446744073709551616.0, 36893488147419103232.0,
                             1e300, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}) {
    CaptureInfo capture;
    capture.values = {{"x", value}};
    const auto read = decode(encode(capture, {}));
    ASSERT_TRUE(read.ok()) << value << ": " << read.error().message();
    EXPECT_EQ(read->values[0].second, value);
    EXPECT_EQ(std::signbit(read->values[0].second), std::signbit(value));
  }
}

TEST(CaptureJson, KnowsEveryKindTypeAndCause) {
  CaptureInfo capture = example();
  for (int i = 0; i < kDTypeCount; ++i) {
    capture.cause = static_cast<CaptureInfo::Cause>(i % 3);
    capture.steps[0].tensors[0].dtype = static_cast<DType>(i);
    capture.steps[0].tensors[0].kind = static_cast<Kind>(i % 6);
    const auto read = decode(encode(capture, {}));
    ASSERT_TRUE(read.ok()) << read.error().message();
    EXPECT_EQ(read->cause, capture.cause);
    EXPECT_EQ(read->steps[0].tensors[0].dtype, static_cast<DType>(i));
    EXPECT_EQ(read->steps[0].tensors[0].kind, static_cast<Kind>(i % 6));
  }
}

TEST(CaptureJson, WritesTheOriginForOtherPrograms) {
  Origin origin;
  origin.found = true;
  origin.producers.push_back({.key = "activation/a",
                              .kind = Kind::activation,
                              .step = 7,
                              .count = 4,
                              .nan = 1,
                              .infinite = 2,
                              .inputs = {"weight/w"},
                              .unseen = {"b"}});
  origin.propagators = {"activation/c"};
  origin.caveats = {"a sentence"};
  simdjson::dom::parser parser;
  const std::string json = encode(example(), origin);
  const simdjson::dom::element read = parser.parse(json);
  const simdjson::dom::element place = read["origin"]["producers"].at(0);
  EXPECT_EQ(bool(read["origin"]["found"]), true);
  EXPECT_EQ(std::string_view(place["key"]), "activation/a");
  EXPECT_EQ(std::string_view(place["kind"]), "activation");
  EXPECT_EQ(std::int64_t(place["step"]), 7);
  EXPECT_EQ(std::uint64_t(place["count"]), 4U);
  EXPECT_EQ(std::uint64_t(place["nan"]), 1U);
  EXPECT_EQ(std::uint64_t(place["infinite"]), 2U);
  EXPECT_EQ(std::string_view(place["inputs"].at(0)), "weight/w");
  EXPECT_EQ(std::string_view(place["unseen"].at(0)), "b");
  EXPECT_EQ(std::string_view(read["origin"]["propagators"].at(0)), "activation/c");
  EXPECT_EQ(std::string_view(read["origin"]["caveats"].at(0)), "a sentence");
}

TEST(CaptureJson, RejectsANewerVersionWithAMessage) {
  const auto read = decode(replaced(encoded(), "\"version\":1", "\"version\":2"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::unsupported);
  EXPECT_THAT(read.error().message(), HasSubstr("version 2"));
}

TEST(CaptureJson, PassesOverKeysThatItDoesNotKnow) {
  EXPECT_TRUE(decode(replaced(encoded(), "\"version\":1", "\"future\":[{}],\"version\":1")).ok());
}

TEST(CaptureJson, NamesWhatIsMissingOrWrong) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\"version\":1", "\"version\":0"},
      {"\"version\":1", "\"version\":\"1\""},
      {"\"cause\":\"trigger\"", "\"cause\":\"chance\""},
      {"\"reason\":\"nan\"", "\"reason\":1"},
      {"\"value\":12", "\"value\":\"twelve\""},
      {"\"step\":123", "\"step\":123.5"},
      {"\"pid\":4711", "\"pid\":-1"},
      {"\"evaluation\":false", "\"evaluation\":0"},
      {"\"steps\":[", "\"steps\":[1,"},
      {"\"file\":\"000000000122.safetensors\"", "\"file\":\"../../secret\""},
      {"\"file\":\"000000000122.safetensors\"", "\"file\":\"..\""},
      {"\"file\":\"000000000122.safetensors\"", "\"file\":\"..\\u0000\""},
      {"\"dtype\":\"bf16\"", "\"dtype\":\"bf17\""},
      {"\"occurrence\":3", "\"occurrence\":4294967296"},
      {"\"shape\":[2,0,3]", "\"shape\":[2,-1,3]"},
      {"\"shape\":[2,0,3]", "\"shape\":[1,1,1,1,1,1,1,1,1]"},
      {"\"shape\":[2,0,3]", "\"shape\":[9223372036854775807,2]"},
      {"\"shape\":[2,0,3]", "\"shape\":[9223372036854775808]"},
      {"\"inputs\":[\"a\"", "\"inputs\":[null"},
      {"\"count\":17", "\"number\":17"},
      {"\"allow_negative_infinity\":[\".*mask.*\"]", "\"allow_negative_infinity\":\".*\""},
  };
  for (const auto& [from, to] : cases) {
    const auto read = decode(replaced(encoded(), from, to));
    ASSERT_FALSE(read.ok()) << to;
    EXPECT_EQ(read.error().code(), Code::corrupt) << to;
    const std::string_view key = from.substr(0, from.find(':'));
    if (key != "\"steps\"") {
      EXPECT_THAT(read.error().message(), HasSubstr(std::string(key.substr(1, key.size() - 2)))) << to;
    }
  }
}

TEST(CaptureJson, KeepsAKindThatItDoesNotKnow) {
  const auto idea = decode(replaced(encoded(), "\"kind\":\"gradient\"", "\"kind\":\"idea\""));
  ASSERT_TRUE(idea.ok()) << idea.status().message();
  const CapturedTensor* found = nullptr;
  for (const CapturedStep& step : idea->steps) {
    for (const CapturedTensor& tensor : step.tensors) found = tensor.kind == Kind::unknown ? &tensor : found;
  }
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->kind_name, "idea");
  EXPECT_THAT(encode(*idea, {}), HasSubstr("\"kind\":\"idea\""));

  const std::string numbered = replaced(encoded(), "\"kind\":\"gradient\"", "\"kind\":\"kind 9\"");
  const auto nine = decode(numbered);
  ASSERT_TRUE(nine.ok());
  EXPECT_THAT(encode(*nine, {}), HasSubstr("\"kind\":\"kind 9\""));
}

TEST(CaptureJson, RejectsEveryTruncation) {
  const std::string json = encoded();
  for (std::size_t size = 0; size + 2 < json.size(); size += 7) {
    const auto read = decode(std::string_view(json).substr(0, size));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code(), Code::corrupt);
  }
}

TEST(CaptureJson, RejectsWhatIsNestedTooDeeply) {
  const std::string json = replaced(encoded(), "\"reason\":", "\"deep\":" + std::string(100'000, '[') + ",\"reason\":");
  EXPECT_EQ(decode(json).status().code(), Code::corrupt);
}

TEST(CaptureJson, TextThatIsNotUtf8CanStillBeWrittenAndRead) {
  CaptureInfo capture = example();
  capture.reason = "a\xff";
  const auto read = decode(encode(capture, {}));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->reason, "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace sonde::capture_json
