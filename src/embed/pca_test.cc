#include "embed/pca.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "embed/eigen.h"
#include "embed/embed_testing.h"

namespace sonde::embed {
namespace {

using ::testing::HasSubstr;

// The covariance matrix, one element after the other.
std::vector<double> covariance_of(const Matrix& points) {
  const std::size_t d = points.columns;
  std::vector<double> mean(d);
  for (std::size_t i = 0; i < points.rows; ++i) {
    for (std::size_t j = 0; j < d; ++j)
      mean[j] += static_cast<double>(points.row(i)[j]) / static_cast<double>(points.rows);
  }
  std::vector<double> matrix(d * d);
  for (std::size_t i = 0; i < points.rows; ++i) {
    for (std::size_t a = 0; a < d; ++a) {
      for (std::size_t b = 0; b < d; ++b) {
        matrix[a * d + b] += (static_cast<double>(points.row(i)[a]) - mean[a]) *
                             (static_cast<double>(points.row(i)[b]) - mean[b]) / static_cast<double>(points.rows - 1);
      }
    }
  }
  return matrix;
}

// How much of a unit vector is outside of the space of some orthonormal vectors: the sine of the angle.
double outside(const float* vector, const double* space, std::size_t count, std::size_t size) {
  std::vector<double> rest(vector, vector + size);
  for (std::size_t k = 0; k < count; ++k) {
    double along = 0;
    for (std::size_t j = 0; j < size; ++j) along += rest[j] * space[k * size + j];
    for (std::size_t j = 0; j < size; ++j) rest[j] -= along * space[k * size + j];
  }
  double squares = 0;
  for (double value : rest) squares += value * value;
  return std::sqrt(squares);
}

Matrix stretched_points(std::size_t rows, std::size_t columns) {
  Matrix points = random_points(rows, columns, 5);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      points.row(i)[j] = points.row(i)[j] * std::exp(-0.1F * static_cast<float>(j)) + 100;  // far from the origin
    }
  }
  return points;
}

TEST(Eigenvalues, OfAMatrixSatisfyItsDefinition) {
  constexpr std::size_t kSize = 40;
  Matrix half = random_points(kSize, kSize, 3);
  std::vector<double> matrix(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      matrix[i * kSize + j] = static_cast<double>(half.row(i)[j]) + static_cast<double>(half.row(j)[i]);
    }
  }
  const Eigen found = eigen_of(matrix, kSize);
  for (std::size_t k = 0; k < kSize; ++k) {
    if (k > 0) EXPECT_GE(found.values[k - 1], found.values[k]);
    for (std::size_t i = 0; i < kSize; ++i) {
      double image = 0;
      for (std::size_t j = 0; j < kSize; ++j) image += matrix[i * kSize + j] * found.vectors[k * kSize + j];
      EXPECT_NEAR(image, found.values[k] * found.vectors[k * kSize + i], 1e-10);
    }
  }
}

TEST(Eigenvalues, ThatAreEqualAreAllFound) {
  constexpr std::size_t kSize = 300;
  std::vector<double> diagonal(kSize, 1.0);
  diagonal[7] = diagonal[100] = diagonal[299] = 5;
  const Eigen found = largest_eigen(
      [&](const double* in, std::size_t count, double* out) {
        for (std::size_t i = 0; i < count * kSize; ++i) out[i] = diagonal[i % kSize] * in[i];
      },
      kSize, 3, 1);
  for (double value : found.values) EXPECT_NEAR(value, 5, 1e-9);
}

TEST(Pca, FindsTheExactComponentsAndVariances) {
  const Matrix points = stretched_points(700, 90);
  const Eigen exact = eigen_of(covariance_of(points), points.columns);
  base::TaskPool pool("test", 2);
  const Result<Pca> found = pca(points, 3, 1, pool);
  ASSERT_TRUE(found.ok()) << found.error().message();
  double total = 0;
  for (double value : exact.values) total += value;
  EXPECT_NEAR(found->total_variance, total, 1e-4 * total);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(found->variance[k], exact.values[k], 1e-4 * exact.values[k]);
    EXPECT_LT(outside(found->components.row(k), exact.vectors.data(), 3, points.columns), 1e-4);
  }
}

TEST(Pca, OfMoreFeaturesThanACovarianceMatrixIsMadeForIsExactToo) {
  // The first 30 features vary, the other 2,970 are constant: the exact answer is that of the 30.
  const Matrix narrow = stretched_points(300, 30);
  Matrix wide(narrow.rows, 3000);
  for (std::size_t i = 0; i < narrow.rows; ++i) {
    for (std::size_t j = 0; j < wide.columns; ++j) wide.row(i)[j] = j < 30 ? narrow.row(i)[j] : 7;
  }
  const Eigen exact = eigen_of(covariance_of(narrow), narrow.columns);
  base::TaskPool pool("test", 2);
  const Result<Pca> found = pca(wide, 2, 1, pool);
  ASSERT_TRUE(found.ok()) << found.error().message();
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(found->variance[k], exact.values[k], 1e-3 * exact.values[k]);
    EXPECT_LT(outside(found->components.row(k), exact.vectors.data(), 2, 30), 1e-3);
  }
}

TEST(Pca, IsTheSameWithAnyNumberOfThreads) {
  const Matrix points = stretched_points(1500, 70);
  base::TaskPool one("test", 1);
  base::TaskPool three("test", 3);
  EXPECT_EQ(pca(points, 3, 1, one)->layout.values, pca(points, 3, 1, three)->layout.values);
}

TEST(Pca, OfConstantColumnsHasNoVariance) {
  Matrix points(10, 4);
  for (float& value : points.values) value = 3;
  base::TaskPool pool("test", 1);
  const Result<Pca> found = pca(points, 2, 1, pool);
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_EQ(found->total_variance, 0);
  for (float value : found->layout.values) EXPECT_EQ(value, 0);
}

TEST(Pca, SaysHowManyDimensionsArePossible) {
  base::TaskPool pool("test", 1);
  EXPECT_THAT(pca(random_points(10, 4, 1), 5, 1, pool).error().message(), HasSubstr("ask for at most 4"));
  EXPECT_THAT(pca(random_points(1, 4, 1), 1, 1, pool).error().message(), HasSubstr("at least 2"));
}

TEST(Points, NameTheFirstRowThatIsNotFinite) {
  std::vector<float> values(12, 1);
  values[7] = std::nanf("");
  const Result<Matrix> found = points_of(view(values, {4, 3}), "x.npy");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message(),
            "'x.npy' has NaN or infinite values in 1 of 4 rows, the first is row 2: remove these rows");
}

TEST(Points, NeedRowsAndColumns) {
  const std::vector<float> none;
  EXPECT_THAT(points_of(view(none, {0, 3}), "x").error().message(), HasSubstr("no rows"));
  EXPECT_THAT(points_of(view(none, {3, 0}), "x").error().message(), HasSubstr("no columns"));
  EXPECT_THAT(points_of(view(none), "x").error().message(), HasSubstr("1 axes"));
}

TEST(Points, HaveAllAxesButTheFirstAsFeatures) {
  std::vector<double> values(24);
  for (std::size_t i = 0; i < 24; ++i) values[i] = static_cast<double>(i);
  const Result<Matrix> found = points_of(view(values, {2, 3, 4}), "x");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->columns, 12U);
  EXPECT_EQ(found->row(1)[0], 12.0F);
}

}  // namespace
}  // namespace sonde::embed
