#include "policy/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "policy/expression_testing.h"

namespace sonde::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Expression parsed(std::string_view text) {
  auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << text << ": " << expression.error().message();
  return std::move(*expression);
}

bool holds(std::string_view text, const Step& step = {}, std::int64_t number = 0) {
  Expression expression = parsed(text);
  return step.holds(expression, number);
}

// NaN if it had none.
double value_in(const Expression& expression, std::string_view part) {
  for (const auto& [text, value] : expression.values()) {
    if (text == part) return value;
  }
  return kNaN;
}

// The value of a condition's first part at each of these values of x, one per step; NaN where x was not recorded.
std::vector<double> run(std::string_view text, const std::vector<std::optional<double>>& xs) {
  Expression expression = parsed(text);
  std::vector<double> results;
  std::int64_t number = 0;
  for (const std::optional<double>& x : xs) {
    Step step;
    if (x) step.scalar("x", *x);
    step.holds(expression, number++);
    results.push_back(value_in(expression, text));
  }
  return results;
}

struct Text {
  std::string_view condition;
  bool holds;
};

TEST(Precedence, IsThatOfEveryLanguage) {
  const Text table[] = {
      {"1 + 2 * 3 == 7", true},
      {"(1 + 2) * 3 == 9", true},
      {"10 - 4 - 3 == 3", true},
      {"24 / 4 / 2 == 3", true},
      {"2 * -3 == -6", true},
      {"-2 * 3 == -6", true},
      {"- - 2 == 2", true},
      {"--2 == 2", true},
      {"1 - -1 == 2", true},
      {"1 or 0 and 0", true},
      {"(1 or 0) and 0", false},
      {"not 0 and 0", false},
      {"not (0 and 0)", true},
      {"not 1 == 2", true},
      {"not not 3", true},
      {"not not 0", false},
      {"1 + 1 > 1 and 2 < 3", true},
      {"1 < 2 == 1", false},  // replaced below: an error
      {"1e-3 == 0.001 and 1E3 == 1000 and .5 == 0.5 and 2. == 2", true},
      {"1 != 2 and 2 >= 2 and 2 <= 2 and not 2 < 2 and not 2 > 2", true},
      {"0 or 0.25", true},
      {"0 / 0", false},
      {"1 / 0 > 1e308", true},
      {"abs(-3) == 3 and log10(1000) == 3 and sqrt(9) == 3 and round(2.6) == 3", true},
      {"isnan(0 / 0) and not isnan(1) and isinf(1 / 0) and isinf(-1 / 0) and not isinf(1)", true},
  };
  for (const Text& text : table) {
    if (text.condition == "1 < 2 == 1") {
      EXPECT_FALSE(Expression::parse(text.condition));
    } else {
      EXPECT_EQ(holds(text.condition), text.holds) << text.condition;
    }
  }
}

struct Wrong {
  std::string_view condition;
  std::string_view message;
};

