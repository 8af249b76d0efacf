#include "render/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "render/colormap.h"
#include "tensor/convert.h"

namespace sonde::render {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Picture drawn(const TensorView& view, std::optional<Layout> layout, const ImageOptions& options = {}) {
  Result<Picture> picture = draw(view, layout, options);
  EXPECT_TRUE(picture) << (picture ? "" : picture.error().message());
  if (!picture) return {};
  EXPECT_EQ(picture->pixels.size(), static_cast<std::size_t>(picture->width) *
                                        static_cast<std::size_t>(picture->height) *
                                        static_cast<std::size_t>(picture->channels));
  return *std::move(picture);
}

Color color_at(const Picture& picture, int x, int y) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::size_t at =
      (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) + static_cast<std::size_t>(x)) * channels;
  if (channels == 1) return {picture.pixels[at], picture.pixels[at], picture.pixels[at]};
  return {picture.pixels[at], picture.pixels[at + 1], picture.pixels[at + 2]};
}

Color viridis(int index) { return kViridisPalette.colors[static_cast<std::size_t>(index)]; }
Color diverging(int index) { return kDivergingPalette.colors[static_cast<std::size_t>(index)]; }

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

TEST(DrawColors, PassesBytesThroughUnchanged) {
  for (std::int64_t channels : {1, 3, 4}) {
    const auto bytes = random_bytes(static_cast<std::size_t>(5 * 7 * channels));
    const Picture picture = drawn(view(bytes, {5, 7, channels}), Layout::HWC);
    EXPECT_EQ(picture.width, 7);
    EXPECT_EQ(picture.height, 5);
    EXPECT_EQ(picture.channels, channels);
    EXPECT_EQ(picture.pixels, bytes);
  }
}

TEST(DrawColors, InterleavesChannelsThatComeFirst) {
  const auto bytes = random_bytes(5 * 7 * 3);
  const Picture expected = drawn(view(bytes, {5, 7, 3}), Layout::HWC);
  std::vector<std::uint8_t> planes(bytes.size());
  std::vector<float> floats(bytes.size());
  for (std::size_t i = 0; i < 35; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      planes[c * 35 + i] = bytes[i * 3 + c];
      floats[c * 35 + i] = static_cast<float>(bytes[i * 3 + c]) / 255;
    }
  }
  EXPECT_EQ(drawn(view(planes, {3, 5, 7}), Layout::CHW).pixels, expected.pixels);
  EXPECT_EQ(drawn(view(planes, {1, 3, 5, 7}), Layout::NCHW).pixels, expected.pixels);
  EXPECT_EQ(drawn(view(floats, {3, 5, 7}), Layout::CHW).pixels, expected.pixels);
}

TEST(DrawColors, FollowsAnyStrides) {
  const auto bytes = random_bytes(6 * 4 * 3);
  // Upside down, every second column.
  const Picture picture = drawn(view(bytes.data() + 5 * 12, {6, 2, 3}, {-12, 6, 1}), Layout::HWC);
  ASSERT_EQ(picture.width, 2);
  for (std::size_t y = 0; y < 6; ++y) {
    for (std::size_t x = 0; x < 2; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(picture.pixels[(y * 2 + x) * 3 + c], bytes[(5 - y) * 12 + x * 6 + c]);
      }
    }
  }
}

TEST(DrawColors, TakesFloatsFromZeroToOneAndClampsTheRest) {
  const std::vector<float> values = {-0.5F, 0.0F, 0.25F, 0.5F, 1.0F, 7.0F};
  EXPECT_THAT(drawn(view(values, {1, 6}), Layout::HW).pixels, ElementsAre(0, 0, 64, 128, 255, 255));
  const std::vector<double> doubles(values.begin(), values.end());
  EXPECT_THAT(drawn(view(doubles, {1, 6}), Layout::HW).pixels, ElementsAre(0, 0, 64, 128, 255, 255));
}

