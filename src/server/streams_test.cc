#include "server/streams.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::server {
namespace {

struct Client final : StreamClient {
  void send(std::shared_ptr<const std::string> text) override { received.push_back(*text); }
  std::vector<std::string> received;
};

struct StreamsTest : testing::Test {
  std::vector<std::uint64_t> asked;
  Streams streams{[this](std::uint64_t seen) { asked.push_back(seen); }};

  static std::string event(std::uint64_t revision) { return event_text({revision, "{}"}); }
};

TEST_F(StreamsTest, AnEventHasItsNameItsRevisionAndItsData) {
  EXPECT_EQ(event_text({18, "{\"revision\": 18}"}), "event: change\nid: 18\ndata: {\"revision\": 18}\n\n");
}

TEST_F(StreamsTest, AClientGetsMissedChangesAtOnce) {
  Client client;
  streams.add(client, 5);
  EXPECT_EQ(asked, std::vector<std::uint64_t>{5});
  streams.answer(5, {9, "{}"});
  EXPECT_EQ(client.received, std::vector{event(9)});
}

TEST_F(StreamsTest, AChangeIsAskedAboutOnceForAllWhoKnowTheSame) {
  std::vector<Client> clients(200);
  for (Client& client : clients) streams.add(client, 0);
  streams.answer(0, {1, "{}"});
  for (Client& client : clients) streams.sent(client);
  asked.clear();
  streams.changed(2);
  EXPECT_EQ(asked, std::vector<std::uint64_t>{1});
  streams.answer(1, {2, "{}"});
  for (const Client& client : clients) EXPECT_EQ(client.received, (std::vector{event(1), event(2)}));
}

TEST_F(StreamsTest, ASlowClientGetsAllThatItMissedAsOneEvent) {
  Client slow;
  streams.add(slow, 0);
  streams.answer(0, {1, "{}"});
  for (std::uint64_t revision = 2; revision < 100; ++revision) streams.changed(revision);
  EXPECT_EQ(slow.received.size(), 1U);
  asked.clear();
  streams.sent(slow);
  EXPECT_EQ(asked, std::vector<std::uint64_t>{1});
  streams.answer(1, {99, "{}"});
  EXPECT_EQ(slow.received, (std::vector{event(1), event(99)}));
  streams.sent(slow);
  EXPECT_EQ(asked.size(), 1U);  // there is nothing more
}

TEST_F(StreamsTest, AnAnswerThatIsNewerThanTheLastNoticeIsNotAskedAboutAgain) {
  Client client;
  streams.add(client, 0);
  streams.changed(3);
  streams.answer(0, {4, "{}"});
  streams.sent(client);
  streams.changed(4);
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(StreamsTest, ARevisionOfAnotherProcessIsReplaced) {
  Client client;
  streams.add(client, 1000);
  streams.answer(1000, {3, "{}"});
  streams.sent(client);
  streams.changed(4);
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{1000, 3}));
}

TEST_F(StreamsTest, OnlyClientsAtRestGetASignOfLife) {
  Client asking;
  Client resting;
  streams.add(resting, 7);
  streams.answer(7, {8, "{}"});
  streams.sent(resting);
  streams.add(asking, 0);
  streams.heartbeat();
  streams.heartbeat();  // the first is still in flight
  EXPECT_EQ(resting.received, (std::vector<std::string>{event(8), ":\n\n"}));
  EXPECT_TRUE(asking.received.empty());
}

TEST_F(StreamsTest, DisconnectedClientsGetNothing) {
  Client client;
  streams.add(client, 0);
  streams.remove(client);
  streams.answer(0, {1, "{}"});
  streams.sent(client);
  streams.heartbeat();
  EXPECT_TRUE(client.received.empty());
  EXPECT_EQ(streams.size(), 0U);
}

}  // namespace
}  // namespace sonde::server