TEST(Errors, SayWhereAndWhatWasExpected) {
  const Wrong table[] = {
      {"", "column 1: the condition is empty; write one such as loss > 1.0"},
      {"   ", "column 4: the condition is empty; write one such as loss > 1.0"},
      {"loss > ", "column 8: expected a number or a name, found the end"},
      {"loss > 1 and )", "column 14: expected a number or a name, found ')'"},
      {"loss >> 1", "column 7: expected a number or a name, found '>'"},
      {"loss 1", "column 6: expected an operator or the end, found '1'"},
      {"loss accuracy", "column 6: expected an operator or the end, found 'accuracy'"},
      {"(loss > 1", "column 10: expected ')', found the end"},
      {"loss > 1)", "column 9: expected an operator or the end, found ')'"},
      {"loss = 1", "column 6: '=' is not an operator; write '==' to compare"},
      {"a && b", "column 3: '&&' is not an operator; write 'and'"},
      {"a || b", "column 3: '||' is not an operator; write 'or'"},
      {"!a", "column 1: '!' is not an operator; write 'not'"},
      {"step % 2", "column 6: '%' is not an operator; write every(n) for each n-th step"},
      {"and", "column 1: expected a number or a name, found 'and'"},
      {"1 < 2 < 3", "column 7: comparisons cannot be chained; write a < b and b < c"},
      {"loss == 'x'",
       "column 9: expected a number or a name (a scalar of that name is scalar('x')), found the text 'x'"},
      {"1e400 > 2", "column 1: the number is too large or too small for a double"},
      {"3x", "column 1: expected a number such as 12, 0.5 or 1e-3"},
      {"1.2.3", "column 1: expected a number such as 12, 0.5 or 1e-3"},
      {"zscor(loss, 200)", "column 1: there is no function 'zscor'; did you mean 'zscore'?"},
      {"1 + frobnicate(2)", "column 5: there is no function 'frobnicate'"},
      {"zscore(loss)", "column 12: expected ',', found ')'"},
      {"zscore(loss, 5)", "column 14: expected a number of values, a whole number from 10 to 1000000, found '5'"},
      {"zscore(loss, 1e7)", "column 14: expected a number of values, a whole number from 10 to 1000000, found '1e7'"},
      {"zscore(loss, n)", "column 14: expected a number of values, a whole number from 10 to 1000000, found 'n'"},
      {"trend(loss, 1)", "column 13: expected a number of values, a whole number from 2 to 1000000, found '1'"},
      {"average(loss, 2.5)", "column 15: expected a number of values, a whole number from 1 to 1000000, found '2.5'"},
      {"every(0)", "column 7: expected a number of steps, a whole number from 1 to 1000000000000000, found '0'"},
      {"every(-1)", "column 7: expected a number of steps, a whole number from 1 to 1000000000000000, found '-'"},
      {"max(loss)", "column 5: expected a pattern in quotes, such as 'dense_.*', found 'loss'"},
      {"max", "column 1: 'max' is a statistic of tensors; write max('pattern'), or use it inside any('pattern', ...)"},
      {"delta > 1", "column 1: 'delta' is a function; write delta(...), or scalar('delta') for a scalar of that name"},
      {"max('a(')",
       "column 5: 'a(' is not a valid regular expression (missing ')' for '(' at position 2); escape special "
       "characters of a name with \\"},
      {"max('a)", "column 5: the text is not closed: its second quote is missing"},
      {"any('a')", "column 8: expected ',', found ')'"},
      {"any('a', any('b', max > 1))", "column 10: any and all cannot be nested"},
      {"of(weight, rms) > 1", "column 1: of(kind, statistic) is valid only inside any and all"},
      {"is(weight)", "column 1: is(kind) is valid only inside any and all"},
      {"any('a', of(wait, rms) > 1)",
       "column 13: expected a kind (activation, gradient, weight, update, input or output), found 'wait'"},
      {"any('a', of(weight, loss) > 1)", "column 21: expected a statistic, such as absmax or rms, found 'loss'"},
      {"any('a', zscore(max, 2000) > 1)",
       "column 22: expected a number of values, a whole number from 10 to 1000, found '2000'"},
      {"scalar(loss)", "column 8: expected a name in quotes, such as 'train/loss', found 'loss'"},
      {"max('gr\xc3\xb6\xc3\x9f"
       "e') >",
       "column 15: expected a number or a name, found the end"},
      {"loss > \xc3\xb6",
       "column 8: unexpected character; names with other characters than letters, digits, _ and . are "
       "written scalar('...')"},
  };
  for (const Wrong& wrong : table) {
    const auto expression = Expression::parse(wrong.condition);
    ASSERT_FALSE(expression) << wrong.condition;
    EXPECT_EQ(expression.error().message(), wrong.message) << wrong.condition;
    EXPECT_EQ(expression.error().code(), Code::invalid_argument);
  }
}