TEST(DrawColors, TakesEveryFloatType) {
  const std::vector<float> values = {0.0F, 0.25F, 0.5F, 1.0F};
  std::vector<Float16> f16;
  std::vector<BFloat16> bf16;
  std::vector<Float8E4M3> e4m3;
  std::vector<Float8E5M2> e5m2;
  for (float value : values) {
    f16.push_back(tensor::to_float16(value));
    bf16.push_back(tensor::to_bfloat16(value));
    e4m3.push_back(tensor::to_float8_e4m3(value));
    e5m2.push_back(tensor::to_float8_e5m2(value));
  }
  const std::vector<std::uint8_t> expected = {0, 64, 128, 255};
  EXPECT_EQ(drawn(view(f16, {2, 2}), Layout::HW).pixels, expected);
  EXPECT_EQ(drawn(view(bf16, {2, 2}), Layout::HW).pixels, expected);
  EXPECT_EQ(drawn(view(e4m3, {2, 2}), Layout::HW).pixels, expected);
  EXPECT_EQ(drawn(view(e5m2, {2, 2}), Layout::HW).pixels, expected);
}

TEST(DrawColors, TakesIntegersAsBytes) {
  const std::vector<std::int32_t> i32 = {-5, 0, 200, 300};
  EXPECT_THAT(drawn(view(i32, {1, 4}), Layout::HW).pixels, ElementsAre(0, 0, 200, 255));
  const std::vector<std::uint64_t> u64 = {7, std::numeric_limits<std::uint64_t>::max()};
  EXPECT_THAT(drawn(view(u64, {1, 2}), Layout::HW).pixels, ElementsAre(7, 255));
  const std::vector<std::uint16_t> u16 = {0, 257, 65535};
  EXPECT_THAT(drawn(view(u16, {1, 3}), Layout::HW).pixels, ElementsAre(0, 1, 255));
  const std::array<bool, 2> yes_no = {false, true};
  EXPECT_THAT(drawn(view(yes_no, {1, 2}), Layout::HW).pixels, ElementsAre(0, 255));
}

TEST(DrawColors, StretchesGivenBounds) {
  const std::vector<float> values = {-1.0F, 0.0F, 1.0F};
  EXPECT_THAT(drawn(view(values, {1, 3}), Layout::HW, {.low = -1, .high = 1}).pixels, ElementsAre(0, 128, 255));
  const std::vector<std::uint8_t> bytes = {0, 100, 200};
  EXPECT_THAT(drawn(view(bytes, {1, 3}), Layout::HW, {.low = 0, .high = 100}).pixels, ElementsAre(0, 255, 255));
}

TEST(DrawColors, MarksPixelsThatAreNotFinite) {
  const std::vector<float> values = {kNan, 0, 0, 0, -kInf, 0, kInf, 0, kNan, 1, 1, 1};
  const Picture rgb = drawn(view(values, {1, 4, 3}), Layout::HWC);
  EXPECT_EQ(color_at(rgb, 0, 0), kNanColor);
  EXPECT_EQ(color_at(rgb, 1, 0), kInfinityColor);
  EXPECT_EQ(color_at(rgb, 2, 0), kNanColor);
  EXPECT_EQ(color_at(rgb, 3, 0), (Color{255, 255, 255}));
  const Picture rgba = drawn(view(values, {1, 3, 4}), Layout::HWC);
  EXPECT_EQ(color_at(rgba, 0, 0), kNanColor);
  EXPECT_EQ(rgba.pixels[3], 255);
}

TEST(DrawColors, MakesAGreyPictureRgbIfAValueIsNotFinite) {
  const std::vector<float> values = {0.5F, kNan, kInf, 1.0F};
  const Picture picture = drawn(view(values, {2, 2}), Layout::HW);
  EXPECT_EQ(picture.channels, 3);
  EXPECT_EQ(color_at(picture, 0, 0), (Color{128, 128, 128}));
  EXPECT_EQ(color_at(picture, 1, 0), kNanColor);
  EXPECT_EQ(color_at(picture, 0, 1), kInfinityColor);
  EXPECT_EQ(color_at(picture, 1, 1), (Color{255, 255, 255}));
}

