#include "render/digits.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "base/bytes.h"

namespace sonde::render {
namespace {

TEST(Positional, AlwaysHasAPointAndNoTrailingZeros) {
  EXPECT_EQ(positional(0.0, FloatType::f64), "0.");
  EXPECT_EQ(positional(-0.0, FloatType::f64), "-0.");
  EXPECT_EQ(positional(100.0, FloatType::f64), "100.");
  EXPECT_EQ(positional(12.5, FloatType::f64), "12.5");
  EXPECT_EQ(positional(-0.00012, FloatType::f64), "-0.00012");
}

TEST(Positional, UsesTheFewestDigitsThatIdentifyTheValue) {
  EXPECT_EQ(positional(static_cast<double>(0.1F), FloatType::f32), "0.1");
  EXPECT_EQ(positional(static_cast<double>(0.1F), FloatType::f64), "0.10000000149011612");
  EXPECT_EQ(positional(0.0999755859375, FloatType::f16), "0.1");
  EXPECT_EQ(positional(65504.0, FloatType::f16), "65500.");
}

TEST(Positional, RoundsTheExactValueAtThePrecision) {
  EXPECT_EQ(positional(0.125, FloatType::f64, 2), "0.12");  // a tie goes to the even digit
  EXPECT_EQ(positional(0.375, FloatType::f64, 2), "0.38");
  EXPECT_EQ(positional(0.999, FloatType::f64, 2), "1.");
  EXPECT_EQ(positional(0.001, FloatType::f64, 2), "0.");
  EXPECT_EQ(positional(2.5, FloatType::f64, 0), "2.");
}

TEST(Scientific, PadsDigitsAndExponent) {
  EXPECT_EQ(scientific(1e10, FloatType::f64), "1.e+10");
  EXPECT_EQ(scientific(0.0, FloatType::f64), "0.e+00");
  EXPECT_EQ(scientific(-1.5e-7, FloatType::f64, 8, 3), "-1.500e-07");
  EXPECT_EQ(scientific(1.5, FloatType::f64, 8, 0, 3), "1.5e+000");
  EXPECT_EQ(scientific(9.996, FloatType::f64, 2, 2), "1.00e+01");
  EXPECT_EQ(scientific(5e-324, FloatType::f64), "5.e-324");
}

TEST(Scientific, ReadsBackAsTheSameValue) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random();
    const auto value = base::load<double>(&bits);
    if (!std::isfinite(value)) continue;
    const std::string text = scientific(value, FloatType::f64);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, value) << text;
  }
}

TEST(Brief, HasThreeSignificantDigits) {
  EXPECT_EQ(brief(0), "0");
  EXPECT_EQ(brief(-0.0), "0");
  EXPECT_EQ(brief(1), "1");
  EXPECT_EQ(brief(-2.1), "-2.1");
  EXPECT_EQ(brief(1.0249), "1.02");
  EXPECT_EQ(brief(0.012345), "0.0123");
  EXPECT_EQ(brief(0.0001), "0.0001");
  EXPECT_EQ(brief(0.00001), "1e-05");
  EXPECT_EQ(brief(-1.5e-7), "-1.5e-07");
}

TEST(Brief, DoesNotRoundBeforeThePoint) {
  EXPECT_EQ(brief(999.96), "1000");
  EXPECT_EQ(brief(12345), "12345");
  EXPECT_EQ(brief(-99999.4), "-99999");
  EXPECT_EQ(brief(999999.9), "1e+06");
  EXPECT_EQ(brief(1234567), "1.23e+06");
  EXPECT_EQ(brief(1e300), "1e+300");
}

TEST(Brief, NamesNonFiniteValues) {
  EXPECT_EQ(brief(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(brief(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(brief(-std::numeric_limits<double>::infinity()), "-inf");
}

}  // namespace
}  // namespace sonde::render
