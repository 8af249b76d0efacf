#include "record/error_queue.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sonde::record {
namespace {

TEST(ErrorQueue, DeliversInTheOrderOfArrivalOnTheThreadThatAsks) {
  std::vector<std::string> told;
  std::thread::id where;
  ErrorQueue queue([&](const Status& status) {
    told.push_back(status.message());
    where = std::this_thread::get_id();
  });
  std::thread([&] { queue.push({Code::io, "first"}); }).join();
  queue.push({Code::io, "second"});
  EXPECT_TRUE(told.empty());
  EXPECT_FALSE(queue.empty());
  queue.deliver();
  EXPECT_EQ(told, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_TRUE(queue.empty());
}

TEST(ErrorQueue, TellsHowManyErrorsItLeftOut) {
  std::vector<std::string> told;
  ErrorQueue queue([&](const Status& status) { told.push_back(status.message()); });
  for (std::size_t i = 0; i < ErrorQueue::kMost + 7; ++i) queue.push({Code::io, std::to_string(i)});
  queue.deliver();
  ASSERT_EQ(told.size(), ErrorQueue::kMost + 1);
  EXPECT_EQ(told.front(), "0");
  EXPECT_EQ(told.back(), "7 more errors came at the same time and are not listed");
  queue.push({Code::io, "later"});
  queue.deliver();
  EXPECT_EQ(told.back(), "later");
}

TEST(ErrorQueue, SurvivesAHandlerThatThrowsOrAddsErrors) {
  int calls = 0;
  ErrorQueue* to = nullptr;
  ErrorQueue queue([&](const Status&) {
    if (++calls == 1) to->push({Code::io, "from the handler"});
    throw std::runtime_error("from the handler");
  });
  to = &queue;
  queue.push({Code::io, "one"});
  queue.deliver();
  EXPECT_EQ(calls, 1);
  queue.deliver();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(queue.empty());
}

TEST(ErrorQueue, KeepsNothingWithoutAHandler) {
  ErrorQueue queue({});
  queue.push({Code::io, "unheard"});
  EXPECT_TRUE(queue.empty());
  queue.deliver();
}

}  // namespace
}  // namespace sonde::record