TEST(DrawMap, SpansViridisFromTheSmallestToTheLargestValue) {
  const std::vector<float> values = {10, 15, 20};
  const Picture picture = drawn(view(values, {1, 3}), Layout::HW, {.colors = ColorMap::viridis});
  EXPECT_EQ(picture.channels, 3);
  EXPECT_EQ(color_at(picture, 0, 0), viridis(0));
  EXPECT_EQ(color_at(picture, 1, 0), viridis(128));
  EXPECT_EQ(color_at(picture, 2, 0), viridis(255));
}

TEST(DrawMap, CentresTheDivergingMapOnZero) {
  const std::vector<float> values = {-1, 0, 0.5F, 4};
  const Picture picture = drawn(view(values, {1, 4}), Layout::HW, {.colors = ColorMap::diverging});
  EXPECT_EQ(color_at(picture, 0, 0), diverging(96));
  EXPECT_EQ(color_at(picture, 1, 0), (Color{255, 255, 255}));
  EXPECT_EQ(color_at(picture, 3, 0), diverging(255));
  const std::vector<float> zeros(4);
  EXPECT_EQ(color_at(drawn(view(zeros, {2, 2}), Layout::HW, {.colors = ColorMap::diverging}), 0, 0),
            (Color{255, 255, 255}));
}

TEST(DrawMap, ChoosesTheMapForManyChannelsByTheSign) {
  std::vector<float> values(2 * 2 * 5, 1.0F);
  values[0] = 0;
  EXPECT_EQ(color_at(drawn(view(values, {2, 2, 5}), Layout::HWC), 0, 0), viridis(0));
  values[0] = -1;
  EXPECT_EQ(color_at(drawn(view(values, {2, 2, 5}), Layout::HWC), 0, 0), diverging(1));
}

TEST(DrawMap, StretchesGreyWhenItIsAskedFor) {
  const std::vector<float> values = {-3, 0, 3};
  const Picture picture = drawn(view(values, {1, 3}), Layout::HW, {.colors = ColorMap::grey});
  EXPECT_EQ(picture.channels, 1);
  EXPECT_THAT(picture.pixels, ElementsAre(0, 128, 255));
}

TEST(DrawMap, KeepsGivenBounds) {
  const std::vector<float> values = {-1, 0, 1, 9};
  const Picture picture = drawn(view(values, {1, 4}), Layout::HW, {.colors = ColorMap::viridis, .low = 0, .high = 2});
  EXPECT_EQ(color_at(picture, 0, 0), viridis(0));
  EXPECT_EQ(color_at(picture, 1, 0), viridis(0));
  EXPECT_EQ(color_at(picture, 2, 0), viridis(128));
  EXPECT_EQ(color_at(picture, 3, 0), viridis(255));
}

TEST(DrawMap, IgnoresNonFiniteValuesInTheRangeAndMarksThem) {
  const std::vector<float> values = {0, kNan, kInf, -kInf, 2};
  const Picture picture = drawn(view(values, {1, 5}), Layout::HW, {.colors = ColorMap::viridis});
  EXPECT_EQ(color_at(picture, 0, 0), viridis(0));
  EXPECT_EQ(color_at(picture, 1, 0), kNanColor);
  EXPECT_EQ(color_at(picture, 2, 0), kInfinityColor);
  EXPECT_EQ(color_at(picture, 3, 0), kInfinityColor);
  EXPECT_EQ(color_at(picture, 4, 0), viridis(255));
}

TEST(DrawMap, DrawsATensorOfOnlyNan) {
  const std::vector<float> values(2 * 3 * 8, kNan);
  const Picture picture = drawn(view(values, {2, 3, 8}), Layout::HWC);
  EXPECT_EQ(picture.channels, 3);
  EXPECT_EQ(color_at(picture, 0, 0), kNanColor);
}

