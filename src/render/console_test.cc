#include "render/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sonde::render {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::string line_of(const TensorView& view, std::string_view name = "x", Glyphs glyphs = Glyphs::ascii) {
  stats::Histogram histogram;
  const Result<stats::Summary> summary = stats::summarize(view, histogram);
  EXPECT_TRUE(summary);
  return one_line(name, view.dtype, view.shape, *summary, histogram, glyphs);
}

std::string histogram_of(const std::string& line) {
  const std::size_t from = line.find('|');
  return line.substr(from + 1, line.rfind('|') - from - 1);
}

TEST(OneLine, ShowsNameTypeRangeHistogramMeanAndDeviation) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.5F, 2.0F);
  std::vector<float> values(32 * 128);
  for (float& value : values) value = normal(random);
  const std::string line = line_of(view(values, {32, 128}), "dense_1/out");
  EXPECT_THAT(line, MatchesRegex("dense_1/out f32\\[32,128\\] -[678]\\.[0-9]+ \\|[ .:+*#]{10}\\| [78]\\.[0-9]+  "
                                 "mean 0\\.[45][0-9]* std [12]\\.?[0-9]*"));
  const std::string cells = histogram_of(line);
  EXPECT_THAT(cells.substr(3, 4), HasSubstr("#"));
  EXPECT_EQ(cells.front(), '.');
  EXPECT_EQ(cells.back(), '.');
}

TEST(OneLine, LeavesEmptyCellsBlankAndShowsASingleValueAmongMillions) {
  std::vector<std::uint8_t> values(1'000'000, 0);
  values.back() = 10;
  EXPECT_EQ(histogram_of(line_of(view(values))), "#        .");
}

TEST(OneLine, DrawsBlocksOnRequest) {
  const std::vector<float> values = {0, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::string line = line_of(view(values), "x", Glyphs::blocks);
  EXPECT_EQ(histogram_of(line), "█        ▁");
}

TEST(OneLine, CountsNonFiniteValues) {
  const std::vector<float> values = {1, 2, kNan, kNan, kNan, kInf, -kInf, -kInf};
  const std::string line = line_of(view(values));
  EXPECT_THAT(line, StartsWith("x f32[8] 1 |"));
  EXPECT_THAT(line, EndsWith("| 2  mean 1.5 std 0.5  NaN 3  Inf 1  -Inf 2"));
}

TEST(OneLine, SaysThatATensorIsEmpty) { EXPECT_EQ(line_of(view(std::vector<float>{}, {0, 3})), "x f32[0,3] empty"); }

TEST(OneLine, SaysThatNothingIsFinite) {
  const std::vector<float> values = {kNan, kNan, kInf};
  EXPECT_EQ(line_of(view(values)), "x f32[3] nothing finite  NaN 2  Inf 1");
}

TEST(OneLine, NeedsNoHistogramForEqualValues) {
  EXPECT_EQ(line_of(view(std::vector<float>(10), {2, 5})), "x f32[2,5] all 0");
  EXPECT_EQ(line_of(view(std::vector<float>{0.5F, kNan, 0.5F})), "x f32[3] all finite 0.5  NaN 1");
}

TEST(OneLine, ShowsAScalarAsItsValue) {
  const double value = 3.25;
  EXPECT_EQ(line_of(view(&value, Shape{}), "loss"), "loss f64[] 3.25");
}

TEST(OneLine, NeedsNoName) { EXPECT_EQ(line_of(view(std::vector<int>{7}), ""), "i32[1] 7"); }

TEST(OneLine, StaysOneLineForAnyName) {
  const std::string line = line_of(view(std::vector<float>{1}), "a\nb\x1b[31m\x7f\tc");
  EXPECT_EQ(line, "a\\nb\\x1b[31m\\x7f\\tc f32[1] 1");
}

TEST(RangeText, LinesUpIfAWidthIsGiven) {
  const auto aligned = [](const std::vector<float>& values) {
    stats::Histogram histogram;
    const Result<stats::Summary> summary = stats::summarize(view(values), histogram);
    return range_text(*summary, histogram, Glyphs::ascii, 8);
  };
  const std::string one = aligned({-1.25F, 2});
  const std::string other = aligned({-0.0125F, 0.125F});
  EXPECT_EQ(one.find('|'), other.find('|'));
  EXPECT_EQ(one.find("  mean"), one.find('|') + 12 + 8 + 1);
  EXPECT_EQ(one.find("mean"), other.find("mean"));
  EXPECT_EQ(one.find(" std"), other.find(" std"));
}

TEST(Printable, KeepsUnicodeAndEscapesInvalidBytes) {
  EXPECT_EQ(printable("größe/層 1"), "größe/層 1");
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\\xffb");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");           // an overlong NUL
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half a surrogate pair
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");                      // a control character of Latin-1
  EXPECT_EQ(printable("\xe5\xb1"), "\\xe5\\xb1");  // cut off
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
}

TEST(Printable, ShortensLongNamesInTheMiddle) {
  const std::string name = "first/" + std::string(10'000, 'x') + "/last";
  const std::string text = printable(name);
  EXPECT_LE(text.size(), 120U);
  EXPECT_THAT(text, StartsWith("first/x"));
  EXPECT_THAT(text, EndsWith("x/last"));
  EXPECT_THAT(text, HasSubstr("..."));
}

TEST(Printable, NeverPartsACharacter) {
  for (std::size_t pad = 0; pad < 4; ++pad) {
    std::string name(pad, 'a');
    for (int i = 0; i < 100; ++i) name += "層";
    const std::string text = printable(name);
    EXPECT_LE(text.size(), 124U);
    EXPECT_EQ(printable(text), text);
  }
}

TEST(TypeText, IsTheDtypeAndTheShape) {
  EXPECT_EQ(type_text(DType::bf16, {1, 24, 24, 32}), "bf16[1,24,24,32]");
  EXPECT_EQ(type_text(DType::i64, {}), "i64[]");
}

}  // namespace
}  // namespace sonde::render
