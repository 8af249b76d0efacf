#include "server/recent_replies.h"

#include <gtest/gtest.h>

namespace sonde::server {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<const Reply> reply(std::string text, int status = 200) {
  auto made = std::make_shared<Reply>();
  made->status = status;
  made->text = std::move(text);
  return made;
}

TEST(RecentReplies, AreValidForTheSameRevisionAndAShortTime) {
  RecentReplies replies;
  const RecentReplies::Clock::time_point now{};
  replies.keep("key", 5, now, reply("{}"));
  ASSERT_NE(replies.find("key", 5, now + milliseconds(199)), nullptr);
  EXPECT_EQ(replies.find("key", 5, now)->text, "{}");
  EXPECT_EQ(replies.find("key", 6, now), nullptr);
  EXPECT_EQ(replies.find("key", 5, now + milliseconds(200)), nullptr);
  EXPECT_EQ(replies.find("other", 5, now), nullptr);
}

TEST(RecentReplies, RememberTheLastOneForThoseWhoFindItUnchanged) {
  RecentReplies replies;
  const RecentReplies::Clock::time_point now{};
  EXPECT_EQ(replies.last("key"), nullptr);
  replies.keep("key", 5, now, reply("old"));
  replies.keep("key", 6, now, reply("new"));
  replies.keep("key", 5, now, reply("late"));
  EXPECT_EQ(replies.last("key")->text, "new");
}

TEST(RecentReplies, KeepNoErrorsNothingLargeAndNotTooMany) {
  RecentReplies replies;
  const RecentReplies::Clock::time_point now{};
  replies.keep("error", 1, now, reply("{}", 404));
  replies.keep("large", 1, now, reply(std::string(2'000'000, 'x')));
  replies.keep("", 1, now, reply("{}"));
  for (const char* key : {"error", "large", ""}) EXPECT_EQ(replies.find(key, 1, now), nullptr) << key;
  for (int i = 0; i < 1000; ++i) replies.keep(std::to_string(i), 1, now, reply("{}"));
  int found = 0;
  for (int i = 0; i < 1000; ++i) found += replies.find(std::to_string(i), 1, now) != nullptr ? 1 : 0;
  EXPECT_LE(found, 128);
  EXPECT_GT(found, 0);
  for (int i = 0; i < 100; ++i) replies.keep(std::to_string(i), 1, now, reply(std::string(1 << 20, 'x')));
  found = 0;
  for (int i = 0; i < 100; ++i) found += replies.find(std::to_string(i), 1, now) != nullptr ? 1 : 0;
  EXPECT_LE(found, 16);
  EXPECT_GT(found, 0);
}

TEST(RecentReplies, DistinguishRequestsWithDifferentAnswers) {
  ApiCall call;
  call.question.path = "runs";
  call.question.query = "a=b";
  const std::string plain = RecentReplies::key_of(call);
  EXPECT_NE(plain, "");
  ApiCall packed = call;
  packed.gzip = true;
  EXPECT_NE(RecentReplies::key_of(packed), plain);
  ApiCall writer = call;
  writer.question.may_write = true;
  EXPECT_NE(RecentReplies::key_of(writer), plain);
  ApiCall foreign = call;
  foreign.fields = "Access-Control-Allow-Origin: x\r\n";
  EXPECT_NE(RecentReplies::key_of(foreign), plain);
  ApiCall post = call;
  post.question.method = query::Question::Method::post;
  EXPECT_EQ(RecentReplies::key_of(post), "");
  const std::string long_query(10'000, 'x');
  call.question.query = long_query;
  EXPECT_EQ(RecentReplies::key_of(call), "");
}

}  // namespace
}  // namespace sonde::server
