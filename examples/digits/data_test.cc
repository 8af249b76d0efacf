#include "digits/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace digits {
namespace {

TEST(Digits, AreTheOnesThatUciDescribes) {
  const Split digits = load();
  std::array<int, 10> count{};
  for (const Dataset* part : {&digits.train, &digits.test}) {
    ASSERT_EQ(part->images.shape, (Shape{part->labels.size(), 8, 8, 1}));
    for (std::uint8_t label : part->labels) ++count.at(label);
  }
  // "Number of examples in testing set", from the dataset's documentation.
  EXPECT_EQ(count, (std::array{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}));
}

TEST(Digits, AreShadesOfSeventeenSteps) {
  const Split digits = load();
  std::set<float> shades(digits.train.images.values.begin(), digits.train.images.values.end());
  ASSERT_EQ(shades.size(), 17u);
  for (float shade : shades) EXPECT_EQ(shade * 16, std::round(shade * 16));
  EXPECT_EQ(*shades.begin(), 0.0f);
  EXPECT_EQ(*shades.rbegin(), 1.0f);
}

TEST(Digits, HoldOutAFifthThatIsNeverTrainedOn) {
  const Split digits = load();
  EXPECT_EQ(digits.test.labels.size(), 359u);
  EXPECT_EQ(digits.train.labels.size(), 1438u);
  const auto images = [](const Dataset& data) {
    std::set<std::vector<float>> result;
    for (std::size_t i = 0; i < data.labels.size(); ++i) {
      const auto image = std::span(data.images.values).subspan(i * 64, 64);
      result.emplace(image.begin(), image.end());
    }
    return result;
  };
  const auto train = images(digits.train), test = images(digits.test);
  EXPECT_TRUE(std::ranges::none_of(test, [&](const auto& image) { return train.contains(image); }));
}

TEST(Batches, ShowNoDigitTwiceBeforeTheyAreShuffledAgain) {
  Dataset numbered{.images = Tensor({10, 1, 1, 1}), .labels = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  for (std::size_t i = 0; i < 10; ++i) numbered.images.values[i] = static_cast<float>(i);
  Batches batches(numbered, 3, 1);
  std::set<std::vector<int>> orders;
  for (int round = 0; round < 5; ++round) {
    std::vector<int> seen;
    for (int batch = 0; batch < 3; ++batch) {
      const Dataset& next = batches.next();
      ASSERT_EQ(next.labels.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(next.images.values[i], static_cast<float>(next.labels[i]));
      seen.insert(seen.end(), next.labels.begin(), next.labels.end());
    }
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 9u);
    orders.insert(seen);
  }
  EXPECT_EQ(orders.size(), 5u);
}

}  // namespace
}  // namespace digits
