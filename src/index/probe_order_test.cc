#include "index/probe_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::index {
namespace {

using ::testing::ElementsAre;

TEST(ProbeOrder, IsThatOfTheEntriesOfAStep) {
  ProbeOrder order;
  order.learn({7, 3, 5, 3});
  order.learn({7, 3, 5});
  EXPECT_THAT(order.ids(), ElementsAre(7, 3, 5));
}

TEST(ProbeOrder, PlacesRarelyRecordedTensorsBetweenTheirNeighbours) {
  ProbeOrder order;
  order.learn({1, 4});
  order.learn({0, 1, 2, 3, 4, 5});
  EXPECT_THAT(order.ids(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ProbeOrder, PutsTensorsNeverRecordedTogetherLast) {
  ProbeOrder order;
  order.learn({1, 2});
  order.learn({9, 8});
  EXPECT_THAT(order.ids(), ElementsAre(1, 2, 9, 8));
}

TEST(ProbeOrder, IsRestoredFromTheCache) {
  ProbeOrder order;
  order.learn({2, 1, 300});
  std::string bytes;
  order.save(bytes);
  ProbeOrder restored;
  base::ByteReader from(base::as_bytes(bytes));
  restored.restore(from);
  EXPECT_TRUE(from.ok() && from.done());
  EXPECT_EQ(restored.ids(), order.ids());
}

}  // namespace
}  // namespace sonde::index
