// Compares the answers with those of RE2, which has the same syntax.
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

#include "regexp/char_set.h"
#include "regexp/oracle_testing.h"
#include "regexp/unicode.h"

namespace sonde::regexp {
namespace {

// Every construct, at the ends of its range and next to others, and what looks like one.
constexpr std::string_view kPatterns[] = {
    // literals and the empty pattern
    "",
    "a",
    "abc",
    "aé",
    "日本",
    "😀",
    "_",
    "-",
    "]",
    "}",
    "{",
    "a{",
    "a}",
    "a{}",
    "a{,2}",
    "a{x}",
    "a{1",
    "a{1,",
    "a{1,x}",
    "a{01}",
    "a{1,02}",
    "a{1000000000}",
    "a{123456789}",
    "a{1,1234567890}",
    "/",
    "#",
    " ",
    "a b",
    "\t",
    "a\nb",
    "&",
    "~",
    "`",
    // anchors
    "^",
    "$",
    "^$",
    "^a",
    "a$",
    "^a$",
    "a^b",
    "a$b",
    "^^a$$",
    "(^a|b$)",
    "(?m)^a",
    "(?m)a$",
    "(?m)^a$",
    "(?m)^$",
    "(?m)^",
    "(?m)$",
    "\\A",
    "\\z",
    "\\Aa\\z",
    "(?m)\\Aa\\z",
    "a\\z|b",
    "\\Z",
    "^*",
    "$*",
    "^+a",
    "(^)*a",
    "(^|a)+",
    "(?m)(^a\\n?)+",
    "(?m)a$\\nb",
    "(?m)$\\n^",
    "\\G",
    "a\\zb",
    "(?-m)^a$",
    "(?m-m)^a$",
    // dots
    ".",
    "..",
    ".*",
    ".+",
    ".?",
    "a.b",
    "a.*b",
    "(?s)a.b",
    "(?-s)a.b",
    "(?s).",
    "(?-s).",
    "(?s:.)",
    "(?-s:.).",
    ".*a.*",
    ".*loss.*",
    "encoder\\..*",
    "(?-s).*",
    "(.*)(.*)",
    "(.*)*",
    "(.+)+",
    "(.?)*",
    ".{3}",
    ".*\\n.*",
    // alternation
    "a|b",
    "a|b|c",
    "|",
    "a|",
    "|a",
    "a||b",
    "(|)",
    "(a|)",
    "(|a)b",
    "(a|b)*",
    "(a|ab)(c|bcd)",
    "abc|abd|abe",
    "^a|b$",
    "(train|test)/acc(uracy)?",
    "a|b|",
    "(a||b)c",
    "foo|foobar",
    "(a|b|c|d|e)*f",
    // groups
    "()",
    "(a)",
    "((a))",
    "(a)(b)",
    "(?:a)",
    "(?:)",
    "(?:a|b)c",
    "(",
    ")",
    "(()",
    "())",
    "a)",
    "(a",
    "(?",
    "(?:",
    "(?:a",
    "(?)",
    "(?)a",
    "(?P<n>a)",
    "(?P<n>a)(?P<m>b)",
    "(?P<n>a)(?P<n>b)",
    "(?P<>a)",
    "(?P<n",
    "(?P<n>",
    "(?P<n a>b)",
    "(?P<é>a)",
    "(?P<1>a)",
    "(?P<_>a)",
    "(?P<日本>a)",
    "(?P<n-m>a)",
    "(?P<€>a)",
    "(?P=n)",
    "(?P>n)",
    "(?Pn)",
    "(?<n>a)",
    "(?<n",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?<!a)",
    "(?#c)",
    "(?>a)",
    "(?|a)",
    "(?'n'a)",
    "(?R)",
    "(?1)",
    "(*ACCEPT)",
    "((((((a))))))",
    // flags
    "(?i)a",
    "(?i)abc",
    "(?i:a)b",
    "(?i)a(?-i)b",
    "a(?i)b",
    "(a(?i)b)c",
    "a(?i)b|c",
    "(?i)a|b",
    "(?i-i)a",
    "(?i-s)a.",
    "(?ims)a",
    "(?U)a*",
    "(?U)a*?",
    "(?imsU)^a.*b$",
    "(?-)",
    "(?i-)",
    "(?--i)",
    "(?i-m-s)a",
    "(?x)a",
    "(?ix)a",
    "(?i",
    "(?i:",
    "(?i:a",
    "(?ii)a",
    "(?-i:a)",
    "(?i)é",
    "(?i)É",
    "(?i)σ",
    "(?i)ß",
    "(?i)ẞ",
    "(?i)k",
    "(?i)K",
    "(?i)s",
    "(?i)ſ",
    "(?i)ǆ",
    "(?i)θ",
    "(?i)İ",
    "(?i)ı",
    "(?i)[a-z]",
    "(?i)[^a-z]",
    "(?i)[k]",
    "(?i)[^k]",
    "(?i)\\w",
    "(?i)\\W",
    "(?i)[\\W]",
    "(?i)[^\\W]",
    "(?i)[[:upper:]]",
    "(?i)[[:^upper:]]",
    "(?i)\\p{Lu}",
    "(?i)\\P{Lu}",
    "(?i)[\\P{Lu}]",
    "(?i)[^\\p{Lu}x]",
    "(?i)\\x41",
    "(?i)\\Qab\\E",
    "(?i)[σ]",
    "(?i).",
    "a(?i)*",
    "(?i)*",
    "(?i)",
    "a|(?i)b|c",
    "(?i)loss",
    "(?i)ŉ",
    "(?i)ΐ",
    "(?i)ᲀ",
    "(?i)Ꭰ",
    "(?i)ꭰ",
    "(?i)[Ꭰ-Ᏽ]",
    // repetition
    "a*",
    "a+",
    "a?",
    "a*?",
    "a+?",
    "a??",
    "a{0}",
    "a{1}",
    "a{2}",
    "a{0,0}",
    "a{0,1}",
    "a{0,}",
    "a{1,}",
    "a{2,}",
    "a{2,3}",
    "a{2,3}?",
    "a{2}?",
    "(ab){2}",
    "(ab)*",
    "(a|b){3}",
    "(a*)*",
    "(a*)+",
    "(a+)*",
    "(a?)*",
    "(a*){2,}",
    "(a*){3}",
    "(a{2}){3}",
    "(a{2,3}){2}",
    "((a{2})*)+",
    "a**",
    "a*+",
    "a+*",
    "a?*",
    "a*??",
    "a*?*",
    "a++",
    "a+?+",
    "a???",
    "a{2}{3}",
    "a{2}*",
    "a*{2}",
    "a*{",
    "a*{,2}",
    "a{2}?{3}",
    "*",
    "+",
    "?",
    "{2}",
    "*a",
    "(*)",
    "(+a)",
    "|*",
    "a|*",
    "a|+b",
    "(?:*)",
    "a{1000}",
    "a{1001}",
    "a{1,1001}",
    "a{0,1000}",
    "a{1001,}",
    "a{2,1}",
    "a{1000,}",
    "(a{100}){10}",
    "(a{100}){11}",
    "(a{10}){10}b",
    "((a{10}){10}){10}",
    "((a{10}){10}){11}",
    "(a{1000}){0}",
    "((a{1000}){0}){2}",
    "(a{1000}){1}",
    "(a{1000})*",
    "(a{1000})?",
    "((a{1000})*){2}",
    "(a{500}b{500}){2}",
    "(a{500}b{500}){3}",
    "(a?){30}a{30}",
    "(a{0,3}b){2,}",
    "a{2,}{3}",
    "x{0}y",
    "(a{0}){3}",
    "(|a)+",
    "(|a){3}",
    "(a|b*)*c",
    "()*",
    "(){5}",
    "()+a",
    "(a?b?)*",
    "(?:a?){3,5}",
    "a{1,2}b{2,3}c{0,1}",
    "layer_[0-9]+/(kernel|bias)",
    "[ab]{2,4}c?",
    // classes
    "[a]",
    "[abc]",
    "[a-c]",
    "[^a]",
    "[^a-c]",
    "[]a]",
    "[^]a]",
    "[]",
    "[^]",
    "[",
    "[a",
    "[a-",
    "[^",
    "[a-]",
    "[-a]",
    "[--a]",
    "[a-c-e]",
    "[+--]",
    "[z-a]",
    "[a-a]",
    "[^^]",
    "[a^]",
    "[.]",
    "[*+?]",
    "[(|)]",
    "[$]",
    "[\\]]",
    "[\\[]",
    "[\\\\]",
    "[\\-]",
    "[\\^]",
    "[[]",
    "[[a]",
    "[a[b]",
    "[é]",
    "[é-ü]",
    "[日本]",
    "[^日]",
    "[😀-😂]",
    "[\\x41-\\x43]",
    "[\\x{4e00}-\\x{9fff}]",
    "[\\n]",
    "[^\\n]",
    "[\\d]",
    "[^\\d]",
    "[\\d\\s]",
    "[\\D]",
    "[\\W\\d]",
    "[^\\D]",
    "[\\d-z]",
    "[a-\\d]",
    "[\\w.]",
    "[\\b]",
    "[\\Q]",
    "[\\q]",
    "[\\A]",
    "[\\z]",
    "[\\0]",
    "[\\101]",
    "[\\1]",
    "[\\8]",
    "[\\x4]",
    "[\\x{}]",
    "[\\e]",
    "[[:alpha:]]",
    "[[:^alpha:]]",
    "[^[:alpha:]]",
    "[[:alpha:][:digit:]]",
    "[[:alnum:]]",
    "[[:ascii:]]",
    "[[:blank:]]",
    "[[:cntrl:]]",
    "[[:digit:]]",
    "[[:graph:]]",
    "[[:lower:]]",
    "[[:print:]]",
    "[[:punct:]]",
    "[[:space:]]",
    "[[:upper:]]",
    "[[:word:]]",
    "[[:xdigit:]]",
    "[[:foo:]]",
    "[[:alpha:]",
    "[[:alpha]",
    "[:alpha:]",
    "[[:Alpha:]]",
    "[[::]]",
    "[[:^:]]",
    "[[:alpha:]-z]",
    "[a-[:alpha:]]",
    "[[:]",
    "[[:]]",
    "[[:a]]",
    "[[.a.]]",
    "[[=a=]]",
    "[\\pL]",
    "[^\\pL]",
    "[\\PL]",
    "[\\p{Greek}a]",
    "[\\p{^Greek}]",
    "[^\\x00-\\x{10FFFF}]",
    "[\\x00-\\x{10FFFF}]",
    "[a-z&&[aeiou]]",
    "[ -~]",
    "[\\s\\S]",
    "[[:word:]-]",
    "[a\\]",
    "[a-\\",
    "[\\",
    "[a-z",
    "a]",
    "[a]]",
    "[^a\\n]",
    "[\\a\\f\\t\\n\\r\\v]",
    // escapes
    "\\",
    "a\\",
    "\\.",
    "\\*",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "\\{",
    "\\}",
    "\\|",
    "\\^",
    "\\$",
    "\\?",
    "\\+",
    "\\\\",
    "\\/",
    "\\-",
    "\\_",
    "\\ ",
    "\\\"",
    "\\'",
    "\\<",
    "\\>",
    "\\#",
    "\\@",
    "\\a",
    "\\f",
    "\\t",
    "\\n",
    "\\r",
    "\\v",
    "\\e",
    "\\g",
    "\\h",
    "\\k",
    "\\l",
    "\\q",
    "\\y",
    "\\E",
    "\\E*",
    "\\K",
    "\\R",
    "\\X",
    "\\N",
    "\\u0041",
    "\\é",
    "\\\x01",
    "\\0",
    "\\00",
    "\\07",
    "\\012",
    "\\101",
    "\\1011",
    "\\1",
    "\\2",
    "\\7",
    "\\8",
    "\\9",
    "\\11",
    "\\18",
    "\\377",
    "\\400",
    "\\777",
    "\\08",
    "(a)\\1",
    "\\x",
    "\\x4",
    "\\x41",
    "\\x4g",
    "\\x4141",
    "\\x{41}",
    "\\x{}",
    "\\x{",
    "\\x{41",
    "\\x{g}",
    "\\x{10FFFF}",
    "\\x{110000}",
    "\\x{0000000041}",
    "\\x{FFFFFFFFFFFFFFFF}",
    "\\x{e9}",
    "\\xe9",
    "\\x{D800}",
    "\\xFf",
    "\\x{1F600}",
    "\\cA",
    "\\Qa.b\\E",
    "\\Qa.b",
    "\\Q",
    "\\Q\\E",
    "\\Qa\\E*",
    "\\Qab\\E+",
    "a*\\Q\\E*",
    "\\Q\\",
    "\\Q\\\\E",
    "\\Qa\\Eb",
    "\\Q(\\E)",
    "\\Q\\Q\\E",
    "(\\Q)\\E)",
    "\\d",
    "\\D",
    "\\s",
    "\\S",
    "\\w",
    "\\W",
    "\\d+",
    "\\w*\\d",
    "\\s*a",
    "\\d{2,}",
    "\\D*",
    "\\b",
    "\\B",
    "\\ba",
    "a\\b",
    "\\Ba",
    "a\\B",
    "\\bab\\b",
    "\\b\\B",
    "\\b*",
    "\\b+a",
    "(\\b|a)+",
    "a\\bb",
    "a\\Bb",
    "\\b.\\b",
    "a.*\\b",
    "\\bé",
    "é\\b",
    "a\\bé",
    "(?i)\\bk",
    "\\b(?:a|é)\\b",
    "\\b$",
    "^\\b",
    "^\\B$",
    "\\C",
    // Unicode classes
    "\\pL",
    "\\PL",
    "\\p{L}",
    "\\P{L}",
    "\\p{Lu}",
    "\\p{^Lu}",
    "\\P{^Lu}",
    "\\pLu",
    "\\p{Greek}",
    "\\p{Latin}",
    "\\p{Han}",
    "\\p{Any}",
    "\\P{Any}",
    "\\p{greek}",
    "\\p{Foo}",
    "\\p{}",
    "\\p{^}",
    "\\p",
    "\\P",
    "\\p{",
    "\\p{Lu",
    "\\pé",
    "\\p^L",
    "\\pN+",
    "\\p{Nd}",
    "\\pM",
    "\\pZ",
    "\\pS",
    "\\pP",
    "\\pC",
    "\\p{Cn}",
    "\\p{Cs}",
    "\\p{Co}",
    "\\pX",
    "\\p{L}*",
    "[\\p{L}\\d_]+",
    "\\p{Common}",
    "\\p{Inherited}",
    "\\p{Old_Italic}",
    "\\p{LC}",
    "\\p{Script=Greek}",
    "\\p{Letter}",
    "\\p{Unknown}",
    "\\p{Zyyy}",
};

constexpr std::string_view kTexts[] = {
    "",
    "a",
    "b",
    "c",
    "k",
    "s",
    "A",
    "B",
    "K",
    "S",
    "aa",
    "ab",
    "ba",
    "abc",
    "abcd",
    "aab",
    "aaa",
    "aaaa",
    "aaaaaaaaa",
    "bbb",
    "AB",
    "aB",
    "ABC",
    "a\n",
    "\na",
    "a\nb",
    "\n",
    "\n\n",
    "b\na\nb",
    "a b",
    " a",
    "a ",
    " ",
    "\t",
    "\r",
    "\f",
    "\v",
    "\a",
    "a.b",
    "a-b",
    "a_b",
    "_",
    "-",
    ".",
    "]",
    "[",
    "^",
    "$",
    "(",
    ")",
    "{",
    "}",
    "|",
    "*",
    "+",
    "?",
    "\\",
    "/",
    "0",
    "1",
    "8",
    "42",
    "007",
    "a1",
    "1a",
    "a{",
    "a{}",
    "a{,2}",
    "a{1",
    "a{01}",
    "{",
    "x",
    "y",
    "z",
    "é",
    "É",
    "aé",
    "éa",
    "a é",
    "日",
    "日本",
    "ab日",
    "😀",
    "😁",
    "ß",
    "ẞ",
    "ſ",
    "\xe2\x84\xaa",
    "σ",
    "ς",
    "Σ",
    "ǆ",
    "ǅ",
    "Ǆ",
    "θ",
    "ϑ",
    "ϴ",
    "İ",
    "ı",
    "ŉ",
    "ΐ",
    "\xcc\x80",
    "\xc2\xa0",
    "€",
    "①",
    "٣",
    "Ꭰ",
    "ꭰ",
    "ü",
    "\x01",
    "\x7f",
    "\xc2\x80",
    "\xef\xbf\xbd",
    "\xf4\x8f\xbf\xbf",
    "train/acc",
    "test/accuracy",
    "train/accurac",
    "layer_12/kernel",
    "layer_/kernel",
    "layer_3/bias",
    "encoder.block.1",
    "encoder/block",
    "val/loss_total",
    "loss",
    "Loss",
    "los",
    "\xff",
    "a\xff",
    "\xc3",
    "\xe2\x82",
    "\xed\xa0\x80",
    "\xf8\x88\x80\x80\x80",
    "\xc0\x80",
};

TEST(Oracle, AcceptsAndRejectsTheSamePatterns) {
  for (const std::string_view pattern : kPatterns) {
    for (const Mode mode : kModes) EXPECT_EQ(Comparison(pattern, mode).difference(), "");
  }
}

TEST(Oracle, GivesTheSameAnswers) {
  int accepted = 0;
  for (const std::string_view pattern : kPatterns) {
    for (const Mode mode : kModes) {
      const Comparison comparison(pattern, mode);
      accepted += comparison.accepted() ? 1 : 0;
      for (const std::string_view text : kTexts) EXPECT_EQ(comparison.difference(text), "");
    }
  }
  EXPECT_GT(accepted, 1000);
}

// The same numbers everywhere: only the standard's generators are the same in all libraries, not its distributions.
class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::size_t below(std::size_t limit) { return generator_() % limit; }
  template <class List>
  std::string_view one_of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937 generator_;
};

