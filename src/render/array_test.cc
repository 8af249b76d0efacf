// The oracle for this text is NumPy itself: tests/conformance/test_print.py compares thousands of arrays. Here are the
// cases that need C++: strides, settings, views that are no arrays.
#include "render/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace sonde::render {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(NumpyStyle, AlignsThePointsOfARow) {
  const std::vector<float> values = {1.0F, 2.5F, -3.0F, kNan, 4.0F, 0.1F};
  EXPECT_EQ(numpy_style(view(values, {2, 3})), "[[ 1.   2.5 -3. ]\n [ nan  4.   0.1]]");
}

TEST(NumpyStyle, UsesExponentsIfTheRangeIsWide) {
  const std::vector<float> values = {0.1F, 1.2345678e-5F};
  EXPECT_EQ(numpy_style(view(values)), "[1.0000000e-01 1.2345678e-05]");
}

TEST(NumpyStyle, PrintsNonFiniteValuesAlone) {
  const std::vector<float> values = {kNan, kInf, -kInf};
  EXPECT_EQ(numpy_style(view(values)), "[ nan  inf -inf]");
}

TEST(NumpyStyle, PrintsAScalarWithoutBrackets) {
  const float value = 0.1F;
  EXPECT_EQ(numpy_style(view(&value, Shape{})), "0.1");
  const bool yes = true;
  EXPECT_EQ(numpy_style(view(&yes, Shape{})), "True");
  const std::int64_t number = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(numpy_style(view(&number, Shape{})), "-9223372036854775808");
}

TEST(NumpyStyle, PrintsAnEmptyTensorAsBrackets) {
  EXPECT_EQ(numpy_style(view(static_cast<const float*>(nullptr), {0, 3})), "[]");
}

TEST(NumpyStyle, PrintsAnInvalidViewAsBrackets) {
  EXPECT_EQ(numpy_style(view(std::vector<float>{1, 2, 3}, {2, 2})), "[]");
}

TEST(NumpyStyle, FollowsStrides) {
  const std::vector<std::int32_t> values = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(numpy_style(view(values.data(), {3, 2}, {1, 3})), "[[1 4]\n [2 5]\n [3 6]]");
  EXPECT_EQ(numpy_style(view(values.data() + 5, {3}, {-2})), "[6 4 2]");
  EXPECT_EQ(numpy_style(view(values.data(), {2, 3}, {0, 1})), "[[1 2 3]\n [1 2 3]]");
}

TEST(NumpyStyle, SummarisesAboveTheThresholdOnly) {
  std::vector<std::int32_t> values(1001);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(numpy_style(view(values)), "[   0    1    2 ...  998  999 1000]");
  EXPECT_EQ(numpy_style(view(values), {.threshold = 5, .edge_items = 1}), "[   0 ... 1000]");
  const std::string all = numpy_style(view(values), {.threshold = ArrayOptions::kEverything});
  EXPECT_EQ(all.find("..."), std::string::npos);
  EXPECT_NE(all.find(" 500 "), std::string::npos);
}

TEST(NumpyStyle, ReadsOnlyThePrintedElementsOfABroadcastTensor) {
  const float value = 1;
  const std::int64_t huge = std::int64_t{1} << 30;
  EXPECT_EQ(numpy_style(view(&value, {huge}, {0})), "[1. 1. 1. ... 1. 1. 1.]");
}

TEST(NumpyStyle, BreaksLinesAtTheLineWidth) {
  const std::vector<std::int32_t> values = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(numpy_style(view(values), {.line_width = 8}), "[1 2 3\n 4 5 6]");
  EXPECT_EQ(numpy_style(view(values, {2, 3}), {.line_width = 1}), "[[1\n  2\n  3]\n [4\n  5\n  6]]");
}

TEST(NumpyStyle, KeepsToThePrecision) {
  const std::vector<double> values = {1.0 / 3, 2.0};
  EXPECT_EQ(numpy_style(view(values), {.precision = 2}), "[0.33 2.  ]");
  EXPECT_EQ(numpy_style(view(values), {.precision = 0}), "[0. 2.]");
}

}  // namespace
}  // namespace sonde::render
