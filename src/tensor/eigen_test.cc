#include "sonde/eigen.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/copy.h"

namespace sonde::tensor {
namespace {

// The elements in row-major order, as everything that takes a view reads them.
template <class T>
std::vector<T> values(const TensorView& view) {
  EXPECT_TRUE(view.valid());
  std::vector<T> dense(static_cast<std::size_t>(view.size()));
  copy_dense(view, dense.data());
  return dense;
}

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class M>
M counted(int rows, int cols) {
  M matrix(rows, cols);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) matrix(r, c) = static_cast<typename M::Scalar>(10 * r + c);
  }
  return matrix;
}

TEST(EigenView, HasRowsAndColumnsOfMatricesInBothOrdersOfStorage) {
  const auto by_column = counted<Eigen::MatrixXf>(2, 3);
  const auto by_row = counted<RowMajor>(2, 3);
  const std::vector<float> expected = {0, 1, 2, 10, 11, 12};
  EXPECT_EQ(view(by_column).shape, (Shape{2, 3}));
  EXPECT_EQ(view(by_column).strides, (Shape{1, 2}));
  EXPECT_EQ(view(by_row).strides, (Shape{3, 1}));
  EXPECT_EQ(values<float>(view(by_column)), expected);
  EXPECT_EQ(values<float>(view(by_row)), expected);
}

TEST(EigenView, CopiesNothing) {
  const auto matrix = counted<Eigen::MatrixXd>(4, 4);
  EXPECT_EQ(view(matrix).data, matrix.data());
  EXPECT_EQ(view(matrix.block(1, 2, 2, 2)).data, &matrix(1, 2));
}

TEST(EigenView, TakesBlocksAndTransposes) {
  const auto matrix = counted<Eigen::MatrixXf>(4, 5);
  const auto by_row = counted<RowMajor>(4, 5);
  const std::vector<float> block = {12, 13, 22, 23};
  EXPECT_EQ(values<float>(view(matrix.block(1, 2, 2, 2))), block);
  EXPECT_EQ(values<float>(view(by_row.block<2, 2>(1, 2))), block);
  const std::vector<float> transposed = {12, 22, 13, 23};
  EXPECT_EQ(values<float>(view(matrix.block(1, 2, 2, 2).transpose())), transposed);
  EXPECT_EQ(values<float>(view(by_row.block(1, 2, 2, 2).transpose())), transposed);
  EXPECT_EQ(view(matrix.transpose()).shape, (Shape{5, 4}));
  EXPECT_EQ(values<float>(view(matrix.array())), values<float>(view(matrix)));
}

TEST(EigenView, GivesVectorsOneDimension) {
  const auto matrix = counted<Eigen::MatrixXf>(3, 3);
  const Eigen::VectorXi vector = Eigen::VectorXi::LinSpaced(3, 5, 7);
  EXPECT_EQ(view(vector).shape, (Shape{3}));
  EXPECT_EQ(view(vector).dtype, DType::i32);
  EXPECT_EQ(values<int>(view(vector)), (std::vector<int>{5, 6, 7}));
  EXPECT_EQ(values<float>(view(matrix.row(1))), (std::vector<float>{10, 11, 12}));
  EXPECT_EQ(values<float>(view(matrix.col(1))), (std::vector<float>{1, 11, 21}));
  EXPECT_EQ(values<float>(view(matrix.diagonal())), (std::vector<float>{0, 11, 22}));
  EXPECT_EQ(values<float>(view(matrix.col(1).segment(1, 2))), (std::vector<float>{11, 21}));
  EXPECT_EQ(view(counted<Eigen::MatrixXf>(3, 1)).shape, (Shape{3, 1}));  // only by chance a vector
}

TEST(EigenView, TakesMapsRefsAndArrays) {
  const std::vector<double> memory = {0, 1, 2, 3, 4, 5, 6, 7};
  using Strides = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<const Eigen::MatrixXd, 0, Strides> map(memory.data(), 2, 2, Strides(4, 2));
  EXPECT_EQ(values<double>(view(map)), (std::vector<double>{0, 4, 2, 6}));
  const auto matrix = counted<Eigen::MatrixXd>(3, 3);
  const Eigen::Ref<const Eigen::MatrixXd> ref = matrix.topRows(2);
  EXPECT_EQ(view(ref).data, matrix.data());
  EXPECT_EQ(values<double>(view(ref)), (std::vector<double>{0, 1, 2, 10, 11, 12}));
  const Eigen::Array<std::uint8_t, 2, 2> bytes{{1, 2}, {3, 4}};
  EXPECT_EQ(view(bytes).dtype, DType::u8);
  EXPECT_EQ(values<std::uint8_t>(view(bytes)), (std::vector<std::uint8_t>{1, 2, 3, 4}));
}

TEST(EigenView, KnowsEigensSmallFloats) {
  const Eigen::Array<Eigen::half, 2, 1> halves(Eigen::half(1.0F), Eigen::half(-2.0F));
  const Eigen::Array<Eigen::bfloat16, 2, 1> brains(Eigen::bfloat16(1.0F), Eigen::bfloat16(-2.0F));
  EXPECT_EQ(view(halves).dtype, DType::f16);
  EXPECT_EQ(view(brains).dtype, DType::bf16);
  EXPECT_EQ(values<std::uint16_t>(view(halves)), (std::vector<std::uint16_t>{0x3C00, 0xC000}));
  EXPECT_EQ(values<std::uint16_t>(view(brains)), (std::vector<std::uint16_t>{0x3F80, 0xC000}));
}

TEST(EigenView, OfAnEmptyMatrixHasNoElements) {
  const Eigen::MatrixXf none(0, 4);
  EXPECT_TRUE(view(none).valid());
  EXPECT_EQ(view(none).size(), 0);
  EXPECT_EQ(view(Eigen::VectorXf()).size(), 0);
}

}  // namespace
}  // namespace sonde::tensor