constexpr std::string_view kAtoms[] = {"a",          "b",           "c",
                                       "A",          "k",           "s",
                                       "_",          "1",           " ",
                                       "é",          "σ",           "日",
                                       "\\n",        ".",           "^",
                                       "$",          "\\b",         "\\B",
                                       "\\A",        "\\z",         "\\d",
                                       "\\D",        "\\w",         "\\W",
                                       "\\s",        "\\S",         "[ab]",
                                       "[^a]",       "[a-c1]",      "[^\\n]",
                                       "[é-ü]",      "[[:alpha:]]", "[[:^digit:]]",
                                       "[\\w-]",     "\\pL",        "\\PL",
                                       "\\p{Greek}", "[^\\p{Lu}]",  "\\Qa.\\E",
                                       "\\x61",      "\\x{e9}",     "\\101",
                                       "\\.",        "()",          "(?:)"};
constexpr std::string_view kRepetitions[] = {"*",   "+",   "?",     "*?",    "+?",   "??",   "{0}",
                                             "{1}", "{2}", "{0,2}", "{1,3}", "{2,}", "{0,}", "{3}?"};
constexpr std::string_view kOpenings[] = {"(", "(?:", "(?i:", "(?s:", "(?m:", "(?-s:", "(?-i:", "(?P<n>", "(?im-s:"};
constexpr std::string_view kLoose[] = {"(",   ")",    "[",   "]",   "{",   "}",    "|",    "?",    "*",   "+",
                                       "{2}", "{,2}", "\\",  "^",   "-",   "(?",   "(?i)", "(?i",  ":",   "[^",
                                       "[:",  ":]",   "\\Q", "\\E", "\\p", "\\p{", "\\x",  "\\x{", "\\1", "\\q",
                                       ",",   "1",    "P<",  ">",   "<n>", "é",    "\n",   "a-",   "-z",  "\\C"};
