#include "record/loss_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint64_t kSecond = 1'000'000'000;

struct Told {
  std::vector<std::string> messages;
  LossReport::Tell handler() {
    return [this](const Status& status) { messages.push_back(status.message()); };
  }
  std::vector<std::string> take() { return std::exchange(messages, {}); }
};

TEST(LossReport, ReportsTheFirstLossAtOnceAndThenOncePerSecondWithTheCount) {
  LossReport report;
  Told told;
  report.tell_due({}, 5 * kSecond, told.handler());
  EXPECT_THAT(told.take(), IsEmpty());
  report.tell_due({.tensors = 1}, 5 * kSecond, told.handler());
  EXPECT_THAT(told.take(), ElementsAre(StartsWith("1 tensor was dropped because the buffer was full")));
  report.tell_due({.tensors = 50}, 5 * kSecond + kSecond / 2, told.handler());
  report.tell_due({.tensors = 100}, 6 * kSecond - 1, told.handler());
  EXPECT_THAT(told.take(), IsEmpty());
  report.tell_due({.tensors = 200}, 6 * kSecond, told.handler());
  EXPECT_THAT(told.take(), ElementsAre(StartsWith("199 tensors were dropped")));
}

TEST(LossReport, NamesEveryKindThatWasDropped) {
  LossReport report;
  Told told;
  (void)report.tell_rest({.scalars = 2, .tensors = 3, .step_marks = 1}, told.handler());
  EXPECT_THAT(told.take(), ElementsAre(StartsWith("3 tensors, 2 scalars and 1 step mark were dropped")));
}

TEST(LossReport, AFlushReportsTheRestAndReturnsTheFirstLossSinceTheLastOne) {
  LossReport report;
  Told told;
  report.tell_due({.scalars = 1}, kSecond, told.handler());
  report.tell_due({.scalars = 7}, kSecond + 1, told.handler());
  const Status lost = report.tell_rest({.scalars = 8}, told.handler());
  EXPECT_THAT(lost.message(), StartsWith("1 scalar was dropped"));
  EXPECT_THAT(told.take(), ElementsAre(StartsWith("1 scalar"), StartsWith("7 scalars")));
  EXPECT_TRUE(report.tell_rest({.scalars = 8}, told.handler()).ok());
  EXPECT_THAT(told.take(), IsEmpty());
}

TEST(LossReport, ReportsLostFilesWithTheReasonOfTheFirst) {
  LossReport report;
  Told told;
  report.lost_records(3, {Code::no_space, "cannot write 'a.npy'"});
  report.tell_due({}, kSecond, told.handler());
  EXPECT_THAT(told.take(), ElementsAre("cannot write 'a.npy' (3 records lost)"));
  for (int i = 0; i < 10; ++i) report.lost_records(1, {Code::no_space, "cannot write '" + std::to_string(i) + "'"});
  report.tell_due({}, kSecond + 1, told.handler());
  EXPECT_THAT(told.take(), IsEmpty());
  const Status lost = report.tell_rest({}, told.handler());
  EXPECT_EQ(lost.code(), Code::no_space);
  EXPECT_EQ(lost.message(), "cannot write 'a.npy' (3 records lost)");
  EXPECT_THAT(told.take(), ElementsAre(HasSubstr("'0' (10 records lost)")));
}

}  // namespace
}  // namespace sonde::record
