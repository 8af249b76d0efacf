#include "policy/budget.h"

#include <gtest/gtest.h>

namespace sonde::policy {
namespace {

// Lets `seconds` pass in quarters, each costing `share` of itself. The last change.
std::optional<BudgetKeeper::Change> pass(BudgetKeeper& keeper, Usage& usage, double seconds, double share) {
  std::optional<BudgetKeeper::Change> last;
  for (double passed = 0; passed < seconds; passed += 0.25) {
    usage.wall += 0.25;
    usage.busy += 0.25 * share;
    if (auto change = keeper.observe(usage)) last = change;
  }
  return last;
}

TEST(Budget, IsFullAsLongAsNothingIsExceeded) {
  BudgetKeeper keeper({.overhead = 0.01, .memory = 1000, .disk = 1000});
  Usage usage = {.disk = 800};
  EXPECT_FALSE(pass(keeper, usage, 60, 0.009));
  EXPECT_EQ(keeper.level(), Level::full);
}

TEST(Budget, GivesUpWholeTensorsFirstAndThenStatistics) {
  BudgetKeeper keeper({.overhead = 0.01});
  Usage usage;
  auto change = pass(keeper, usage, 1.5, 0.05);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->from, Level::full);
  EXPECT_EQ(change->to, Level::statistics);
  EXPECT_EQ(change->reason, "recording took 5 % of the time, more than 1 %");
  change = pass(keeper, usage, 1.0, 0.02);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->to, Level::nothing);
}

TEST(Budget, RecoversWhenThereIsRoom) {
  BudgetKeeper keeper({.overhead = 0.01});
  Usage usage;
  pass(keeper, usage, 1.5, 0.05);
  EXPECT_EQ(keeper.level(), Level::statistics);
  const auto change = pass(keeper, usage, 8, 0.001);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->to, Level::full);
}

TEST(Budget, KeepsTheLevelIfTheCostIsJustBelowTheLimit) {
  BudgetKeeper keeper({.overhead = 0.01});
  Usage usage;
  pass(keeper, usage, 1.5, 0.05);
  EXPECT_FALSE(pass(keeper, usage, 100, 0.008));
  EXPECT_EQ(keeper.level(), Level::statistics);
}

TEST(Budget, TriesAgainLaterEachTimeItFails) {
  BudgetKeeper keeper({.overhead = 0.01});
  Usage usage;
  int tries = 0;
  for (int second = 0; second < 1000; ++second) {  // whole tensors always cost too much, statistics nothing
    const Level before = keeper.level();
    pass(keeper, usage, 1, before == Level::full ? 0.05 : 0.0001);
    if (before != Level::full && keeper.level() == Level::full) ++tries;
  }
  EXPECT_GE(tries, 3);
  EXPECT_LE(tries, 12);
}

TEST(Budget, KeepsRoomOnTheDiskForStatistics) {
  BudgetKeeper keeper({.disk = 1000});
  Usage usage = {.disk = 950};
  auto change = pass(keeper, usage, 2, 0);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->to, Level::statistics);
  EXPECT_FALSE(pass(keeper, usage, 60, 0));
  usage.disk = 1001;
  change = pass(keeper, usage, 2, 0);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->to, Level::nothing);
  usage.disk = 100;  // somebody made room
  pass(keeper, usage, 60, 0);
  EXPECT_EQ(keeper.level(), Level::full);
}

TEST(Budget, LowersTheLevelIfTensorsDoNotFit) {
  BudgetKeeper keeper({.memory = std::uint64_t{1} << 20});
  Usage usage;
  pass(keeper, usage, 2, 0);
  usage.refused = 3;
  const auto change = pass(keeper, usage, 2, 0);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->reason, "3 tensors did not fit into 1 MiB");
  pass(keeper, usage, 20, 0);
  EXPECT_EQ(keeper.level(), Level::full) << "none was refused since";
}

TEST(Budget, LimitsWhatIsKept) {
  const Keep all = Keep::stats | Keep::histogram | Keep::image | Keep::whole | Keep::npy | Keep::csv;
  EXPECT_EQ(limit(all, Level::full), all);
  EXPECT_EQ(limit(all, Level::statistics), Keep::stats | Keep::histogram);
  EXPECT_EQ(limit(all, Level::nothing), Keep::nothing);
  EXPECT_EQ(limit(Keep::whole, Level::statistics), Keep::stats);
  EXPECT_EQ(limit(Keep::print, Level::statistics), Keep::print);
}

TEST(Budget, DiskSaysWhatDoesNotFit) {
  const BudgetKeeper keeper({.disk = 1000});
  EXPECT_EQ(keeper.lacks_disk(500, 400), "");
  EXPECT_EQ(keeper.lacks_disk(500, 401),
            "it would take about 401 B, and the run takes 500 B of the 1000 B that it may have; the last "
            "tenth is for statistics");
  EXPECT_NE(keeper.lacks_disk(2000, 0), "");
  EXPECT_EQ(BudgetKeeper({.overhead = 0.1}).lacks_disk(2000, 2000), "");
}

TEST(Budget, OfTheDiskIsKeptAtOnce) {
  BudgetKeeper keeper({.disk = 1000});
  EXPECT_FALSE(keeper.observe_disk(900));
  auto change = keeper.observe_disk(901);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->to, Level::statistics);
  EXPECT_FALSE(keeper.observe_disk(1000));
  change = keeper.observe_disk(1001);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->to, Level::nothing);
  EXPECT_FALSE(keeper.observe_disk(5000));
}

}  // namespace
}  // namespace sonde::policy
