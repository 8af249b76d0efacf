#include "regexp/regexp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "regexp/automaton.h"
#include "regexp/parser.h"

namespace sonde::regexp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

bool matches(std::string_view pattern, std::string_view text, Extent extent = Extent::whole,
             Dot dot = Dot::not_newline) {
  const auto compiled = Regexp::compile(pattern, extent, dot);
  EXPECT_TRUE(compiled) << pattern << ": " << compiled.status().message();
  return compiled && compiled->matches(text);
}

std::string error(std::string_view pattern) {
  const auto compiled = Regexp::compile(pattern, Extent::whole);
  return compiled ? "accepted" : compiled.error().message();
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Regexp, MatchesTheWholeTextOrAPartOfIt) {
  EXPECT_TRUE(matches("dense_[0-9]+", "dense_12"));
  EXPECT_FALSE(matches("dense_[0-9]+", "dense_12/out"));
  EXPECT_TRUE(matches("dense_[0-9]+", "a/dense_12/out", Extent::anywhere));
  EXPECT_FALSE(matches("dense_[0-9]+", "a/dense/out", Extent::anywhere));
  EXPECT_TRUE(matches("", "abc", Extent::anywhere));
  EXPECT_FALSE(matches("", "abc"));
  EXPECT_FALSE(matches("a|b", "bc")) << "an alternative must match the whole text, too";
}

TEST(Regexp, DotMatchesANewlineIfAsked) {
  EXPECT_FALSE(matches(".*", "a\nb"));
  EXPECT_TRUE(matches(".*", "a\nb", Extent::whole, Dot::everything));
  EXPECT_TRUE(matches("(?s).*", "a\nb"));
  EXPECT_FALSE(matches("(?-s).*", "a\nb", Extent::whole, Dot::everything));
}

TEST(Regexp, AByteThatIsNotUtf8IsAReplacementCharacterInAText) {
  EXPECT_TRUE(matches(".*", "a\xff\xc3"));
  EXPECT_TRUE(matches("a..", "a\xff\xc3")) << "each byte is one";
  EXPECT_TRUE(matches("a\\x{FFFD}", "a\xff"));
  EXPECT_FALSE(matches("a\\xff", "a\xff"));
}

TEST(Regexp, NamedGroupsHaveTwoForms) {
  EXPECT_TRUE(matches("(?P<layer>[a-z]+)/(?<part>[a-z]+)", "dense/out"));
  EXPECT_EQ(error("(?<a b>x)"), "'a b' is not a name for a group at position 4");
}

TEST(Regexp, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error("("), "missing ')' for '(' at position 1");
  EXPECT_EQ(error("é(a|(b)"), "missing ')' for '(' at position 2") << "positions count characters";
  EXPECT_EQ(error("a)"), "a ')' without '(' at position 2");
  EXPECT_EQ(error("x[a-z"), "missing ']' for '[' at position 2");
  EXPECT_EQ(error("[z-a]"), "the range 'z-a' in the wrong order at position 2");
  EXPECT_EQ(error("[[:letter:]]"), "'[:letter:]' is not a class of characters at position 2");
  EXPECT_EQ(error("a|*"), "nothing that '*' can repeat at position 3");
  EXPECT_EQ(error("a**"), "'*' repeats a repetition, which needs parentheses, at position 3");
  EXPECT_EQ(error("a{3,2}"), "'{3,2}' has its numbers in the wrong order, at position 2");
  EXPECT_EQ(error("a{1001}"), "'{1001}' repeats more than 1000 times at position 2");
  EXPECT_EQ(error("(a{100}){11}"), "'{11}' repeats more than 1000 times at position 9");
  EXPECT_EQ(error("a\\"), "a '\\' without a character behind it at position 2");
  EXPECT_EQ(error("\\q"), "'\\q' has no meaning at position 1");
  EXPECT_EQ(error("(a)\\1"), "'\\1', which refers to a group, is not supported at position 4");
  EXPECT_EQ(error("a\\C"), "'\\C', a single byte, is not supported at position 2");
  EXPECT_EQ(error("\\x4"), "'\\x' without two hexadecimal digits, or some in braces, at position 1");
  EXPECT_EQ(error("\\x{110000}"), "'\\x{110000' is beyond the last character, 10FFFF, at position 1");
  EXPECT_EQ(error("a(?=b)"), "'(?=', which looks ahead or behind, is not supported at position 2");
  EXPECT_EQ(error("(?x)a"), "'(?x' is not a group at position 1");
  EXPECT_EQ(error("(?P<n"), "missing '>' behind the name of the group at position 1");
  EXPECT_EQ(
      error("\\p{Klingon}"),
      "'\\p{Klingon}' is neither a category nor a script of Unicode, such as \\p{Lu} or \\p{Greek}, at position 1");
  EXPECT_EQ(error("\\p{Lu"), "missing '}' for '\\p{' at position 1");
  EXPECT_EQ(error("ab\xff"), "a byte that is not UTF-8 at position 3");
  EXPECT_EQ(Regexp::compile("(", Extent::whole).error().code(), Code::invalid_argument);
}