TEST(Errors, AForeignTextIsLimitedInLengthAndDepth) {
  EXPECT_EQ(Expression::parse(std::string(10'001, ' ')).error().message(),
            "column 1: the condition is longer than 10000 characters; split it into several");
  EXPECT_EQ(Expression::parse(std::string(5000, '(')).error().message(),
            "column 101: the condition is nested more than 100 deep");
  EXPECT_TRUE(Expression::parse(std::string(99, '(') + "1" + std::string(99, ')')));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "abs(";
  EXPECT_FALSE(Expression::parse(deep + "1" + std::string(200, ')')));
  std::string sum = "1";
  for (int i = 0; i < 4999; ++i) sum += "+1";
  EXPECT_TRUE(holds(sum));
  EXPECT_TRUE(holds(std::string(9000, '-') + "1 == 1"));
  std::string nots;
  for (int i = 0; i < 2000; ++i) nots += "not ";
  EXPECT_TRUE(holds(nots + "1"));
}

TEST(Scalars, AreThoseOfTheStep) {
  Step step;
  step.scalar("loss", 2).scalar("train/accuracy", 0.5).scalar("a.b_1", 7).scalar("step", 5);
  EXPECT_TRUE(holds("loss == 2 and scalar('train/accuracy') == 0.5 and scalar(\"loss\") == 2 and a.b_1 == 7", step));
  EXPECT_TRUE(holds("step == 12 and scalar('step') == 5", step, 12));
  EXPECT_TRUE(holds("every(4) and not every(5)", step, 12));
}

TEST(Scalars, FindTheirPlaceAgainWhenItMoves) {
  Expression expression = parsed("b == 2");
  EXPECT_TRUE(Step().scalar("a", 1).scalar("b", 2).holds(expression));
  EXPECT_TRUE(Step().scalar("b", 2).holds(expression));
  EXPECT_TRUE(Step().scalar("c", 0).scalar("b", 2).scalar("a", 1).holds(expression));
  EXPECT_FALSE(Step().scalar("c", 0).holds(expression));
  EXPECT_TRUE(Step().scalar("b", 2).holds(expression));
}

TEST(Scalars, AbsentOnesAreNaNWithoutBeingRecordedAsNaN) {
  const Step absent;
  for (const auto* text :
       {"x > 0", "x < 0", "x == 0", "x >= 0", "x", "x + 1 > 0", "isnan(x)", "isnan(x + 1)", "isinf(x)", "x == x",
        "isnan(abs(x))", "isnan(-x)", "isnan(delta(x))", "isnan(zscore(x, 10))"}) {
    EXPECT_FALSE(holds(text, absent)) << text;
  }
  EXPECT_TRUE(holds("x != x and not (x > 0) and not x", absent));
  Step recorded;
  recorded.scalar("x", kNaN);
  EXPECT_TRUE(holds("isnan(x) and isnan(x + 1) and isnan(-x) and isnan(sqrt(x)) and not isinf(x)", recorded));
  EXPECT_FALSE(holds("x > 0 or x <= 0 or x == x or x", recorded));
  EXPECT_TRUE(holds("isinf(x) and isinf(-x) and x > 1e308", Step().scalar("x", kInf)));
}

TEST(Statistics, AreOfAllMatchingTensorsTogether) {
  Step step;
  step.tensor<float>("a", Kind::activation, {1, -3, 0, 0});
  step.tensor<float>("b", Kind::activation, {5, 7});
  step.tensor<float>("c", Kind::activation, {100});
  EXPECT_TRUE(holds("max('a|b') == 7 and min('a|b') == -3 and absmax('a|b') == 7 and count('a|b') == 6", step));
  EXPECT_TRUE(
      holds("absmax('a') == 3 and mean('a') == -0.5 and mean_abs('a') == 1 and zero_fraction('a') == 0.5", step));
  EXPECT_TRUE(holds("negative_fraction('a') == 0.25 and abs(rms('a') - sqrt(2.5)) < 1e-12", step));
  EXPECT_TRUE(holds("std('b') == 1 and abs(std('a|b') - sqrt(84 / 6 - 100 / 36)) < 1e-12", step));
  EXPECT_TRUE(
      holds("count('none') == 0 and not max('none') and not isnan(max('none')) and not nonfinite('none')", step));
}

TEST(Statistics, CountUnintendedNonFiniteValues) {
  Step step;
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  step.tensor<float>("scores", Kind::activation, {-inf, -inf, 1, inf}, true);
  step.tensor<float>("out", Kind::activation, {nan, -inf, 2});
  step.tensor<float>("gone", Kind::activation, {nan, nan});
  EXPECT_TRUE(holds("nonfinite('scores') == 1 and inf('scores') == 1 and nan('scores') == 0", step));
  EXPECT_TRUE(holds("nonfinite('out') == 2 and inf('out') == 1 and nan('out') == 1", step));
  EXPECT_TRUE(holds("nonfinite('.*') == 5 and max('.*') == 2 and zero_fraction('.*') == 0", step));
  EXPECT_TRUE(
      holds("isnan(max('gone')) and isnan(absmax('gone')) and isnan(rms('gone')) and isnan(mean_abs('gone'))", step));
  EXPECT_TRUE(holds("any('.*', nonfinite == 1) and any('.*', nan == 2) and not any('.*', inf > 1)", step));
}

TEST(AnyAll, AskEachTensorForItself) {
  Step step;
  step.scalar("limit", 4);
  step.tensor<float>("a", Kind::activation, {1, 2});
  step.tensor<float>("b", Kind::activation, {-5, 5});
  EXPECT_TRUE(holds("any('a|b', min > 0) and any('a|b', min < 0) and not all('a|b', min > 0)", step));
  EXPECT_TRUE(holds("all('a|b', absmax > 1 and count == 2) and not any('a|b', min > 0 and max > 3)", step));
  EXPECT_TRUE(holds("any('.*', absmax > limit) and any('.*', max == max('.*')) and any('.*', step == 3)", step, 3));
  EXPECT_FALSE(holds("any('none', 1) or all('none', 1)", step)) << "nothing was recorded that could hold";
}

TEST(AnyAll, LookAtTheTensorOfAnotherKindThatHasTheName) {
  Step step;
  step.tensor<float>("k", Kind::update, {0.5F, 0.5F});
  step.tensor<float>("lonely", Kind::update, {100});
  step.tensor<float>("k", Kind::weight, {1, 1});
  EXPECT_TRUE(holds("any('update/.*', rms / of(weight, rms) == 0.5)", step));
  EXPECT_TRUE(holds("any('update/.*', rms / of('weight', rms) == 0.5)", step));
  EXPECT_FALSE(holds("any('update/.*', of(weight, max) < 1 or of(weight, max) > 1 or of(gradient, max))", step));
  EXPECT_TRUE(holds("any('k', is(update)) and any('k', is(weight)) and not any('k', is('gradient'))", step));
}

TEST(AnyAll, FindAnotherKindRecordedLaterOrNotAtEveryStep) {
  Expression expression = parsed("any('update/.*', of(weight, max) > 1)");
  Step step;
  step.tensor<float>("k", Kind::update, {1});
  EXPECT_FALSE(step.holds(expression, 0));
  step.tensor<float>("k", Kind::weight, {2});
  EXPECT_TRUE(step.holds(expression, 1));
  step.clear();
  step.tensor<float>("k", Kind::update, {1});
  EXPECT_FALSE(step.holds(expression, 2)) << "the weight of an earlier step does not count";
  step.tensor<float>("k", Kind::weight, {2});
  EXPECT_TRUE(step.holds(expression, 3));
}

TEST(AnyAll, RememberEachTensorForItself) {
  Expression expression = parsed("any('.*', delta(max) > 5)");
  for (int i = 0; i < 10; ++i) {
    Step step;
    step.tensor<float>("a", Kind::activation, {1}).tensor<float>("b", Kind::activation, {100});
    EXPECT_FALSE(step.holds(expression, i)) << "a and b differ by more, but neither has changed";
  }
  Step step;
  step.tensor<float>("a", Kind::activation, {1}).tensor<float>("b", Kind::activation, {106});
  EXPECT_TRUE(step.holds(expression, 10));
}

TEST(Values, AreThoseOfThePartsAsTheyAreWritten) {
  Expression expression =
      parsed("loss > 3 and nonfinite( '.*' ) > 0 or zscore(loss, 10) > 6 or loss < 0 or any('w.*', absmax > 2)");
  EXPECT_THAT(expression.scalars(), ElementsAre("loss"));
  EXPECT_THAT(expression.patterns(), ElementsAre(".*", "w.*"));
  Step step;
  step.scalar("loss", 4.5);
  step.tensor<float>("w", Kind::weight, {1}).tensor<float>("w2", Kind::weight, {3});
  EXPECT_TRUE(step.holds(expression));
  EXPECT_THAT(expression.values(),
              ElementsAre(Pair("loss", 4.5), Pair("nonfinite( '.*' )", 0), Pair("any('weight/w2', absmax > 2)", 1),
                          Pair("absmax('weight/w2')", 3)));
  step.clear();
  step.tensor<float>("w", Kind::weight, {1});
  EXPECT_FALSE(step.holds(expression));
  EXPECT_THAT(expression.values().back(), Pair("any('w.*', absmax > 2)", 0));
}

// "loss = NaN" is a clue, and a false one if nobody recorded a loss.
TEST(Values, LeaveOutValuesNotRecordedInTheStep) {
  Expression expression = parsed("nonfinite('.*') > 0 or isnan(loss) or delta(loss) > 1 or all('w', max > 1)");
  EXPECT_THAT(expression.values(), IsEmpty());
  Step step;
  step.tensor<float>("x", Kind::activation, {1, static_cast<float>(kNaN)});
  EXPECT_TRUE(step.holds(expression));
  EXPECT_THAT(expression.values(), ElementsAre(Pair("nonfinite('.*')", 1)));
  step.clear();
  step.scalar("loss", kNaN);
  EXPECT_TRUE(step.holds(expression));
  EXPECT_THAT(expression.values(), ElementsAre(Pair("loss", ::testing::IsNan())));
}

TEST(Values, NameTheFirstTensorThatHeldAndTheOtherKindAskedFor) {
  Expression expression = parsed("any('update/.*', rms > 0.1 * of(weight, rms))");
  Step step;
  for (const auto* name : {"a", "b's", "c"}) {
    step.tensor<float>(name, Kind::weight, {1}).tensor<float>(name, Kind::update, {name[0] == 'a' ? 0.01F : 0.5F});
  }
  EXPECT_TRUE(step.holds(expression));
  EXPECT_THAT(expression.values(), ElementsAre(Pair("any(\"update/b's\", rms > 0.1 * of(weight, rms))", 1),
                                               Pair("rms(\"update/b's\")", 0.5), Pair("rms(\"weight/b's\")", 1)));
}

TEST(LooksAt, WhatItsPatternsSelectAndTheirOtherKinds) {
  const Expression expression = parsed("max('act_.*') > 1 or any('update/.*', rms > of(weight, rms))");
  EXPECT_TRUE(expression.looks_at("act_1", Kind::activation));
  EXPECT_TRUE(expression.looks_at("k", Kind::update));
  EXPECT_TRUE(expression.looks_at("k", Kind::weight));
  EXPECT_FALSE(expression.looks_at("k", Kind::gradient));
  EXPECT_FALSE(parsed("loss > 1").looks_at("loss", Kind::activation));
  EXPECT_THAT(parsed("1").scalars(), IsEmpty());
}

TEST(Memory, AdvancesOnBothSidesOfAndAndOr) {
  for (const auto* text : {"a > 0 and delta(x) == 1", "not (a <= 0 or delta(x) != 1)"}) {
    Expression expression = parsed(text);
    Step().scalar("a", -1).scalar("x", 1).holds(expression, 0);
    Step().scalar("a", -1).scalar("x", 5).holds(expression, 1);
    EXPECT_TRUE(Step().scalar("a", 1).scalar("x", 6).holds(expression, 2)) << text;
  }
}

TEST(Delta, IsTheChangeSinceTheLastNumber) {
  EXPECT_THAT(run("delta(x)", {1, 4, std::nullopt, kNaN, 2, 2}),
              ElementsAre(::testing::IsNan(), 3, ::testing::IsNan(), ::testing::IsNan(), -2, 0));
}

TEST(Rising, IsTheStepThatCrossesTheLevel) {
  EXPECT_THAT(run("rising(x, 3)", {5, 1, 3, 4, 5, std::nullopt, 2, kNaN, 9}), ElementsAre(0, 0, 0, 1, 0, 0, 0, 0, 1));
}

TEST(Average, IsOfTheLastValuesAndStaysWithoutNewOnes) {
  EXPECT_THAT(run("average(x, 2)", {1, 3, 5, std::nullopt, kInf, kNaN, 7}),
              ElementsAre(::testing::IsNan(), 2, 4, 4, 4, 4, 6));
}

TEST(ZScore, NeedsSomeValuesFirst) {
  std::vector<std::optional<double>> xs;
  for (int i = 0; i < 40; ++i) xs.emplace_back(i % 2);
  const auto of_window = [&](const char* text) {
    const std::vector<double> scores = run(text, xs);
    return std::ranges::find_if(scores, [](double x) { return !std::isnan(x); }) - scores.begin();
  };
  EXPECT_EQ(of_window("zscore(x, 10)"), 10);
  EXPECT_EQ(of_window("zscore(x, 100)"), 10);
  EXPECT_EQ(of_window("zscore(x, 250)"), 25);
}

TEST(ZScore, OfConstantsIsZeroOrInfinite) {
  std::vector<std::optional<double>> xs(10, 0.1);
  xs.insert(xs.end(), {0.1, 0.2, 0.1, -1.0});
  const auto scores = run("zscore(x, 10)", xs);
  EXPECT_EQ(scores[10], 0);
  EXPECT_EQ(scores[11], kInf);
  EXPECT_LT(scores[12], 0);
  // Once the 0.2 has left the window, it holds constants again, exactly.
  xs.assign(10, 0.1);
  xs.emplace_back(12345.678);
  xs.insert(xs.end(), 12, 0.1);
  xs.emplace_back(0.0999);
  const auto again = run("zscore(x, 10)", xs);
  EXPECT_EQ(again[again.size() - 2], 0);
  EXPECT_EQ(again.back(), -kInf);
}

TEST(ZScore, IsNotPoisonedByInfinities) {
  std::vector<std::optional<double>> xs;
  for (int i = 0; i < 20; ++i) xs.emplace_back(i % 2);
  xs.insert(xs.end(), {kInf, kNaN, -kInf, 1e300, 0.5, 1.0});
  const auto scores = run("zscore(x, 20)", xs);
  EXPECT_EQ(scores[20], kInf);
  EXPECT_TRUE(std::isnan(scores[21]));
  EXPECT_EQ(scores[22], -kInf);
  EXPECT_GT(scores[23], 1e299);
  EXPECT_DOUBLE_EQ(scores[24], 0);
  EXPECT_NEAR(scores[25], 1, 0.1);
}

// What the functions are, written down as plainly as possible.
struct Naive {
  std::vector<std::pair<double, double>> kept;  // step, value

  std::vector<std::pair<double, double>> last(std::size_t n) const {
    return {kept.end() - static_cast<std::ptrdiff_t>(std::min(n, kept.size())), kept.end()};
  }
  static long double mean(const std::vector<std::pair<double, double>>& points) {
    long double sum = 0;
    for (const auto& point : points) sum += point.second;
    return sum / static_cast<long double>(points.size());
  }
  double zscore(double x, std::size_t n) const {
    const auto points = last(n);
    if (std::isnan(x) || points.size() < std::max<std::size_t>(10, n / 10)) return kNaN;
    const bool constant = std::ranges::all_of(points, [&](auto& p) { return p.second == points[0].second; });
    if (constant) return x == points[0].second ? 0 : std::copysign(kInf, x - points[0].second);
    return static_cast<double>((x - mean(points)) / deviation(n));
  }
  long double deviation(std::size_t n) const {
    const auto points = last(n);
    long double m2 = 0;
    for (const auto& point : points) m2 += (point.second - mean(points)) * (point.second - mean(points));
    return std::sqrt(m2 / static_cast<long double>(points.size()));
  }
  double trend(std::size_t n) const {
    const auto points = last(n);
    if (points.size() < n) return kNaN;
    long double steps = 0;
    for (const auto& point : points) steps += point.first;
    steps /= static_cast<long double>(n);
    long double above = 0;
    long double below = 0;
    for (const auto& point : points) {
      above += (point.first - steps) * (point.second - mean(points));
      below += (point.first - steps) * (point.first - steps);
    }
    return static_cast<double>(above / below);
  }
};

void expect_near(double got, double expected, double scale) {
  if (std::isnan(expected) || std::isinf(expected)) {
    RC_ASSERT((std::isnan(got) && std::isnan(expected)) || got == expected);
  } else {
    RC_ASSERT(std::abs(got - expected) <= 1e-6 * (std::abs(expected) + scale));
  }
}

TEST(Windows, AgreeWithThePlainFormulas) {
  const bool agrees = rc::check("zscore, trend and average", [] {
    const auto n = *rc::gen::inRange<std::size_t>(10, 60);
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const double level = *rc::gen::element(0.0, 1.0, 1e5, -1e3);
    const double spread = *rc::gen::element(1.0, 1e-2, 1e3);
    const double decay = *rc::gen::element(1.0, 0.9, 0.99);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0, 1);
    const std::string zscore = "zscore(x, " + std::to_string(n) + ")";
    const std::string trend = "trend(x, " + std::to_string(n) + ")";
    Expression expression = parsed(std::string(zscore).append(" + ").append(trend));
    Naive naive;
    std::int64_t number = static_cast<std::int64_t>(random() % 1'000'000'000);
    double shrinking = 1;
    for (int i = 0; i < 400; ++i) {
      number += 1 + static_cast<std::int64_t>(random() % 3);
      shrinking *= decay;
      const auto draw = random() % 20;
      double x = level + spread * shrinking * normal(random);
      if (draw == 0) x = kNaN;
      if (draw == 1) x = kInf;
      if (draw == 2) x = level;
      if (draw == 3 && random() % 10 == 0) x = level + 1e9 * spread;
      const double score = naive.zscore(x, n);
      // Of values that differ in their last digits only, a score in doubles is noise.
      const auto deviation = static_cast<double>(naive.deviation(n));
      const double digits = deviation > 0 ? std::abs(level) / deviation : 1;
      Step step;
      if (draw != 4) step.scalar("x", x);
      step.holds(expression, number);
      if (draw != 4 && std::isfinite(x)) naive.kept.emplace_back(static_cast<double>(number), x);
      if (digits < 1e8) expect_near(value_in(expression, zscore), draw == 4 ? kNaN : score, 1e-3 + 1e-7 * digits);
      const auto width = static_cast<double>(naive.deviation(n));
      expect_near(value_in(expression, trend), naive.trend(n), 1e-3 * width + 1e-9 * std::abs(level));
    }
  });
  EXPECT_TRUE(agrees);
}

TEST(Statistics, MergeAsIfTheTensorsWereOne) {
  const bool agrees = rc::check("merged statistics", [] {
    const auto parts = *rc::gen::container<std::vector<std::vector<double>>>(rc::gen::container<std::vector<double>>(
        rc::gen::map(rc::gen::inRange(-1000, 1000), [](int x) { return x / 8.0; })));
    std::vector<double> all;
    Step apart;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      all.insert(all.end(), parts[i].begin(), parts[i].end());
      apart.tensor(std::to_string(i), Kind::activation, parts[i]);
    }
    Step together;
    if (!parts.empty()) together.tensor("0", Kind::activation, all);
    for (const auto* word : {"max", "min", "absmax", "mean", "std", "rms", "mean_abs", "zero_fraction",
                             "negative_fraction", "count", "nonfinite"}) {
      const std::string text = std::string(word) + "('.*')";
      Expression a = parsed(text);
      Expression b = parsed(text);
      apart.holds(a);
      together.holds(b);
      const double got = value_in(a, text);
      const double expected = value_in(b, text);
      RC_ASSERT((std::isnan(got) && std::isnan(expected)) || std::abs(got - expected) < 1e-9);
    }
  });
  EXPECT_TRUE(agrees);
}

TEST(Expression, MovesWithItsMemory) {
  Expression first = parsed("delta(x) == 1");
  Step().scalar("x", 1).holds(first, 0);
  Expression second = std::move(first);
  EXPECT_TRUE(Step().scalar("x", 2).holds(second, 1));
  EXPECT_EQ(second.text(), "delta(x) == 1");
}

}  // namespace
}  // namespace sonde::policy
