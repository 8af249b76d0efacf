#include "inspect/fill.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "stats/summary.h"

namespace sonde::inspect {
namespace {

Value value(DType dtype, std::optional<Shape> shape) {
  return {"x", std::string(to_string(dtype)), dtype, std::move(shape)};
}

float number(const Tensor& tensor, std::size_t index) { return base::load<float>(tensor.data.data() + index * 4); }

TEST(RandomInput, FollowsTheNormalDistribution) {
  std::uint64_t state = 7;
  const auto made = random_for(value(DType::f32, Shape{-1, 100, 1000}), {}, state);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->shape, (Shape{1, 100, 1000}));
  const auto summary = stats::summarize(made->view());
  EXPECT_NEAR(summary->mean, 0, 0.02);
  EXPECT_NEAR(summary->stddev(), 1, 0.02);
}

TEST(RandomInput, IsTheSameForTheSameSeed) {
  std::uint64_t one = 7;
  std::uint64_t other = 7;
  const Value x = value(DType::f64, Shape{50});
  EXPECT_EQ(random_for(x, {}, one)->data, random_for(x, {}, other)->data);
  EXPECT_NE(random_for(x, {}, one)->data, random_for(x, {}, other = 8)->data);
}

TEST(RandomInput, OfIntegersNeedsARange) {
  std::uint64_t state = 7;
  EXPECT_EQ(random_for(value(DType::i64, Shape{4}), {}, state).status().message(),
            "input 'x' holds integers: say which with --range LOW,HIGH");
  const auto made = random_for(value(DType::i64, Shape{1000}), std::pair<std::int64_t, std::int64_t>(-2, 3), state);
  ASSERT_TRUE(made.ok());
  const auto summary = stats::summarize(made->view());
  EXPECT_EQ(summary->min, -2);
  EXPECT_EQ(summary->max, 3);
  EXPECT_FALSE(random_for(value(DType::u8, Shape{4}), std::pair<std::int64_t, std::int64_t>(-5, -1), state).ok());
}

TEST(PictureInput, GetsChannelsWhereTheModelWantsThem) {
  Tensor picture{DType::u8, {1, 2, 3}, {}};
  for (int i = 0; i < 6; ++i) picture.data.push_back(static_cast<std::byte>(i * 51));
  const auto first = picture_for(value(DType::f32, Shape{-1, 3, 1, 2}), picture);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->shape, (Shape{1, 3, 1, 2}));
  EXPECT_FLOAT_EQ(number(*first, 1), 3 * 51 / 255.0F);  // the first channel of the second pixel
  const auto last = picture_for(value(DType::f32, Shape{-1, 1, 2, 3}), picture);
  EXPECT_EQ(last->shape, (Shape{1, 1, 2, 3}));
  EXPECT_FLOAT_EQ(number(*last, 1), 51 / 255.0F);
  const auto bytes = picture_for(value(DType::u8, Shape{1, 1, 2, 3}), picture);
  EXPECT_EQ(bytes->data, picture.data);
}

TEST(TableInput, IsShapedLikeTheInput) {
  Tensor table{DType::f64, {2, 4}, {}};
  for (int i = 0; i < 8; ++i) {
    const double each = i;
    const auto* bytes = reinterpret_cast<const std::byte*>(&each);
    table.data.insert(table.data.end(), bytes, bytes + sizeof each);
  }
  const auto made = table_for(value(DType::f32, Shape{-1, 2, 2, 1}), table);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->shape, (Shape{2, 2, 2, 1}));
  EXPECT_EQ(number(*made, 5), 5);
  EXPECT_EQ(table_for(value(DType::f32, {}), table)->shape, (Shape{2, 4}));
}

}  // namespace
}  // namespace sonde::inspect
