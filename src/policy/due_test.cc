#include "policy/due.h"

#include <gtest/gtest.h>

namespace sonde::policy {
namespace {

TEST(Due, IsAtMultiplesOfTheInterval) {
  EXPECT_TRUE(due(0, 10) && due(20, 10) && due(7, 1) && due(-10, 10));
  EXPECT_FALSE(due(5, 10) || due(0, 0) || due(0, -3));
}

}  // namespace
}  // namespace sonde::policy
