#include "tensor/tensor_data.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/bytes.h"

namespace sonde::tensor {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

TEST(DenseBytes, MultipliesSizesAndElements) {
  EXPECT_EQ(dense_bytes(DType::f32, {2, 3}), 24u);
  EXPECT_EQ(dense_bytes(DType::c128, {}), 16u);
  EXPECT_EQ(dense_bytes(DType::u8, {kHuge}), std::uint64_t{1} << 62);
  EXPECT_EQ(dense_bytes(DType::i64, {4, 0, 3}), 0u);
}

TEST(DenseBytes, RejectsShapesWhoseStridesWouldOverflow) {
  EXPECT_EQ(dense_bytes(DType::u16, {kHuge}), std::nullopt);
  EXPECT_EQ(dense_bytes(DType::u8, {kHuge, 2}), std::nullopt);
  EXPECT_EQ(dense_bytes(DType::u8, {0, kHuge, kHuge}), std::nullopt);
  EXPECT_EQ(dense_bytes(DType::u8, {kHuge, kHuge, 0}), std::nullopt);
  EXPECT_EQ(dense_bytes(DType::u8, {-1}), std::nullopt);
  EXPECT_EQ(dense_bytes(DType::u8, {1, 1, 1, 1, 1, 1, 1, 1, 1}), std::nullopt);
}

TEST(IsColumnMajor, IsTrueOnlyWhereRowMajorIsNot) {
  const float values[6] = {};
  EXPECT_TRUE(is_column_major(view(values, {2, 3}, {1, 2})));
  EXPECT_FALSE(is_column_major(view(values, {2, 3}, {3, 1})));
  EXPECT_FALSE(is_column_major(view(values, {6})));
  EXPECT_FALSE(is_column_major(view(values, {2, 2}, {1, 3})));
  EXPECT_FALSE(is_column_major(view(values, Shape{}, Shape{})));
}

TEST(ToTensor, CopiesAStridedViewInRowMajorOrder) {
  const std::int16_t values[6] = {1, 2, 3, 4, 5, 6};  // columns of a 2 x 3 matrix
  const Tensor tensor = to_tensor(view(values, {2, 3}, column_major({2, 3})));
  ASSERT_EQ(tensor.data.size(), sizeof values);
  const std::int16_t expected[6] = {1, 3, 5, 2, 4, 6};
  EXPECT_EQ(std::memcmp(tensor.data.data(), expected, sizeof expected), 0);
  EXPECT_TRUE(tensor.view().valid());
  EXPECT_TRUE(tensor.view().contiguous());
}

TEST(ToTensor, KeepsAnEmptyShape) {
  const Tensor tensor = to_tensor(view(static_cast<const float*>(nullptr), {3, 0}));
  EXPECT_TRUE(tensor.data.empty());
  EXPECT_EQ(tensor.shape, (Shape{3, 0}));
  EXPECT_TRUE(tensor.view().valid());
}

}  // namespace
}  // namespace sonde::tensor