constexpr std::string_view kLetters[] = {"a",  "b", "c", "A", "K", "s", "_",  "1", " ",
                                         "\n", ".", "é", "É", "σ", "ς", "日", "ſ", "\xe2\x84\xaa"};

// A valid pattern. Depth is bounded, since each level has several parts.
std::string valid_pattern(Random& random, int depth) {
  std::string pattern;
  const std::size_t parts = random.below(4);
  for (std::size_t i = 0; i <= parts; ++i) {
    switch (depth > 0 ? random.below(6) : 0) {
      case 1: pattern += "|"; continue;
      case 2: pattern.append(random.one_of(kOpenings)).append(valid_pattern(random, depth - 1)).append(")"); break;
      default: pattern += random.one_of(kAtoms);
    }
    if (random.below(3) == 0) pattern += random.one_of(kRepetitions);
  }
  return pattern;
}

// Parts in any order, most of them not valid together.
std::string any_pattern(Random& random) {
  std::string pattern;
  const std::size_t parts = random.below(8);
  for (std::size_t i = 0; i <= parts; ++i) {
    const std::size_t kind = random.below(8);
    pattern += kind < 4 ? random.one_of(kAtoms) : kind == 4 ? random.one_of(kRepetitions) : random.one_of(kLoose);
  }
  return pattern;
}

