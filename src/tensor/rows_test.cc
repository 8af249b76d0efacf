#include "tensor/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace sonde::tensor {
namespace {

using testing::ElementsAre;

TEST(Rows, TheFirstOnesAreInPlace) {
  std::vector<float> values(12);
  const TensorView some = first_rows(view(values, {4, 3}), 2);
  EXPECT_EQ(some.data, values.data());
  EXPECT_EQ(some.shape, (Shape{2, 3}));
  EXPECT_EQ(first_rows(view(values, {4, 3}), 9).shape, (Shape{4, 3}));
  EXPECT_EQ(first_rows(view(values.data(), Shape{}), 1).shape, Shape{});
}

TEST(Rows, RandomOnesAreDifferentAscendingAndTheSameForASeed) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto rows = random_rows(50, 7, seed);
    ASSERT_EQ(rows.size(), 7U);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_GE(rows[i], i == 0 ? 0 : rows[i - 1] + 1);
      EXPECT_LT(rows[i], 50);
    }
    EXPECT_EQ(rows, random_rows(50, 7, seed));
  }
  EXPECT_NE(random_rows(50, 7, 1), random_rows(50, 7, 2));
  EXPECT_THAT(random_rows(3, 5, 1), ElementsAre(0, 1, 2));
}

TEST(Rows, EveryRowIsAsLikelyAsAnyOther) {
  std::vector<int> seen(20);
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    for (const std::int64_t row : random_rows(20, 5, seed)) ++seen[static_cast<std::size_t>(row)];
  }
  for (const int count : seen) EXPECT_NEAR(count, 5000, 300);  // 5 deviations of a binomial
}

TEST(Rows, AreCopiedFromStridedTensors) {
  std::vector<int> values(12);
  std::iota(values.begin(), values.end(), 0);
  const TensorView columns = view(values.data(), Shape{3, 4}, Shape{1, 3});  // the transpose
  std::vector<int> out(8);
  const std::vector<std::int64_t> rows = {0, 2};
  ASSERT_EQ(row_bytes(columns, rows.size()), out.size() * sizeof(int));
  const TensorView copied = copy_rows(columns, rows, out.data());
  EXPECT_EQ(copied.shape, (Shape{2, 4}));
  EXPECT_THAT(out, ElementsAre(0, 3, 6, 9, 2, 5, 8, 11));
}

}  // namespace
}  // namespace sonde::tensor
