#include "formats/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::tags {
namespace {

using ::testing::HasSubstr;

Match match(std::string_view pattern, std::string_view name, Kind kind = Kind::activation) {
  const auto selector = Selector::create(pattern);
  EXPECT_TRUE(selector) << pattern;
  return selector ? selector->match(name, kind) : Match::none;
}

TEST(Selector, TakesAnExactNameBeforeAPattern) {
  EXPECT_EQ(match("dense_1/out", "dense_1/out"), Match::exact);
  EXPECT_EQ(match("a+b", "a+b"), Match::exact) << "as a pattern it would not match itself";
  EXPECT_EQ(match("a+b", "aab"), Match::pattern);
  EXPECT_EQ(match("x[0]", "x[0]"), Match::exact);
}

TEST(Selector, TakesANameWithEscapesForExact) {
  EXPECT_EQ(match(R"(layer\[0)", "layer[0"), Match::exact) << "without the escape it is no pattern";
  EXPECT_EQ(match(R"(weight/block\(1)", "block(1", Kind::weight), Match::exact);
  EXPECT_EQ(match(R"(a\.b)", "a.b"), Match::exact);
  EXPECT_EQ(match(R"(a\.b)", R"(a\.b)"), Match::exact) << "a name may look like that";
  EXPECT_EQ(match(R"(a\.b)", "axb"), Match::none);
  EXPECT_EQ(match(R"(a\.b.*)", "a.b"), Match::pattern);
  EXPECT_EQ(match(R"(a\d)", "a1"), Match::pattern);
  EXPECT_EQ(match(R"(a\d)", "ad"), Match::none);
}

TEST(Selector, MatchesTheWholeName) {
  EXPECT_EQ(match("dense_.*", "dense_1/out"), Match::pattern);
  EXPECT_EQ(match("dense", "dense_1/out"), Match::none);
  EXPECT_EQ(match("out", "dense_1/out"), Match::none);
  EXPECT_EQ(match("a|b", "bc"), Match::none) << "an alternative is held to the whole name too";
  EXPECT_EQ(match(".*", ""), Match::pattern);
  EXPECT_EQ(match(".*", "two\nlines"), Match::pattern);
}

TEST(Selector, MatchesKindAndName) {
  EXPECT_EQ(match("gradient/dense_1/kernel", "dense_1/kernel", Kind::gradient), Match::exact);
  EXPECT_EQ(match("gradient/.*", "dense_1/kernel", Kind::gradient), Match::pattern);
  EXPECT_EQ(match("gradient/.*", "dense_1/kernel", Kind::weight), Match::none);
  EXPECT_EQ(match("weight/a", "weight/a", Kind::gradient), Match::exact) << "a name may look like that";
}

TEST(Selector, AnExactNameIsSelectedThoughAPatternExcludesIt) {
  const auto selector = Selector::create("dense_2/out", "dense_2/.*");
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->match("dense_2/out", Kind::activation), Match::exact);
  EXPECT_EQ(Selector::create("dense_2/out", "dense_2/out")->match("dense_2/out", Kind::activation), Match::none);
}

TEST(Selector, SkipsExcludedTensors) {
  const auto selector = Selector::create("dense_.*|attn", "dense_2/.*|attn");
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->match("dense_1/out", Kind::activation), Match::pattern);
  EXPECT_EQ(selector->match("dense_2/out", Kind::activation), Match::none);
  EXPECT_EQ(Selector::create("a+b", "a+b")->match("a+b", Kind::activation), Match::none);
  EXPECT_EQ(Selector::create(".*", "weight/.*")->match("x", Kind::weight), Match::none);
  EXPECT_EQ(Selector::create(".*", "weight/.*")->match("x", Kind::update), Match::pattern);
}

TEST(Selector, KeepsToItsKinds) {
  const auto selector = Selector::create("a", {}, {Kind::weight, Kind::gradient});
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->match("a", Kind::weight), Match::exact);
  EXPECT_EQ(selector->match("a", Kind::gradient), Match::exact);
  EXPECT_EQ(selector->match("a", Kind::activation), Match::none);
}

TEST(Selector, RejectsAnInvalidPattern) {
  const auto selector = Selector::create("dense_(");
  ASSERT_FALSE(selector);
  EXPECT_EQ(selector.error().code(), Code::invalid_argument);
  EXPECT_EQ(selector.error().message(),
            "'dense_(' is not a valid regular expression (missing ')' for '(' at position 7); escape special "
            "characters of a name with \\");
  EXPECT_THAT(Selector::create("a", "[").error().message(), HasSubstr("'[' is not a valid regular expression"));
  EXPECT_FALSE(Selector::create("((a{1000}){1000}){1000}"));
  EXPECT_FALSE(Selector::create("\xff"));
}

}  // namespace
}  // namespace sonde::tags