TEST(DrawMap, SurvivesTheWidestAndTheNarrowestRange) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const std::vector<double> wide = {-kMax, 0, kMax};
  Picture picture = drawn(view(wide, {1, 3}), Layout::HW, {.colors = ColorMap::viridis});
  EXPECT_EQ(color_at(picture, 0, 0), viridis(0));
  EXPECT_EQ(color_at(picture, 1, 0), viridis(128));
  EXPECT_EQ(color_at(picture, 2, 0), viridis(255));
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  const std::vector<double> narrow = {0, kTiny, 2 * kTiny};
  picture = drawn(view(narrow, {1, 3}), Layout::HW, {.colors = ColorMap::viridis});
  EXPECT_EQ(color_at(picture, 0, 0), viridis(0));
  EXPECT_EQ(color_at(picture, 1, 0), viridis(128));
  EXPECT_EQ(color_at(picture, 2, 0), viridis(255));
  const std::vector<double> equal = {3, 3};
  EXPECT_EQ(color_at(drawn(view(equal, {1, 2}), Layout::HW, {.colors = ColorMap::viridis}), 0, 0), viridis(0));
}

TEST(DrawGrid, LaysOutABatchOnePixelApart) {
  std::vector<std::uint8_t> bytes(4 * 2 * 3);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(100 + i);
  const Picture picture = drawn(view(bytes, {4, 2, 3}), Layout::NHW);
  ASSERT_EQ(picture.width, 3 + 1 + 3);
  ASSERT_EQ(picture.height, 2 + 1 + 2);
  EXPECT_EQ(color_at(picture, 0, 0).red, 100);
  EXPECT_EQ(color_at(picture, 4, 0).red, 106);
  EXPECT_EQ(color_at(picture, 0, 3).red, 112);
  EXPECT_EQ(color_at(picture, 6, 4).red, 123);
  for (int y = 0; y < 5; ++y) EXPECT_EQ(color_at(picture, 3, y), kGapColor);
  for (int x = 0; x < 7; ++x) EXPECT_EQ(color_at(picture, x, 2), kGapColor);
}

TEST(DrawGrid, DrawsTheChannelsOfEachImageOneAfterTheOther) {
  // NHWC [2,1,1,6]: twelve cells of one pixel.
  std::vector<float> values(12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Picture picture = drawn(view(values, {2, 1, 1, 6}), Layout::NHWC, {.low = 0, .high = 255});
  ASSERT_EQ(picture.width, 4 * 2 - 1);
  ASSERT_EQ(picture.height, 3 * 2 - 1);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(color_at(picture, i % 4 * 2, i / 4 * 2), viridis(i)) << i;
  // The same numbers as NCHW are the same picture.
  EXPECT_EQ(drawn(view(values, {2, 6, 1, 1}), Layout::NCHW, {.low = 0, .high = 255}).pixels, picture.pixels);
}

TEST(DrawGrid, IsAboutSquareAndLeavesNoCellEmptyIfItCan) {
  const std::vector<float> values(128 * 10 * 10);
  const auto size_of_grid = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
    const Picture picture = drawn(view(values.data(), {channels, height, width}), Layout::CHW,
                                  {.colors = ColorMap::viridis, .max_cells = 1000});
    return std::pair((picture.width + 1) / (width + 1), (picture.height + 1) / (height + 1));
  };
  EXPECT_EQ(size_of_grid(64, 10, 10), std::pair(std::int64_t{8}, std::int64_t{8}));
  EXPECT_EQ(size_of_grid(32, 10, 10), std::pair(std::int64_t{8}, std::int64_t{4}));
  EXPECT_EQ(size_of_grid(7, 10, 10), std::pair(std::int64_t{3}, std::int64_t{3}));
  EXPECT_EQ(size_of_grid(2, 10, 10), std::pair(std::int64_t{2}, std::int64_t{1}));
  EXPECT_EQ(size_of_grid(8, 1, 99), std::pair(std::int64_t{1}, std::int64_t{8}));
  EXPECT_EQ(size_of_grid(8, 99, 1), std::pair(std::int64_t{8}, std::int64_t{1}));
}

