#include "stats/target.h"

#include <gtest/gtest.h>

namespace sonde::stats {
namespace {

TEST(SimdTarget, HasAName) {
  EXPECT_FALSE(simd_target().empty());
  EXPECT_NE(simd_target(), "Unknown");
}

}  // namespace
}  // namespace sonde::stats