TEST(Regexp, LimitsTheSizeOfAPattern) {
  EXPECT_THAT(error("(" + repeated("a", 500) + "){100}"), StartsWith("too large"));
  EXPECT_EQ(error("(" + repeated("a", 100) + "){100}"), "accepted");
  EXPECT_THAT(error(repeated("[\\pLa]|[\\pLb]|[\\pLc]|[\\pLd]|[\\pLe]|[\\pLf]|[\\pLg]|", 10)), "accepted")
      << "equal classes count once";
  std::string classes;
  for (int i = 0; i < 100; ++i) classes += "[\\pL\\x{e" + std::to_string(100 + i) + "}]";  // in an area without letters
  EXPECT_EQ(error(classes).substr(0, 9), "too large");
  EXPECT_EQ(error(repeated("a", 40'000)), "longer than 32768 bytes");
}

// None of these may take exponential time or overflow the stack.
TEST(Regexp, TakesLinearTimeForPatternsThatAreDifficultForOthers) {
  const std::string text = repeated("a", 1 << 20);
  for (const Extent extent : {Extent::whole, Extent::anywhere}) {
    for (const Dot dot : {Dot::not_newline, Dot::everything}) {
      EXPECT_FALSE(matches("(a*)*b", text, extent, dot));
      EXPECT_FALSE(matches("(a|a|aa)*b", text, extent, dot));
      EXPECT_FALSE(matches("(.*)(.*)(.*)(.*)(.*)[^a]", text, extent, dot));
      EXPECT_FALSE(matches("(x+x+)+y", text, extent, dot));
      EXPECT_TRUE(matches("((((a?)*)*)*)*", text, extent, dot));
    }
  }
  EXPECT_TRUE(matches("(a?){1000}a{1000}", repeated("a", 1000)));
  EXPECT_TRUE(matches("(a?){1000}a{1000}", repeated("a", 2000)));
  EXPECT_FALSE(matches("(a?){1000}a{1000}", repeated("a", 2001)));
  EXPECT_FALSE(matches("(a?){1000}a{1000}", repeated("a", 999)));
}

TEST(Regexp, FollowsTextsThatNeedMoreStatesThanTheTableHas) {
  // Whether the 15th letter from the end is an a: the automaton has to remember the last 15.
  const std::string pattern = "[ab]*a[ab]{14}";
  std::string text;
  std::uint32_t random = 1;
  for (int i = 0; i < 200'000; ++i) {
    random = random * 1664525 + 1013904223;
    text += (random >> 24) % 2 == 0 ? 'a' : 'b';
  }
  for (std::size_t end : {100'000UL, 123'456UL, 199'999UL}) {
    const std::string_view part = std::string_view(text).substr(0, end);
    EXPECT_EQ(matches(pattern, part), part[end - 15] == 'a');
  }
}

TEST(Regexp, NestsDeeplyWithoutAStackOverflow) {
  EXPECT_TRUE(matches(repeated("(", 10'000) + "a" + repeated(")", 10'000), "a"));
  EXPECT_TRUE(matches(repeated("(?:", 5'000) + "a" + repeated(")*", 5'000), "aaa"));
  EXPECT_TRUE(matches(repeated("(", 5'000) + "a" + repeated("|b)", 5'000), "b"));
  EXPECT_EQ(error(repeated("(", 10'000)), "missing ')' for '(' at position 10000");
  EXPECT_THAT(error(repeated("[[:", 5'000)), HasSubstr("missing ']'"));
  EXPECT_TRUE(matches(repeated("a|", 5'000) + "b", "b"));
}

TEST(Regexp, CopiesAreTheSameExpression) {
  const auto first = Regexp::compile("(train|test)/.*", Extent::whole);
  ASSERT_TRUE(first);
  const Regexp second = *first;  // NOLINT(performance-unnecessary-copy-initialization): that is tested
  EXPECT_TRUE(second.matches("train/loss"));
  EXPECT_FALSE(second.matches("val/loss"));
}

TEST(Regexp, ManyThreadsUseOneExpression) {
  const auto compiled = Regexp::compile(".*(layer|block)_[0-9]{1,3}/(kernel|bias|é+).*x?", Extent::whole);
  ASSERT_TRUE(compiled);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5'000; ++i) {
        const std::string name = "net/layer_" + std::to_string((i * 7 + t) % 2000);
        const bool small = (i * 7 + t) % 2000 < 1000;
        if (compiled->matches(name + "/bias") != small || compiled->matches(name + "/é\n")) ++wrong;
        if (compiled->matches(name + "/gamma")) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Regexp, WorksInAForkedChildWhileAnotherThreadMatches) {
  const auto compiled = Regexp::compile("[ab]*a[ab]{14}", Extent::whole);
  ASSERT_TRUE(compiled);
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    for (unsigned i = 0; !stop; ++i) {
      std::string text;
      for (unsigned bit = 0; bit < 20; ++bit) text += (i * 2654435761U >> bit & 1) != 0 ? 'a' : 'b';
      (void)compiled->matches(text);
    }
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);  // if it waited for a lock that nobody will release
      const std::string text = "ba" + std::string(14U + static_cast<std::size_t>(i), 'b');
      const bool right = compiled->matches(text) == (i == 0);
      ::_exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace sonde::regexp
