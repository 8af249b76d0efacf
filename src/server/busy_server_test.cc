// Who waits for whom, and what becomes of those who leave: a server whose answers take as long as a test says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/client_testing.h"
#include "server/server.h"

namespace sonde::server {
namespace {

using testing::Each;
using testing::HasSubstr;

// Gives every question the same answer, except those that are held back until they are let go.
class HeldAnswers final : public Answerer {
 public:
  query::Answer answer(const query::Question& question) const override {
    const std::string path(question.path);
    std::unique_lock lock(mutex_);
    asked_.push_back(path + "?" + std::string(question.query));
    ++begun_[path];
    most_at_once_[path] = std::max(most_at_once_[path], begun_[path] - finished_[path]);
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_.contains(path); });
    ++finished_[path];
    query::Answer made;
    made.content_type = path == "audio" ? "audio/wav" : "application/json";
    made.body = std::string(2000, 'x');
    if (question.method == query::Question::Method::get) made.etag = "\"1\"";
    return made;
  }
  std::uint64_t revision() const noexcept override { return 1; }
  std::uint64_t wait_for_change(std::uint64_t, std::chrono::milliseconds timeout) const override {
    std::this_thread::sleep_for(timeout);
    return 1;
  }
  query::Change change_since(std::uint64_t) const override { return {1, "{}"}; }

  void hold(const std::string& path) {
    const std::lock_guard lock(mutex_);
    held_.insert(path);
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    held_.clear();
    changed_.notify_all();
  }
  void wait_for(const std::string& path, int begun) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_[path] >= begun; });
  }
  int finished(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return finished_[path];
  }
  int most_at_once(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return most_at_once_[path];
  }
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  mutable std::mutex mutex_;  // of the following
  mutable std::condition_variable changed_;
  mutable std::vector<std::string> asked_;
  mutable std::map<std::string, int> begun_;
  mutable std::map<std::string, int> finished_;
  mutable std::map<std::string, int> most_at_once_;
  std::set<std::string> held_;
};

constexpr int kFewestExpensive = 1;  // answered at once on any machine
constexpr int kMostExpensive = 4;

class BusyServer : public testing::Test {
 protected:
  void start(ServerLimits limits = {}) {
    ServerOptions options;
    options.port = 0;
    options.token = "correct-horse-battery";
    options.limits = limits;
    auto server = Server::start(options, std::shared_ptr<const Answerer>(answers_));
    ASSERT_TRUE(server) << server.status().message();
    server_ = *std::move(server);
  }
  void TearDown() override { answers_->let_go(); }

  Client client() const { return Client(server_->port()); }
  // When it returns, the server has processed everything that reached it before: there is one thread for all sockets,
  // which handles them in the order in which they become ready.
  void let_it_look() const {
    Client one = client();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(one.get("/api/none" + std::to_string(i)).status, 200);
  }

  std::shared_ptr<HeldAnswers> answers_ = std::make_shared<HeldAnswers>();
  std::unique_ptr<Server> server_;
};

const std::string kScalars = "GET /api/scalars?run=x&tag=y HTTP/1.1\r\nHost: localhost\r\n\r\n";