std::string any_text(Random& random) {
  std::string text;
  for (std::size_t left = random.below(9); left > 0; --left) text += random.one_of(kLetters);
  return text;
}

TEST(Oracle, GivesTheSameAnswersForRandomPatterns) {
  Random random(1);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string pattern = i % 2 == 0 ? valid_pattern(random, 3) : any_pattern(random);
    const Comparison comparison(pattern, kModes[random.below(std::size(kModes))]);
    ASSERT_EQ(comparison.difference(), "");
    if (!comparison.accepted()) continue;
    ++accepted;
    for (int j = 0; j < 8; ++j) ASSERT_EQ(comparison.difference(any_text(random)), "");
  }
  EXPECT_GT(accepted, 12'000);
  EXPECT_LT(accepted, 18'000) << "patterns that are not valid are to be compared, too";
}

std::string utf8(char32_t character) {
  std::string text;
  if (character < 0x80) {
    text += static_cast<char>(character);
    return text;
  }
  const int tails = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xff00 >> (tails + 1) & 0xff) | character >> (6 * tails));
  for (int i = tails; i-- > 0;) text += static_cast<char>(0x80 | (character >> (6 * i) & 0x3f));
  return text;
}

// Characters that have a category; others may get one in the version of Unicode that RE2 knows. The ends of all ranges,
// and some between them.
std::vector<std::string> assigned_characters(std::span<const std::uint32_t> changes) {
  CharSet set;
  for (const std::string_view name : category_names()) {
    if (!name.empty() && name != "Cs") add_unicode_class(name, set);
  }
  std::vector<std::string> characters;
  const auto add = [&](char32_t one) {
    if (contains(set.ranges(), one)) characters.push_back(utf8(one));
  };
  for (const std::uint32_t change : changes) {
    add(change >> 8);
    add((change >> 8) - 1);
  }
  for (char32_t one = 0; one <= kLastCharacter; one += 61) add(one);
  return characters;
}