TEST(DrawGrid, StopsAtMaxCells) {
  const std::vector<float> values(100);
  const Picture four = drawn(view(values, {100, 1, 1}), Layout::CHW, {.max_cells = 4});
  EXPECT_EQ(four.width, 3);
  EXPECT_EQ(four.height, 3);
  const Picture one = drawn(view(values, {100, 1, 1}), Layout::CHW, {.max_cells = 1});
  EXPECT_EQ(one.width, 1);
  const Picture all = drawn(view(values, {100, 1, 1}), Layout::CHW, {.max_cells = std::numeric_limits<int>::max()});
  EXPECT_EQ(all.width, 19);
}

TEST(DrawGrid, LeavesGapsBetweenRgbaImagesTransparent) {
  const std::vector<std::uint8_t> bytes(2 * 4, 255);
  const Picture picture = drawn(view(bytes, {2, 1, 1, 4}), Layout::NHWC);
  EXPECT_THAT(picture.pixels, ElementsAre(255, 255, 255, 255, 0, 0, 0, 0, 255, 255, 255, 255));
}

TEST(DrawGrid, DrawsOnePixel) {
  const float value = 1;
  const Picture picture = drawn(view(&value, {1, 1}), Layout::HW);
  EXPECT_EQ(picture.width, 1);
  EXPECT_EQ(picture.height, 1);
  EXPECT_THAT(picture.pixels, ElementsAre(255));
}

TEST(DrawError, NamesTheShapeThatDoesNotFitItsLayout) {
  const std::vector<float> values(12);
  for (const Layout layout : {Layout::HWC, Layout::CHW, Layout::NHW, Layout::NHWC, Layout::NCHW}) {
    const Result<Picture> picture = draw(view(values, {3, 4}), layout);
    ASSERT_FALSE(picture);
    EXPECT_EQ(picture.error().code(), Code::invalid_argument);
    EXPECT_THAT(picture.error().message(), HasSubstr("f32[3,4]"));
    EXPECT_THAT(picture.error().message(), HasSubstr(std::string(to_string(layout))));
  }
}

TEST(DrawError, RejectsWhatHasNoPixels) {
  const std::vector<float> none;
  for (const Shape& shape : {Shape{0, 4, 1}, Shape{4, 0, 1}, Shape{4, 4, 0}}) {
    const Result<Picture> picture = draw(view(none, shape), Layout::HWC);
    ASSERT_FALSE(picture);
    EXPECT_EQ(picture.error().code(), Code::invalid_argument);
    EXPECT_THAT(picture.error().message(), HasSubstr("empty"));
  }
}

TEST(DrawError, RejectsAViewThatDoesNotMatchItsData) {
  const Result<Picture> picture = draw(view(std::vector<float>(5), {2, 3}), Layout::HW);
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().code(), Code::invalid_argument);
}

TEST(DrawError, RejectsBadOptionsAndComplexNumbers) {
  const std::vector<float> values(4);
  EXPECT_EQ(draw(view(values, {2, 2}), Layout::HW, {.max_cells = 0}).error().code(), Code::invalid_argument);
  EXPECT_EQ(draw(view(values, {2, 2}), Layout::HW, {.low = 1, .high = -1}).error().message(),
            "low is above high in the bounds of a picture's values: swap them, or leave both out");
  EXPECT_EQ(draw(view(values, {2, 2}), Layout::HW, {.high = std::nan("")}).error().code(), Code::invalid_argument);
  const std::vector<std::complex<float>> complex(4);
  EXPECT_EQ(draw(view(complex, {2, 2}), Layout::HW).error().code(), Code::unsupported);
}