std::string many_bands() {
  std::string body = R"({"width": 16384, "groups": [{"tag": "loss", "runs": ["0")";
  for (int i = 1; i < 100; ++i) body += ", \"" + std::to_string(i) + "\"";
  body += "]}]}";
  return "POST /api/bands HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

TEST_F(BusyServer, NoQuestionWaitsForAMoreExpensiveOne) {
  answers_->hold("bands");
  answers_->hold("series");
  start();
  std::vector<Client> expensive;
  for (int i = 0; i < 16; ++i) {
    expensive.push_back(client());
    expensive.back().send(many_bands());
  }
  answers_->wait_for("bands", kFewestExpensive);
  Client other = client();
  for (const char* target : {"/api/status", "/api/runs", "/api/tags", "/api/image?run=x&tag=y&step=0", "/api/steps"}) {
    EXPECT_EQ(other.get(target).status, 200) << target;
  }
  std::vector<Client> charts;  // as many as fill the middle lane
  for (int i = 0; i < 16; ++i) {
    charts.push_back(client());
    charts.back().send("POST /api/series HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
  }
  answers_->wait_for("series", 4);
  EXPECT_EQ(other.get("/api/alerts").status, 200);
  EXPECT_EQ(other.ask("POST", "/api/note", "Authorization: Bearer correct-horse-battery\r\n", "{}").status, 200);
  answers_->let_go();
  for (std::vector<Client>* all : {&expensive, &charts}) {
    for (Client& one : *all) EXPECT_EQ(one.read_reply().status, 200);
  }
  EXPECT_LE(answers_->most_at_once("bands"), kMostExpensive);
}

TEST_F(BusyServer, TellsClientsToRetryIfTheQueueIsFull) {
  constexpr int kWaiting = 3;
  answers_->hold("bands");
  start({.waiting = kWaiting});
  std::vector<Client> clients;
  for (int i = 0; i < kMostExpensive + kWaiting + 1; ++i) {
    clients.push_back(client());
    clients.back().send(many_bands());
  }
  let_it_look();
  answers_->let_go();
  int refused = 0;
  for (Client& one : clients) {
    const Received reply = one.read_reply();
    if (reply.status == 200) continue;
    ++refused;
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.field("Retry-After"), "1");
    EXPECT_THAT(reply.body, HasSubstr("try again in a moment"));
    EXPECT_EQ(one.get("/api/status").status, 200);  // the connection is still usable
  }
  EXPECT_GE(refused, 1);
}

TEST_F(BusyServer, AnswersNoLongQuestionWhoseClientHasLeft) {
  answers_->hold("scalars");
  start();
  std::vector<Client> patient;
  for (int i = 0; i < kMostExpensive; ++i) {
    patient.push_back(client());
    patient.back().send(kScalars);
  }
  answers_->wait_for("scalars", kFewestExpensive);
  let_it_look();
  {
    Client hasty = client();
    hasty.send("GET /api/scalars?run=gone&tag=y HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let_it_look();
  }
  Client busy = client();  // has more to say, which is no leaving
  busy.send(kScalars + kScalars);
  let_it_look();
  answers_->let_go();
  for (Client& one : patient) EXPECT_EQ(one.read_reply().status, 200);
  EXPECT_EQ(busy.read_reply().status, 200);
  EXPECT_EQ(busy.read_reply().status, 200);
  EXPECT_THAT(answers_->asked(), Each(testing::Not(HasSubstr("gone"))));
}

TEST_F(BusyServer, DisconnectedClientsFreeTheirPlaceInTheQueue) {
  answers_->hold("bands");
  start({.waiting = 1});
  Client patient = client();
  patient.send(many_bands());
  answers_->wait_for("bands", 1);  // so that it is not in the line any more
  for (int i = 0; i < 20; ++i) {
    Client hasty = client();
    hasty.send(many_bands());
    let_it_look();
  }
  let_it_look();
  Client last = client();
  last.send(many_bands());
  let_it_look();
  answers_->let_go();
  EXPECT_EQ(last.read_reply().status, 200);
}

TEST_F(BusyServer, AnswersOnceWhatManyAskAtTheSameTime) {
  answers_->hold("runs");
  start();
  std::vector<Client> pages;
  for (int i = 0; i < 20; ++i) {
    pages.push_back(client());
    pages.back().send("GET /api/runs HTTP/1.1\r\nHost: localhost\r\n" +
                      std::string(i % 2 == 0 ? "" : "If-None-Match: \"1\"\r\n") + "\r\n");
  }
  answers_->wait_for("runs", 1);
  let_it_look();
  answers_->let_go();
  for (std::size_t i = 0; i < pages.size(); ++i)
    EXPECT_EQ(pages[i].read_reply(i % 2 == 0).status, i % 2 == 0 ? 200 : 304);
  EXPECT_EQ(answers_->finished("runs"), 1);
}

TEST_F(BusyServer, AsksAgainAfterSomethingWasChanged) {
  start();
  Client one = client();
  EXPECT_EQ(one.get("/api/runs").status, 200);
  const int before = answers_->finished("runs");
  EXPECT_EQ(one.ask("POST", "/api/note", "Authorization: Bearer correct-horse-battery\r\n", "{}").status, 200);
  const Received again = one.get("/api/runs", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(again.field("Content-Encoding"), "gzip");
  EXPECT_EQ(one.get("/api/runs").body, std::string(2000, 'x'));
  EXPECT_GT(answers_->finished("runs"), before);
}

TEST_F(BusyServer, SendsSoundInParts) {
  start();
  Client one = client();
  const Received all = one.get("/api/audio?run=x&tag=y&step=0");
  EXPECT_EQ(all.field("Accept-Ranges"), "bytes");
  const Received part = one.get("/api/audio?run=x&tag=y&step=0", "Range: bytes=100-199\r\nIf-Range: \"1\"\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.field("Content-Range"), "bytes 100-199/2000");
  EXPECT_EQ(part.field("Content-Type"), "audio/wav");
  EXPECT_EQ(part.field("ETag"), "\"1\"");
  EXPECT_EQ(part.body, std::string(100, 'x'));
  const Received beyond = one.get("/api/audio?run=x&tag=y&step=0", "Range: bytes=2000-\r\n");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.field("Content-Range"), "bytes */2000");
  EXPECT_EQ(one.get("/api/audio?run=x&tag=y&step=0", "Range: bytes=0-1\r\nIf-Range: \"old\"\r\n").status, 200);
}

TEST_F(BusyServer, EndsWithoutWaitingForLongAnswers) {
  answers_->hold("bands");
  start();
  Client expensive = client();
  expensive.send(many_bands());
  answers_->wait_for("bands", 1);
  server_->stop();
  EXPECT_EQ(answers_->finished("bands"), 0);
  answers_->let_go();
  server_.reset();
  EXPECT_EQ(expensive.read_to_end(), "");
}

TEST_F(BusyServer, StopWaitsForRequestsThatChangeSomething) {
  answers_->hold("note");
  start();
  Client one = client();
  one.send(
      "POST /api/note HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer correct-horse-battery\r\n"
      "Content-Length: 2\r\n\r\n{}");
  answers_->wait_for("note", 1);
  int done = 0;
  std::thread ends([&] {
    server_->stop();
    done = answers_->finished("note");
  });
  answers_->let_go();
  ends.join();
  EXPECT_EQ(done, 1);
}

// Something is new by the second time that anybody looks.
class NewsAtOnce final : public Answerer {
 public:
  query::Answer answer(const query::Question&) const override { return {}; }
  std::uint64_t revision() const noexcept override { return looked_.exchange(true) ? 2 : 1; }
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const override {
    std::uint64_t none = 0;
    if (first_wait_.compare_exchange_strong(none, seen)) first_wait_.notify_all();
    if (seen == 2) std::this_thread::sleep_for(timeout);
    return 2;
  }
  query::Change change_since(std::uint64_t) const override { return {2, "{}"}; }

  std::uint64_t first_wait() const {
    first_wait_.wait(0);
    return first_wait_;
  }

 private:
  mutable std::atomic<bool> looked_ = false;
  mutable std::atomic<std::uint64_t> first_wait_ = 0;
};

TEST(BusyServerStart, MissesNoChangeWhileItsThreadsStart) {
  const auto answers = std::make_shared<NewsAtOnce>();
  ServerOptions options;
  options.port = 0;
  options.token = "correct-horse-battery";
  const auto server = Server::start(options, std::shared_ptr<const Answerer>(answers));
  ASSERT_TRUE(server) << server.status().message();
  EXPECT_EQ(answers->first_wait(), 1u) << "what was known when it started";
}

}  // namespace
}  // namespace sonde::server
