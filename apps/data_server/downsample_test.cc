#include "downsample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sonde::data_server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Evenly, GivesAllIfAllAreWanted) {
  EXPECT_THAT(evenly(4, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(evenly(4, 1000), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(evenly(1, 5), ElementsAre(0));
}

TEST(Evenly, GivesNothingForAnEmptyListOrACountOfZero) {
  EXPECT_THAT(evenly(0, 5), IsEmpty());
  EXPECT_THAT(evenly(5, 0), IsEmpty());
}

TEST(Evenly, GivesTheLastIfOneIsWanted) { EXPECT_THAT(evenly(7, 1), ElementsAre(6)); }

TEST(Evenly, KeepsTheFirstAndTheLast) {
  for (std::size_t size = 2; size < 60; ++size) {
    for (std::size_t limit = 2; limit < size; ++limit) {
      const auto chosen = evenly(size, limit);
      ASSERT_EQ(chosen.size(), limit);
      EXPECT_EQ(chosen.front(), 0U);
      EXPECT_EQ(chosen.back(), size - 1);
      EXPECT_TRUE(std::ranges::adjacent_find(chosen, std::ranges::greater_equal{}) == chosen.end());
    }
  }
}

}  // namespace
}  // namespace sonde::data_server
