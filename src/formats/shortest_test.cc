#include "formats/shortest.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace sonde::formats {
namespace {

TEST(Shortest, AFloatBecomesTheDoubleOfItsShortestText) {
  EXPECT_EQ(shortest_double(0.1F), 0.1);
  EXPECT_EQ(shortest_double(-1.0F / 3), -0.33333334);
  EXPECT_EQ(shortest_double(std::numeric_limits<float>::max()), 3.4028235e38);
  EXPECT_TRUE(std::isnan(shortest_double(std::nan(""))));
  EXPECT_EQ(shortest_double(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::signbit(shortest_double(-0.0)));
}

TEST(Shortest, IsTheSameFloatAgain) {
  std::uint32_t bits = 1;
  for (int i = 0; i < 100'000; ++i, bits = bits * 1664525U + 1013904223U) {
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(static_cast<float>(shortest_double(value)), value);
  }
}

TEST(Shortest, ASeriesIsOfFloatsIfAllValuesAre) {
  EXPECT_TRUE(all_single(std::vector<double>{0.5, 0.1F, std::nan(""), INFINITY}));
  EXPECT_FALSE(all_single(std::vector<double>{0.5, 0.1}));
  EXPECT_FALSE(all_single(std::vector<double>{1e300}));
  EXPECT_TRUE(all_single({}));
}

}  // namespace
}  // namespace sonde::formats
