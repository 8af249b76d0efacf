#include "server/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "formats/deflate.h"
#include "index/index_testing.h"
#include "server/client_testing.h"

namespace sonde::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kPage = "<!doctype html>page";
const std::string kLarge(std::size_t{64} << 20, 'x');

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::span<const Asset> page_files() {
  static const std::array kFiles = {Asset{"assets/large.bin", "text/plain", "\"large\"", bytes(kLarge), {}},
                                    Asset{"index.html", "text/html; charset=utf-8", "\"page\"", bytes(kPage), {}}};
  return kFiles;
}

// A server for a log with some runs.
class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* run : {"train", "test"}) {
      std::string file = index::version();
      for (int step = 0; step < 100; ++step) file += index::scalar("loss", step, 1.0 / (step + 1));
      index::append(path(run), file);
    }
  }

  std::string path(const std::string& run) const { return folder_ / (run + "/" + std::string(index::kEvents)); }

  Server& start(ServerOptions options = {}) {
    Result<Log> log = Log::open(folder_.path(), {.cache = LogOptions::Cache::off, .follow = LogOptions::Follow::live});
    EXPECT_TRUE(log);
    log->wait();
    options.port = 0;
    options.token = "correct-horse-battery";
    options.assets = page_files();
    std::vector<query::Served> logs;
    logs.push_back({"", folder_.path(), *std::move(log)});
    auto server = Server::start(options, std::make_shared<query::Api>(std::move(logs), nullptr));
    EXPECT_TRUE(server) << server.status().message();
    server_ = *std::move(server);
    return *server_;
  }
  Client client(int receive_buffer = 0) const { return Client(server_->port(), receive_buffer); }

  base::TempDir folder_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersTheApiAndThePageOnOneConnection) {
  start();
  Client one = client();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(one.get("/").body, kPage);
    const Received runs = one.get("/api/runs");
    EXPECT_EQ(runs.status, 200);
    EXPECT_EQ(runs.field("Content-Type"), "application/json");
    EXPECT_THAT(runs.body, HasSubstr("\"train\""));
    EXPECT_EQ(one.get("/api/nothing").status, 404);
    EXPECT_EQ(one.get("/../../etc/passwd").status, 404);
  }
}

TEST_F(ServerTest, EveryReplyCarriesSecurityHeaders) {
  start();
  Client one = client();
  for (const char* target : {"/", "/api/runs", "/none.js", "/api/none", "/?token=correct-horse-battery", "/?token=x"}) {
    const Received reply = one.get(target);
    EXPECT_THAT(reply.field("Content-Security-Policy"), HasSubstr("default-src 'none'; script-src 'self'")) << target;
    EXPECT_EQ(reply.field("X-Content-Type-Options"), "nosniff") << target;
    EXPECT_EQ(reply.field("Referrer-Policy"), "no-referrer") << target;
    EXPECT_EQ(reply.field("Cross-Origin-Resource-Policy"), "same-origin") << target;
    EXPECT_NE(reply.field("Date"), "") << target;
    EXPECT_EQ(reply.field("Access-Control-Allow-Origin"), "") << target;
  }
}