// How many characters the two have a different opinion about. A newer Unicode may have corrected a few properties.
int different(const std::string& pattern, const std::vector<std::string>& characters) {
  const Comparison comparison(pattern, {Extent::whole, Dot::everything});
  EXPECT_TRUE(comparison.accepted()) << comparison.difference();
  EXPECT_TRUE(std::ranges::all_of(characters, is_utf8)) << "they would not be compared";
  return static_cast<int>(
      std::ranges::count_if(characters, [&](const std::string& one) { return !comparison.difference(one).empty(); }));
}

TEST(Oracle, KnowsTheCategoriesOfCharacters) {
  const std::vector<std::string> characters = assigned_characters(categories());
  EXPECT_GT(characters.size(), 9'000U);
  int differences = 0;
  for (const std::string_view name : category_names()) {
    if (!name.empty()) differences += different("\\p{" + std::string(name) + "}", characters);
  }
  EXPECT_LE(differences, 50);
}

TEST(Oracle, KnowsTheScriptsOfCharacters) {
  EXPECT_GT(script_names().size(), 150U);
  const std::vector<std::string> characters = assigned_characters(scripts());
  EXPECT_GT(characters.size(), 6'000U);
  int differences = 0;
  for (const std::string_view name : script_names()) {
    if (!name.empty()) differences += different("\\p{" + std::string(name) + "}", characters);
  }
  EXPECT_LE(differences, 50);
}

TEST(Oracle, KnowsTheCasesOfCharacters) {
  CharSet with_cases;
  for (const CaseStep& step : case_steps()) {
    for (char32_t one = step.first; one <= step.last; one += step.stride) with_cases.add(one, one);
  }
  std::vector<std::string> characters;
  for (const Range range : with_cases.ranges()) {
    for (char32_t one = range.first; one <= range.last; ++one) characters.push_back(utf8(one));
  }
  EXPECT_GT(characters.size(), 2'500U);
  int differences = 0;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const Comparison comparison("(?i)" + characters[i], {Extent::whole, Dot::everything});
    ASSERT_TRUE(comparison.accepted());
    for (std::size_t j = i % 50; j < characters.size(); j += 50)
      differences += comparison.difference(characters[j]).empty() ? 0 : 1;
    for (std::size_t j = i; j < std::min(i + 100, characters.size()); ++j) {
      differences += comparison.difference(characters[j]).empty() ? 0 : 1;
    }
  }
  differences += different("(?i)[" + utf8(0) + "-" + utf8(kLastCharacter) + "]", characters);
  differences += different("(?i)\\p{Lu}", characters) + different("(?i)[^\\p{Ll}]", characters);
  EXPECT_LE(differences, 10);
}

}  // namespace
}  // namespace sonde::regexp