TEST(DrawError, RejectsAPictureThatWouldFillTheMemory) {
  const float value = 1;
  const Shape huge = {std::int64_t{1} << 20, std::int64_t{1} << 20};
  const Result<Picture> picture = draw(view(&value, huge, {0, 0}), Layout::HW);
  ASSERT_FALSE(picture);
  EXPECT_EQ(picture.error().code(), Code::invalid_argument);
  EXPECT_THAT(picture.error().message(), HasSubstr("too large"));
}

TEST(DrawByAxes, AMatrixIsOneGreyPictureFromItsSmallestValueToItsLargest) {
  const std::vector<float> values = {-2, -1, 0, 1, 2, 3};
  const Picture picture = drawn(view(values, {2, 3}), std::nullopt);
  EXPECT_EQ(picture.width, 3);
  EXPECT_EQ(picture.height, 2);
  EXPECT_EQ(picture.channels, 1);
  EXPECT_THAT(picture.pixels, ElementsAre(0, 51, 102, 153, 204, 255));
}

TEST(DrawByAxes, AVectorIsARow) {
  const std::vector<float> values = {0, 2, 4};
  const Picture picture = drawn(view(values), std::nullopt);
  EXPECT_EQ(picture.width, 3);
  EXPECT_EQ(picture.height, 1);
  EXPECT_THAT(picture.pixels, ElementsAre(0, 128, 255));
}

TEST(DrawByAxes, ThreeAxesAreAPhotographOrSeveralMatrices) {
  const auto bytes = random_bytes(4 * 6 * 3);
  EXPECT_EQ(drawn(view(bytes, {4, 6, 3}), std::nullopt).pixels, bytes);
  std::vector<float> values(2 * 4 * 5);
  std::iota(values.begin(), values.end(), 0.0F);
  const Picture grid = drawn(view(values, {2, 4, 5}), std::nullopt);
  EXPECT_EQ(grid.pixels, drawn(view(values, {2, 4, 5}), Layout::NHW, {.colors = ColorMap::grey}).pixels);
  const Picture alone = drawn(view(values, {8, 5, 1}), std::nullopt);
  EXPECT_EQ(alone.pixels, drawn(view(values, {8, 5}), std::nullopt).pixels);
}

TEST(DrawByAxes, FourAxesAreABatch) {
  std::vector<float> values(2 * 4 * 5 * 3);
  std::iota(values.begin(), values.end(), 0.0F);
  EXPECT_EQ(drawn(view(values, {2, 4, 5, 3}), std::nullopt).pixels,
            drawn(view(values, {2, 4, 5, 3}), Layout::NHWC).pixels);
}

TEST(DrawByAxes, KeepsBytesAndExplicitOptions) {
  const std::vector<std::uint8_t> bytes = {10, 20, 30, 40};
  EXPECT_EQ(drawn(view(bytes, {2, 2}), std::nullopt).pixels, bytes);
  const std::vector<float> values = {-1, 0, 0.5F, 1};
  const ImageOptions options = {.colors = ColorMap::diverging};
  EXPECT_EQ(drawn(view(values, {2, 2}), std::nullopt, options).pixels,
            drawn(view(values, {2, 2}), Layout::HW, options).pixels);
  EXPECT_THAT(drawn(view(values, {4}), std::nullopt, {.low = 0, .high = 2}).pixels, ElementsAre(0, 0, 64, 128));
}

TEST(DrawByAxes, NeedsOneToFourAxes) {
  const std::vector<float> values(32);
  const auto number = draw(view(values.data(), {}), std::nullopt);
  ASSERT_FALSE(number);
  EXPECT_THAT(number.error().message(), HasSubstr("a picture has 1 to 4 axes"));
  EXPECT_FALSE(draw(view(values, {2, 2, 2, 2, 2}), std::nullopt));
  EXPECT_FALSE(draw(view(values, {0, 3}), std::nullopt)) << "there is nothing to draw";
}

}  // namespace
}  // namespace sonde::render