TEST_F(ServerTest, AnswersRequestsSentAtOnceInTheirOrder) {
  start();
  Client one = client();
  one.send(
      "GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"
      "GET /api/none HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(one.read_reply().body, HasSubstr("version"));
  const Received head = one.read_reply(false);
  EXPECT_EQ(head.field("Content-Length"), std::to_string(kPage.size()));
  EXPECT_EQ(one.read_reply().status, 404);
}

TEST_F(ServerTest, TakesARequestByteByByte) {
  start();
  Client one = client();
  for (const char c : std::string_view("POST /api/series HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")) {
    one.send(std::string_view(&c, 1));
  }
  EXPECT_EQ(one.read_reply().status / 100, 4);  // it lacks everything, and says so
  EXPECT_EQ(one.get("/").status, 200);
}

TEST_F(ServerTest, TakesBodiesInChunksAndAfterBeingAskedFor) {
  start();
  const std::string body = R"({"series": [{"run": "train", "tag": "loss"}], "width": 100})";
  Client plain = client();
  const Received whole = plain.ask("POST", "/api/series", "", body);
  EXPECT_EQ(whole.status, 200);
  EXPECT_TRUE(whole.body.starts_with("SNDS"));

  Client chunked = client();
  chunked.send("POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (const char c : body) chunked.send("1\r\n" + std::string(1, c) + "\r\n");
  chunked.send("0\r\n\r\n");
  EXPECT_EQ(chunked.read_reply().body, whole.body);

  Client polite = client();
  polite.send("POST /api/series HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(polite.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  polite.send(body);
  EXPECT_EQ(polite.read_reply().body, whole.body);
}

TEST_F(ServerTest, IgnoresFieldsAfterTheLastChunk) {
  start();
  const std::string body = R"({"series": [{"run": "train", "tag": "loss"}], "width": 100})";
  Client one = client();
  for (const char* field : {"Host: elsewhere", "Origin: https://elsewhere.example", "X: y"}) {
    one.send("POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3b\r\n" + body +
             "\r\n0\r\n" + field + "\r\n\r\n");
    EXPECT_EQ(one.read_reply().status, 200) << field;
  }
  // They do not change the identity of the client, either.
  one.send(
      "POST /api/note HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
      "Authorization: Bearer correct-horse-battery\r\n\r\n");
  EXPECT_EQ(one.read_reply().status, 401);
}

TEST_F(ServerTest, LimitsFieldsAfterTheLastChunk) {
  start();
  Client one = client();
  one.send("POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: " +
           std::string(100'000, 'x'));
  EXPECT_EQ(one.read_reply().status, 431);
}

TEST_F(ServerTest, CompressesAndAnswers304IfUnchanged) {
  for (int run = 0; run < 20; ++run) index::append(path("many/" + std::to_string(run)), index::scalar("loss", 1, 1));
  start();
  Client one = client();
  const Received plain = one.get("/api/tags");
  ASSERT_GT(plain.body.size(), 100U);
  const Received known = one.get("/api/tags", "If-None-Match: " + plain.field("ETag") + "\r\n");
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.body, "");
  const Received runs = one.get("/api/runs");
  ASSERT_GE(runs.body.size(), 1024U);
  const Received packed = one.get("/api/runs", "Accept-Encoding: gzip, deflate\r\n");
  EXPECT_EQ(packed.field("Content-Encoding"), "gzip");
  const base::Bytes piece = bytes(packed.body);
  const auto expanded = deflate::expand({&piece, 1}, deflate::Wrapper::gzip, runs.body.size());
  ASSERT_TRUE(expanded);
}

TEST_F(ServerTest, LetsNoForeignPageReadOrWrite) {
  start();
  const auto status = [&](const std::string& fields) {
    Client one = client();
    one.send("GET /api/runs HTTP/1.1\r\n" + fields + "\r\n");
    return one.read_reply().status;
  };
  EXPECT_EQ(status("Host: localhost:6006\r\n"), 200);
  EXPECT_EQ(status("Host: evil.example\r\n"), 403);  // DNS rebinding
  EXPECT_EQ(status("Host: localhost\r\nOrigin: https://evil.example\r\n"), 403);
  EXPECT_EQ(status("Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"), 403);
  EXPECT_EQ(status(""), 400);
  EXPECT_EQ(status("Host: localhost\r\nHost: localhost\r\n"), 400);
}

TEST_F(ServerTest, LetsOnlyThoseWriteWhoHaveShownTheToken) {
  start();
  Client one = client();
  const std::string note = R"({"run": "train", "note": "baseline"})";
  EXPECT_EQ(one.ask("POST", "/api/note", "", note).status, 401);
  EXPECT_EQ(one.ask("POST", "/api/note", "Authorization: Bearer wrong\r\n", note).status, 401);
  EXPECT_THAT(one.get("/api/status").body, HasSubstr("\"may_write\":false"));
  const Received taken = one.get("/?token=correct-horse-battery");
  EXPECT_EQ(taken.status, 303);
  const std::string cookie = taken.field("Set-Cookie");
  const std::string fields = "Cookie: " + cookie.substr(0, cookie.find(';')) + "\r\n";
  EXPECT_THAT(one.get("/api/status", fields).body, HasSubstr("\"may_write\":true"));
  EXPECT_EQ(one.ask("POST", "/api/note", fields + "Origin: http://evil.example\r\n", note).status, 403);
  EXPECT_THAT(one.get("/api/runs").body, Not(HasSubstr("baseline")));
  EXPECT_EQ(one.ask("POST", "/api/note", fields + "Origin: http://localhost\r\n", note).status, 200);
  EXPECT_THAT(one.get("/api/runs").body, HasSubstr("baseline"));  // at once
}

TEST_F(ServerTest, NeedsTheTokenForAllIfOthersCanReachIt) {
  start({.host = "0.0.0.0"});
  EXPECT_FALSE(server_->loopback());
  Client one = client();
  for (const char* target : {"/", "/api/runs", "/api/events"}) EXPECT_EQ(one.get(target).status, 401) << target;
  EXPECT_EQ(one.get("/api/runs", "Authorization: Bearer correct-horse-battery\r\n").status, 200);
}

TEST_F(ServerTest, ReportsAnInvalidRequestAndContinues) {
  start();
  const std::string long_field = "X: " + std::string(20'000, 'x') + "\r\n";
  const std::string large = std::to_string((1 << 20) + 1);
  const std::vector<std::pair<std::string, int>> cases = {
      {"\r\n\r\n\r\n", 400},
      {"GET\r\n\r\n", 400},
      {"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: localhost\n\n", 400},
      {std::string("\0\1\2\3", 4), 400},
      {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},  // somebody tries TLS
      {"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}",
       400},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: "
       "2\r\n\r\n0\r\n\r\n",
       400},
      {"GET /api/events?zzz=1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
      {"POST /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"GET /api/a/b HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
      {"BREW /api/runs HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"GET / HTTP/1.1\r\nHost: localhost\r\n" + long_field + "\r\n", 431},
      {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 431},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + large + "\r\n\r\n", 413},
      {"POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n110000\r\n" +
           std::string(0x110000, 'x'),
       413},
  };
  for (const auto& [text, status] : cases) {
    Client one = client();
    one.send(text);
    const Received reply = one.read_reply();
    EXPECT_EQ(reply.status, status) << text.substr(0, 100);
    EXPECT_THAT(reply.body, testing::StartsWith("{\"error\":")) << text.substr(0, 100);
  }
  EXPECT_EQ(client().get("/").status, 200);
}

// The end of the request is not known, so nothing after it is parsed as another one.
TEST_F(ServerTest, ClosesTheConnectionIfTheLengthOfARequestIsAmbiguous) {
  start();
  for (const char* encoding :
       {"xchunked", "identity", "chunked\r\nTransfer-Encoding: chunked", "chunked, chunked", ""}) {
    Client one = client();
    one.send("POST /api/series HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " + std::string(encoding) +
             "\r\n\r\nGET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string said = one.read_to_end();
    EXPECT_THAT(said, testing::StartsWith("HTTP/1.1 400 ")) << encoding;
    EXPECT_THAT(said, Not(HasSubstr("version"))) << encoding;
  }
}

TEST_F(ServerTest, HangsUpOnOldAndOnPoliteClients) {
  start();
  Client old = client();
  old.send("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(old.read_to_end(), testing::EndsWith(kPage));
  Client polite = client();
  polite.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(polite.read_to_end(), HasSubstr("\r\nConnection: close\r\n"));
}

TEST_F(ServerTest, HasTimeoutsForAllClients) {
  start({.limits = {.idle = milliseconds(100), .request = milliseconds(100)}});
  Client silent = client();
  Client half = client();
  half.send("GET / HTTP/1.1\r\nHost: loc");
  Client without_body = client();
  without_body.send("POST /api/series HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{");
  Client slow = client();  // a byte now and then does not count
  while (slow.send("x")) std::this_thread::sleep_for(milliseconds(10));
  for (Client* one : {&silent, &half, &without_body}) EXPECT_EQ(one->read_to_end(), "");
  EXPECT_EQ(client().get("/").status, 200);
}

TEST_F(ServerTest, HangsUpOnThoseWhoDoNotReadTheirAnswer) {
  start({.limits = {.connections = 1, .progress = milliseconds(100)}});
  Client lazy = client(4096);
  lazy.send("GET /assets/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
  lazy.read_until("\r\n\r\n");
  int status = 0;
  while (status != 200) status = client().get("/").status;  // until there is room for another one
  EXPECT_LT(lazy.read_to_end().size(), kLarge.size());
}

TEST_F(ServerTest, SendsLargeAnswers) {
  start();
  EXPECT_EQ(client().get("/assets/large.bin").body, kLarge);
}

TEST_F(ServerTest, TellsExcessClientsToRetry) {
  start({.limits = {.connections = 4}});
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(client());
    EXPECT_EQ(clients.back().get("/").status, 200);
  }
  const Received refused = client().read_reply();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("Retry-After"), "1");
  EXPECT_THAT(refused.body, HasSubstr("too many connections"));
  clients.clear();
  int status = 0;
  while (status != 200) status = client().get("/").status;  // once it has seen that they have left
  SUCCEED();
}

TEST_F(ServerTest, SendsChangesToStreams) {
  start();
  Client stream = client();
  stream.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string header = stream.read_until("\r\n\r\n");
  EXPECT_THAT(header, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(header, HasSubstr("Content-Type: text/event-stream\r\n"));
  EXPECT_EQ(stream.read_until("\n\n"), "retry: 1000\n\n");
  const std::string first = stream.read_until("\n\n");
  EXPECT_THAT(first, testing::StartsWith("event: change\nid: "));
  index::append(path("train"), index::scalar("loss", 100, 0.5));
  const std::string second = stream.read_until("\n\n");
  EXPECT_THAT(second, testing::StartsWith("event: change\nid: "));
  EXPECT_THAT(second, HasSubstr("\"train\""));
  EXPECT_THAT(second, Not(HasSubstr("\"test\"")));

  // A client that reconnects gets what it missed.
  const std::string id = first.substr(18, first.find('\n', 18) - 18);
  Client back = client();
  back.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: " + id + "\r\n\r\n");
  back.read_until("\r\n\r\nretry: 1000\n\n");
  const std::string missed = back.read_until("\n\n");
  EXPECT_THAT(missed, HasSubstr("\"train\""));
  EXPECT_THAT(missed, Not(HasSubstr("\"test\"")));
}

TEST_F(ServerTest, KeepsStreamsAlive) {
  start({.limits = {.heartbeat = milliseconds(20)}});
  Client stream = client();
  stream.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  for (int i = 0; i < 3; ++i) EXPECT_NE(stream.read_until("\n:\n\n"), "");
  EXPECT_EQ(client().ask("HEAD", "/api/events").field("Content-Type"), "text/event-stream");
}

TEST_F(ServerTest, TwoHundredStreamsDoNotDelayOthers) {
  start();
  std::vector<Client> streams;
  for (int i = 0; i < 200; ++i) {
    streams.push_back(client());
    streams.back().send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  for (Client& stream : streams) stream.read_until("event: change\n");
  index::append(path("train"), index::scalar("loss", 100, 0.5));
  Client other = client();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.get("/api/status").status, 200);
  for (Client& stream : streams) EXPECT_THAT(stream.read_until("event: change\n"), HasSubstr("event: change\n"));
}

TEST_F(ServerTest, EndsAlthoughClientsAreThere) {
  start();
  Client idle = client();
  idle.get("/");
  Client half = client();
  half.send("GET /");
  Client stream = client();
  stream.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  stream.read_until("event: change\n");
  const std::uint16_t port = server_->port();
  server_->stop();
  server_->stop();
  server_.reset();
  for (Client* one : {&idle, &half}) EXPECT_EQ(one->read_to_end(), "");
  EXPECT_EQ(free_port("127.0.0.1", port), port);
}

TEST_F(ServerTest, SaysWhenThePortIsInUse) {
  start();
  ServerOptions options;
  options.port = server_->port();
  options.token = "t";
  const auto second = Server::start(options, std::make_shared<query::Api>(std::vector<query::Served>{}, nullptr));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::exhausted);
  EXPECT_THAT(second.error().message(), HasSubstr("port " + std::to_string(options.port) + " of 127.0.0.1 is in use"));
  EXPECT_GT(free_port("127.0.0.1", options.port), options.port);
}

TEST_F(ServerTest, ListensNowhereThatIsNotHere) {
  ServerOptions options;
  options.port = 0;
  options.token = "t";
  for (const char* host : {"203.0.113.7", "no.such.name.invalid", "", "300.1.1.1"}) {
    options.host = host;
    const auto server = Server::start(options, std::make_shared<query::Api>(std::vector<query::Served>{}, nullptr));
    EXPECT_FALSE(server) << host;
  }
}

TEST_F(ServerTest, ContinuesWhenTheLogDisappears) {
  start();
  std::filesystem::remove_all(folder_.path());
  Client one = client();
  for (const char* target : {"/", "/api/status", "/api/runs", "/api/tags", "/api/scalars?run=train&tag=loss"}) {
    const int status = one.get(target).status;
    EXPECT_TRUE(status == 200 || status == 404) << target << " " << status;
  }
}

// What Linux says of this process.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::string random_target(std::mt19937& random) {
  static const std::vector<std::string> kPaths = {
      "status",   "runs",       "tags",       "alerts", "layouts", "series", "bands", "table",  "scalars",
      "steps",    "histograms", "statistics", "media",  "image",   "audio",  "note",  "delete", "arm",
      "captures", "disarm",     "triggers",   "",       "..",      "%00",    "runs/", "x"};
  static const std::vector<std::string> kNames = {"run",  "tag",    "runs",  "tags", "kind", "step", "first", "last",
                                                  "most", "format", "index", "x",    "",     "%",    "token"};
  static const std::vector<std::string> kValues = {
      "train", "test",          "loss", "scalars", "images",  "0",   "-1",   "1e999", "nan", "99999999999999999999",
      "(",     "a{1000}{1000}", ".*",   "%ff%fe",  "..%2f..", "csv", "json", "",      "%",   "%zz",
      "+",     "[[:alpha:]"};
  const auto one_of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  std::string target = random() % 10 == 0 ? "/" : "/api/";
  target += one_of(kPaths);
  const auto parameters = random() % 5;
  for (unsigned i = 0; i < parameters; ++i) target += (i == 0 ? "?" : "&") + one_of(kNames) + "=" + one_of(kValues);
  return target;
}

std::string random_body(std::mt19937& random) {
  static const std::vector<std::string> kParts = {
      "{",           "}",          "[",           "]",         "\"series\":", "\"run\":", "\"tag\":", "\"train\"",
      "\"loss\"",    "\"width\":", "\"range\":",  "800",       "-1",          "1e400",    "null",     ",",
      "\"smooth\":", "0.6",        "\"groups\":", "\"step\":", "\xff",        "\\u0000"};
  std::string body = random() % 2 == 0 ? R"({"series": [{"run": "train", "tag": "loss"}], "width": )" : "";
  const auto parts = random() % 12;
  for (unsigned i = 0; i < parts; ++i) body += kParts[random() % kParts.size()];
  return body + (random() % 2 == 0 ? "}" : "");
}

TEST_F(ServerTest, TenThousandRandomRequestsDoNoHarm) {
  start();
  std::mt19937 random(7);
  std::optional<Client> one;
  std::size_t before = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (!one || random() % 100 == 0) one.emplace(server_->port());
    if (i == 2000) before = resident_bytes();
    const std::string target = random_target(random);
    const bool posts = random() % 3 == 0;
    const Received reply = posts ? one->ask("POST", target, "", random_body(random)) : one->get(target);
    ASSERT_NE(reply.status, 0) << target;
    ASSERT_LT(reply.status, 500) << target << "\n" << reply.body;
  }
#ifndef SONDE_SANITIZED
  EXPECT_LT(resident_bytes(), before + (std::size_t{32} << 20));
#endif
  EXPECT_EQ(client().get("/").status, 200);
}

TEST_F(ServerTest, HalfRequestsLeaveNothingBehind) {
  start();
  std::mt19937 random(11);
  const std::string whole =
      "POST /api/series HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\n\r\n" + std::string(60, '{');
  for (int i = 0; i < 500; ++i) client().send(std::string_view(whole).substr(0, random() % whole.size()));
  EXPECT_EQ(client().get("/").status, 200);
}

}  // namespace
}  // namespace sonde::server
