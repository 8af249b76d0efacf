#include "embed/neighbors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "embed/embed_testing.h"

namespace sonde::embed {
namespace {

double distance_of(const Matrix& points, std::size_t i, std::size_t j, Metric metric) {
  double squares = 0, product = 0, length_i = 0, length_j = 0;
  for (std::size_t k = 0; k < points.columns; ++k) {
    const auto x = static_cast<double>(points.row(i)[k]);
    const auto y = static_cast<double>(points.row(j)[k]);
    squares += (x - y) * (x - y);
    product += x * y;
    length_i += x * x;
    length_j += y * y;
  }
  return metric == Metric::cosine ? 1 - product / std::sqrt(length_i * length_j) : std::sqrt(squares);
}

class AllNeighbors : public ::testing::TestWithParam<Metric> {};

TEST_P(AllNeighbors, AreThoseOfAllPairs) {
  Matrix points = random_points(333, 70, 1);
  for (float& value : points.values) value += 2;  // an offset, which rounds differences
  base::TaskPool pool("test", 2);
  const Result<Neighbors> found = nearest_neighbors(points, 9, GetParam(), pool);
  ASSERT_TRUE(found.ok());
  for (std::size_t i = 0; i < points.rows; ++i) {
    std::vector<double> all;
    for (std::size_t j = 0; j < points.rows; ++j) {
      if (j != i) all.push_back(distance_of(points, i, j, GetParam()));
    }
    std::ranges::sort(all);
    const Neighbors one = neighbors_of(points, i, 9, GetParam(), pool);
    for (std::size_t k = 0; k < 9; ++k) {
      const std::uint32_t row = found->rows[i * 9 + k];
      EXPECT_NE(row, i);
      EXPECT_NEAR(found->distances[i * 9 + k], all[k], 1e-4);
      EXPECT_NEAR(distance_of(points, i, row, GetParam()), all[k], 1e-4);
      EXPECT_NEAR(one.distances[k], all[k], 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Metrics, AllNeighbors, ::testing::Values(Metric::euclidean, Metric::cosine));

TEST(NearestNeighbors, OfManyFeaturesAreExact) {
  const Matrix points = random_points(150, 700, 2);
  base::TaskPool pool("test", 2);
  const Result<Neighbors> found = nearest_neighbors(points, 3, Metric::euclidean, pool);
  ASSERT_TRUE(found.ok());
  for (std::size_t i = 0; i < points.rows; ++i) {
    double nearest = INFINITY;
    for (std::size_t j = 0; j < points.rows; ++j) {
      if (j != i) nearest = std::min(nearest, distance_of(points, i, j, Metric::euclidean));
    }
    EXPECT_NEAR(found->distances[i * 3], nearest, 1e-3);
  }
}

TEST(NearestNeighbors, IncludeDuplicatesAndNotThePointItself) {
  Matrix points(50, 5);  // all the same
  base::TaskPool pool("test", 1);
  const Result<Neighbors> found = nearest_neighbors(points, 4, Metric::euclidean, pool);
  ASSERT_TRUE(found.ok());
  for (std::size_t i = 0; i < points.rows; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NE(found->rows[i * 4 + k], i);
      EXPECT_EQ(found->distances[i * 4 + k], 0);
    }
  }
}

TEST(NearestNeighbors, AreNotSearchedAmongTooFewPoints) {
  base::TaskPool pool("test", 1);
  EXPECT_FALSE(nearest_neighbors(random_points(5, 3, 1), 5, Metric::euclidean, pool).ok());
}

TEST(NearestNeighbors, CanBeCancelled) {
  base::TaskPool pool("test", 2);
  const auto stop = [](std::string_view, std::size_t, std::size_t) { return false; };
  EXPECT_EQ(nearest_neighbors(random_points(500, 3, 1), 5, Metric::euclidean, pool, stop).error().code(), Code::closed);
}

}  // namespace
}  // namespace sonde::embed
