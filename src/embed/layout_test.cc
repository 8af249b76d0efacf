// t-SNE and UMAP, their forces, and what is said about a layout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "embed/embed_testing.h"
#include "embed/kernels.h"
#include "embed/mesh.h"
#include "embed/quality.h"
#include "embed/tsne.h"
#include "embed/umap.h"

namespace sonde::embed {
namespace {

using ::testing::HasSubstr;

class Transform : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Transform, IsTheSumThatDefinesIt) {
  const std::size_t length = GetParam();
  const BatchFft fft(length);
  const Matrix start = random_points(2, length * kFftBatch, 7);
  std::vector<float> re(start.row(0), start.row(0) + start.columns);
  std::vector<float> im(start.row(1), start.row(1) + start.columns);
  std::vector<float> scratch(2 * length * kFftBatch);
  fft.run(re.data(), im.data(), scratch.data());
  for (std::size_t l : {std::size_t{0}, kFftBatch - 1}) {
    for (std::size_t k = 0; k < length; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t e = 0; e < length; ++e) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(e * k % length) / static_cast<double>(length);
        const std::size_t at = e * kFftBatch + l;
        sum += std::polar(1.0, angle) *
               std::complex<double>(static_cast<double>(start.row(0)[at]), static_cast<double>(start.row(1)[at]));
      }
      EXPECT_NEAR(re[k * kFftBatch + l], sum.real(), 1e-3);
      EXPECT_NEAR(im[k * kFftBatch + l], sum.imag(), 1e-3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, Transform, ::testing::Values(2, 3, 4, 8, 12, 96, 128, 192, 256));

// Points as columns, with an extent that makes the mesh grow.
std::vector<std::vector<float>> scattered(std::size_t count, float extent) {
  Random random(3);
  std::vector<std::vector<float>> y(2, std::vector<float>(count));
  for (auto& column : y) {
    for (float& value : column) value = static_cast<float>(random.uniform() - 0.5) * extent;
  }
  return y;
}

TEST(RepulsionOnAMesh, IsThatOfAllPairs) {
  base::TaskPool pool("test", 2);
  RepulsionMesh mesh(pool);
  for (float extent : {0.01F, 3.0F, 40.0F, 130.0F, 20.0F}) {
    const std::size_t count = 700;
    const auto y = scattered(count, extent);
    const float* columns[2] = {y[0].data(), y[1].data()};
    std::vector<float> fx(count), fy(count);
    float* const force[2] = {fx.data(), fy.data()};
    const double sum = mesh.repel(columns, count, force);
    double exact_sum = 0, squares = 0, error = 0;
    for (std::size_t i = 0; i < count; ++i) {
      float exact[2];
      exact_sum += repel(columns, 2, count, i, exact);
      squares += static_cast<double>(exact[0] * exact[0] + exact[1] * exact[1]);
      error += std::pow(static_cast<double>(exact[0] - fx[i]), 2) + std::pow(static_cast<double>(exact[1] - fy[i]), 2);
    }
    EXPECT_NEAR(sum, exact_sum, 0.005 * exact_sum + 0.001 * static_cast<double>(count)) << extent;
    // Beyond an extent of 100 the nodes are half of the kernel's width apart, otherwise closer.
    EXPECT_LT(std::sqrt(error / squares), extent > 100 ? 0.05 : 0.03) << extent;
  }
}

TEST(Forces, AreTheSumsThatDefineThem) {
  const std::size_t count = 77;
  for (std::size_t dims : {2U, 3U}) {
    const Matrix layout = random_points(dims, count, 4);
    const float* y[3] = {layout.row(0), layout.row(1), layout.row(dims - 1)};
    std::vector<std::uint32_t> to(kEdgeBlock);
    std::vector<float> weight(kEdgeBlock);
    for (std::size_t e = 0; e < kEdgeBlock; ++e) {
      to[e] = static_cast<std::uint32_t>(e * 3);
      weight[e] = static_cast<float>(e);
    }
    double pull[3] = {}, push[3] = {}, sum = 0;
    const auto q_of = [&](std::size_t j) {
      double squares = 1;
      for (std::size_t axis = 0; axis < dims; ++axis) {
        squares += std::pow(static_cast<double>(y[axis][5] - y[axis][j]), 2);
      }
      return 1 / squares;
    };
    for (std::size_t j = 0; j < count; ++j) {
      if (j == 5) continue;
      sum += q_of(j);
      for (std::size_t axis = 0; axis < dims; ++axis)
        push[axis] += q_of(j) * q_of(j) * static_cast<double>(y[axis][5] - y[axis][j]);
    }
    for (std::size_t e = 0; e < kEdgeBlock; ++e) {
      for (std::size_t axis = 0; axis < dims; ++axis) {
        pull[axis] += static_cast<double>(weight[e]) * q_of(to[e]) * static_cast<double>(y[axis][5] - y[axis][to[e]]);
      }
    }
    float force[3];
    EXPECT_NEAR(repel(y, dims, count, 5, force), sum, 1e-3);
    for (std::size_t axis = 0; axis < dims; ++axis) EXPECT_NEAR(force[axis], push[axis], 1e-3);
    attract(y, dims, 5, to.data(), weight.data(), kEdgeBlock, force);
    for (std::size_t axis = 0; axis < dims; ++axis) EXPECT_NEAR(force[axis], pull[axis], 1e-2);
  }
}

TEST(JointProbabilities, SumToOneAndHaveThePerplexity) {
  base::TaskPool pool("test", 2);
  const Result<Neighbors> neighbors = nearest_neighbors(random_points(400, 8, 1), 60, Metric::euclidean, pool);
  ASSERT_TRUE(neighbors.ok());
  const SparseRows joint = joint_probabilities(*neighbors, 20, pool);
  double sum = 0;
  for (float weight : joint.weights) sum += static_cast<double>(weight);
  EXPECT_NEAR(sum, 1, 1e-4);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_EQ((joint.begin[i + 1] - joint.begin[i]) % kEdgeBlock, 0U);
}

// The share of points whose nearest neighbour in the layout is of the same cluster.
double purity(const Matrix& layout, std::size_t clusters) {
  base::TaskPool pool("test", 1);
  std::size_t same = 0;
  for (std::size_t i = 0; i < layout.rows; ++i) {
    same += neighbors_of(layout, i, 1, Metric::euclidean, pool).rows[0] % clusters == i % clusters ? 1U : 0U;
  }
  return static_cast<double>(same) / static_cast<double>(layout.rows);
}

class Layouts : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Layouts, KeepClustersTogetherAndAreTheSameWithAnyNumberOfThreads) {
  const Matrix points = clustered_points(2100, 16, 7, 1);  // enough points for the mesh
  base::TaskPool one("test", 1);
  base::TaskPool three("test", 3);
  const TsneOptions tsne_options = {.dims = GetParam(), .iterations = 200};
  const Result<Tsne> by_tsne = tsne(points, tsne_options, three);
  ASSERT_TRUE(by_tsne.ok()) << by_tsne.error().message();
  EXPECT_GT(purity(by_tsne->layout, 7), 0.99);
  EXPECT_EQ(by_tsne->layout.values, tsne(points, tsne_options, one)->layout.values);

  const UmapOptions umap_options = {.dims = GetParam(), .epochs = 100};
  const Result<Umap> by_umap = umap(points, umap_options, three);
  ASSERT_TRUE(by_umap.ok()) << by_umap.error().message();
  EXPECT_GT(purity(by_umap->layout, 7), 0.99);
  EXPECT_EQ(by_umap->layout.values, umap(points, umap_options, one)->layout.values);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, Layouts, ::testing::Values(2, 3));

TEST(Tsne, OfDuplicatesAndConstantColumnsIsFinite) {
  Matrix points(60, 3);
  for (std::size_t i = 0; i < 60; ++i) points.row(i)[1] = static_cast<float>(i % 3);  // three different points
  base::TaskPool pool("test", 2);
  const Result<Tsne> found = tsne(points, {.iterations = 100}, pool);
  ASSERT_TRUE(found.ok()) << found.error().message();
  for (float value : found->layout.values) EXPECT_TRUE(std::isfinite(value));
  const Result<Umap> by_umap = umap(points, {.epochs = 100}, pool);
  ASSERT_TRUE(by_umap.ok()) << by_umap.error().message();
  for (float value : by_umap->layout.values) EXPECT_TRUE(std::isfinite(value));
}

TEST(Tsne, OfFewPointsUsesASmallerPerplexity) {
  base::TaskPool pool("test", 1);
  const Result<Tsne> found = tsne(random_points(10, 4, 1), {.iterations = 50}, pool);
  ASSERT_TRUE(found.ok()) << found.error().message();
  EXPECT_DOUBLE_EQ(found->perplexity, 3);
  EXPECT_THAT(tsne(random_points(1, 4, 1), {}, pool).error().message(), HasSubstr("at least 4 points"));
  EXPECT_THAT(umap(random_points(1, 4, 1), {}, pool).error().message(), HasSubstr("at least 4 points"));
}

TEST(Tsne, ShowsLayoutsAndCanBeCancelled) {
  base::TaskPool pool("test", 1);
  std::size_t seen = 0;
  const Result<Tsne> found =
      tsne(random_points(50, 4, 1), {.iterations = 100}, pool, {}, [&](const Matrix& layout, std::size_t) {
        EXPECT_EQ(layout.rows, 50U);
        return ++seen < 3;
      });
  EXPECT_EQ(found.status().code(), Code::closed);
  EXPECT_EQ(seen, 3U);
}

TEST(UmapCurve, IsThatOfUmapLearn) {
  const UmapCurve curve = fit_curve(0.1);  // umap.umap_.find_ab_params(1.0, 0.1)
  EXPECT_NEAR(curve.a, 1.57694346, 1e-4);
  EXPECT_NEAR(curve.b, 0.89506088, 1e-4);
}

TEST(Trustworthiness, IsOneOfTheDataItselfAndAboutAHalfOfNoise) {
  const Matrix points = random_points(300, 2, 1);
  base::TaskPool pool("test", 2);
  EXPECT_DOUBLE_EQ(trustworthiness(points, points, 12, Metric::euclidean, 300, pool)->value, 1);
  EXPECT_NEAR(trustworthiness(points, random_points(300, 2, 2), 12, Metric::euclidean, 300, pool)->value, 0.5, 0.05);
  EXPECT_FALSE(trustworthiness(points, points, 150, Metric::euclidean, 300, pool).ok());
}

TEST(Alignment, UndoesARotationAReflectionAndAShift) {
  for (std::size_t dims : {2U, 3U}) {
    const Matrix reference = random_points(100, dims, 1);
    Matrix moved = reference;
    for (std::size_t i = 0; i < 100; ++i) {
      const float x = reference.row(i)[0];
      const float y = reference.row(i)[1];
      moved.row(i)[0] = 2 * (0.6F * x - 0.8F * y) + 5;
      moved.row(i)[1] = -2 * (0.8F * x + 0.6F * y) - 3;
      if (dims == 3) moved.row(i)[2] = 2 * reference.row(i)[2];
    }
    ASSERT_TRUE(align(moved, reference, Scaling::fit).ok());
    for (std::size_t i = 0; i < moved.values.size(); ++i) EXPECT_NEAR(moved.values[i], reference.values[i], 1e-4);
  }
}

TEST(Alignment, OfPointsWithoutExtentIsFinite) {
  Matrix layout(5, 3);
  ASSERT_TRUE(align(layout, random_points(5, 3, 1), Scaling::keep).ok());
  for (float value : layout.values) EXPECT_TRUE(std::isfinite(value));
  EXPECT_FALSE(align(layout, random_points(6, 3, 1), Scaling::keep).ok());
}

}  // namespace
}  // namespace sonde::embed
