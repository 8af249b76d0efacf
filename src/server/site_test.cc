#include "server/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "formats/deflate.h"

namespace sonde::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kToken = "correct-horse-battery";
constexpr std::string_view kPage = "<!doctype html>page";

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::span<const Asset> page_files() {
  static const std::array kFiles = {
      Asset{"assets/index-abc.js", "text/javascript; charset=utf-8", "\"js\"", bytes("script"), bytes("packed script")},
      Asset{"icon.svg", "image/svg+xml", "\"icon\"", bytes("<svg/>"), {}},
      Asset{"index.html", "text/html; charset=utf-8", "\"page\"", bytes(kPage), {}}};
  return kFiles;
}

Site site(GateOptions options = {}, std::string prefix = "") {
  if (options.token.empty()) options.token = kToken;
  if (options.host.empty()) options.host = "127.0.0.1";
  return {*Gate::make(std::move(options)), std::move(prefix), page_files()};
}

Request get(std::string_view target) {
  return {.method = "GET", .target = target, .caller = {.host = "localhost:6006"}};
}

Reply reply_of(const Site& from, const Request& request) {
  Plan plan = from.plan(request);
  EXPECT_TRUE(std::holds_alternative<Reply>(plan)) << request.target;
  return std::holds_alternative<Reply>(plan) ? std::get<Reply>(std::move(plan)) : Reply{.status = 0};
}

std::string body_of(const Reply& reply) {
  const auto body = reply.body();
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

query::Answer answer(std::string body, std::string etag = "") {
  query::Answer made;
  made.body = std::move(body);
  made.etag = std::move(etag);
  return made;
}

TEST(Site, ServesTheFilesOfThePage) {
  const Site here = site();
  EXPECT_EQ(body_of(reply_of(here, get("/"))), kPage);
  EXPECT_EQ(body_of(reply_of(here, get("/index.html"))), kPage);
  EXPECT_EQ(body_of(reply_of(here, get("/?run=a"))), kPage);
  const Reply script = reply_of(here, get("/assets/index-abc.js"));
  EXPECT_EQ(body_of(script), "script");
  EXPECT_THAT(script.fields, AllOf(HasSubstr("immutable"), HasSubstr("ETag: \"js\"\r\n")));
  EXPECT_THAT(script.content_fields, HasSubstr("text/javascript"));
  EXPECT_THAT(reply_of(here, get("/")).fields,
              AllOf(HasSubstr("Cache-Control: no-cache"), Not(HasSubstr("immutable"))));
}

TEST(Site, ServesNothingElse) {
  const Site here = site();
  for (const char* target : {"/missing.js", "/metrics", "/api", "/assets/", "/a/b", "/../index.html",
                             "/assets/../index.html", "//index.html", "/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd",
                             "/.git/config", "/assets/index-abc.js/", "/index.html%00", "/\\..\\x", "/./index.html"}) {
    EXPECT_EQ(reply_of(here, get(target)).status, 404) << target;
  }
}

TEST(Site, RejectsInvalidAddresses) {
  for (const char* target :
       {"", "*", "index.html", "http://localhost/", "/a\r\nSet-Cookie: x", "/a b", "/\x80", "/\x01"}) {
    const Reply reply = reply_of(site(), get(target));
    EXPECT_EQ(reply.status, 400) << target;
    EXPECT_THAT(body_of(reply), HasSubstr("{\"error\":\"")) << target;
  }
}

TEST(Site, SaysIfItWasBuiltWithoutThePage) {
  const Site bare(*Gate::make({.host = "127.0.0.1", .token = std::string(kToken)}), "", {});
  const Reply reply = reply_of(bare, get("/"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_THAT(body_of(reply), HasSubstr("without the page"));
}

TEST(Site, SendsCompressedFilesToThoseWhoTakeThem) {
  Request request = get("/assets/index-abc.js");
  for (const char* accepted : {"gzip", "deflate, gzip;q=0.5, br", "br,gzip"}) {
    request.accept_encoding = accepted;
    const Reply reply = reply_of(site(), request);
    EXPECT_EQ(body_of(reply), "packed script") << accepted;
    EXPECT_THAT(reply.content_fields, HasSubstr("Content-Encoding: gzip\r\n"));
  }
  for (const char* accepted : {"", "br", "gzip;q=0", "xgzip", "gzip;q=0.0"}) {
    request.accept_encoding = accepted;
    EXPECT_EQ(body_of(reply_of(site(), request)), "script") << accepted;
  }
}

TEST(Site, SendsNothingThatTheClientHas) {
  const Reply reply = reply_of(site(), get("/"));
  EXPECT_EQ(part_of(reply, {.if_none_match = "\"page\""}).status, 304);
  EXPECT_EQ(part_of(reply, {.if_none_match = "\"other\""}).status, 200);
}

TEST(Site, HandsQuestionsToTheApi) {
  const Site here = site();
  const Plan asked = here.plan(get("/api/tags?runs=a%2B"));
  const auto& call = std::get<ApiCall>(asked);
  EXPECT_EQ(call.question.path, "tags");
  EXPECT_EQ(call.question.query, "runs=a%2B");
  EXPECT_EQ(call.question.method, query::Question::Method::get);
  EXPECT_FALSE(call.question.may_write);
  Request post = get("/api/series");
  post.method = "POST";
  post.caller.authorization = "Bearer correct-horse-battery";
  const Plan sent = here.plan(post);
  EXPECT_EQ(std::get<ApiCall>(sent).question.method, query::Question::Method::post);
  EXPECT_TRUE(std::get<ApiCall>(sent).question.may_write);
}

TEST(Site, BeginsAStreamAtTheClientsRevision) {
  Request request = get("/api/events");
  EXPECT_EQ(std::get<EventStream>(site().plan(request)).seen, 0U);
  request.last_event_id = "17";
  EXPECT_EQ(std::get<EventStream>(site().plan(request)).seen, 17U);
  for (const char* bad : {"x", "-1", "1x", "99999999999999999999999"}) {
    request.last_event_id = bad;
    EXPECT_EQ(std::get<EventStream>(site().plan(request)).seen, 0U) << bad;
  }
  request.last_event_id = "";
  request.target = "/api/events?seen=7";
  EXPECT_EQ(std::get<EventStream>(site().plan(request)).seen, 7U);
  request.last_event_id = "9";
  EXPECT_EQ(std::get<EventStream>(site().plan(request)).seen, 9U) << "it reconnects";
  request.target = "/api/events?seen=-1";
  EXPECT_EQ(reply_of(site(), request).status, 400);
  const Reply unknown = reply_of(site(), get("/api/events?zzz=1"));
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(body_of(unknown), HasSubstr("there is no parameter 'zzz'"));
}

TEST(Site, KnowsThreeMethods) {
  for (const char* method : {"PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "OPTIONS"}) {
    Request request = get("/api/runs");
    request.method = method;
    const Reply reply = reply_of(site(), request);
    EXPECT_EQ(reply.status, 405) << method;
    EXPECT_THAT(reply.fields, HasSubstr("Allow: GET, HEAD, POST"));
  }
  Request post = get("/");
  post.method = "POST";
  EXPECT_EQ(reply_of(site(), post).status, 405);
  post.target = "/api/events";
  const Reply stream = reply_of(site(), post);
  EXPECT_EQ(stream.status, 405);
  EXPECT_THAT(stream.fields, HasSubstr("Allow: GET, HEAD\r\n"));
  EXPECT_THAT(body_of(stream), HasSubstr("{\"error\":"));
  query::Answer wrong = answer("{}");
  wrong.status = 405;
  ApiCall call;
  EXPECT_THAT(site().reply(call, wrong).fields, HasSubstr("Allow: POST\r\n"));
  call.question.method = query::Question::Method::post;
  EXPECT_THAT(site().reply(call, wrong).fields, HasSubstr("Allow: GET, HEAD\r\n"));
}

TEST(Site, EveryReplyKeepsBrowsersFromHarm) {
  const Site here = site();
  Request foreign = get("/api/runs");
  foreign.caller.host = "evil.example";
  const ApiCall call;
  const Plan stream = here.plan(get("/api/events"));
  for (const std::string& fields :
       {reply_of(here, get("/")).fields, reply_of(here, get("/none.js")).fields, reply_of(here, foreign).fields,
        here.reply(call, answer("{}")).fields, std::get<EventStream>(stream).fields}) {
    EXPECT_THAT(fields,
                HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
                          "img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; "
                          "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'\r\n"));
    EXPECT_THAT(fields, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(fields, HasSubstr("Referrer-Policy: no-referrer\r\n"));
    EXPECT_THAT(fields, HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n"));
    EXPECT_THAT(fields, Not(HasSubstr("Access-Control")));
    EXPECT_THAT(fields, Not(HasSubstr("unsafe")));
  }
}

TEST(Site, RejectsStrangersWithAHelpfulMessage) {
  Request request = get("/api/runs");
  request.caller.host = "evil.example";
  Reply reply = reply_of(site(), request);
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(body_of(reply), AllOf(HasSubstr("{\"error\":\""), HasSubstr("does not answer to this name")));
  request.caller = {.host = "localhost:6006", .origin = "http://evil.example"};
  reply = reply_of(site(), request);
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(body_of(reply), HasSubstr("--allow-origin"));
  request.caller = {};
  EXPECT_EQ(reply_of(site(), request).status, 400);
  const Site open = site({.host = "0.0.0.0", .loopback = false});
  for (const char* target : {"/", "/api/runs", "/api/events", "/assets/index-abc.js"}) {
    reply = reply_of(open, get(target));
    EXPECT_EQ(reply.status, 401) << target;
    EXPECT_THAT(body_of(reply), HasSubstr("token"));
    EXPECT_THAT(body_of(reply), Not(HasSubstr(kToken)));
  }
}

TEST(Site, TakesTheTokenOutOfTheAddress) {
  const Site open = site({.host = "0.0.0.0", .loopback = false});
  const Reply reply = reply_of(open, get("/?token=correct-horse-battery"));
  EXPECT_EQ(reply.status, 303);
  EXPECT_THAT(reply.fields,
              AllOf(HasSubstr("Location: ./\r\n"), HasSubstr("Cache-Control: no-store\r\n"),
                    HasSubstr("Set-Cookie: sonde-6006=correct-horse-battery; Path=/; HttpOnly; SameSite=Strict")));
  EXPECT_THAT(reply_of(open, get("/metrics?a=1&token=correct-horse-battery&b=2")).fields,
              HasSubstr("Location: ./metrics?a=1&b=2\r\n"));
  for (const char* target : {"/?token=", "/?token", "/?token=wrong", "/?token=correct-horse-batter"}) {
    EXPECT_EQ(reply_of(open, get(target)).status, 401) << target;
    EXPECT_THAT(reply_of(open, get(target)).fields, Not(HasSubstr("Set-Cookie"))) << target;
  }
  Request rebound = get("/?token=correct-horse-battery");
  rebound.caller.host = "evil.example";
  EXPECT_EQ(reply_of(open, rebound).status, 403);
}

TEST(Site, HasABrowserAskAgainThatKeptItsCookieBack) {
  const Site open = site({.host = "0.0.0.0", .loopback = false});
  Request request = get("/");
  request.caller.fetch_site = "cross-site";
  request.caller.fetch_mode = "navigate";
  EXPECT_THAT(reply_of(open, request).fields, HasSubstr("Refresh: 0\r\n"));
  request.caller.fetch_site = "same-origin";
  EXPECT_THAT(reply_of(open, request).fields, Not(HasSubstr("Refresh")));
}

TEST(Site, LetsAllowedOriginsAskAndFrameIt) {
  const Site shared = site({.allow_origins = {"https://board.example"}});
  Request beforehand = get("/api/series");
  beforehand.method = "OPTIONS";
  beforehand.caller.origin = "https://board.example";
  beforehand.requested_method = "POST";
  Reply reply = reply_of(shared, beforehand);
  EXPECT_EQ(reply.status, 204);
  EXPECT_THAT(reply.fields, AllOf(HasSubstr("Access-Control-Allow-Origin: https://board.example\r\n"),
                                  HasSubstr("Access-Control-Allow-Headers: Authorization"),
                                  HasSubstr("frame-ancestors 'self' https://board.example\r\n"),
                                  Not(HasSubstr("Allow-Credentials"))));
  beforehand.caller.origin = "https://evil.example";
  EXPECT_EQ(reply_of(shared, beforehand).status, 403);

  Request request = get("/api/runs");
  request.caller.origin = "https://board.example";
  EXPECT_EQ(reply_of(shared, request).status, 401);
  request.caller.authorization = "Bearer correct-horse-battery";
  const Plan plan = shared.plan(request);
  EXPECT_THAT(std::get<ApiCall>(plan).fields, HasSubstr("Access-Control-Allow-Origin: https://board.example\r\n"));
}

TEST(Site, LivesBelowAPathPrefix) {
  const Site below = site({}, "/boards/mine");
  EXPECT_EQ(body_of(reply_of(below, get("/boards/mine/"))), kPage);
  EXPECT_EQ(body_of(reply_of(below, get("/boards/mine/assets/index-abc.js"))), "script");
  EXPECT_TRUE(std::holds_alternative<ApiCall>(below.plan(get("/boards/mine/api/runs"))));
  const Reply slash = reply_of(below, get("/boards/mine?x=1"));
  EXPECT_EQ(slash.status, 308);
  EXPECT_THAT(slash.fields, HasSubstr("Location: mine/?x=1\r\n"));
  for (const char* target : {"/", "/api/runs", "/boards/minestrone/", "/boards"}) {
    const Reply reply = reply_of(below, get(target));
    EXPECT_EQ(reply.status, 404) << target;
    EXPECT_THAT(body_of(reply), HasSubstr("/boards/mine/"));
  }
  EXPECT_THAT(reply_of(below, get("/boards/mine/?token=correct-horse-battery")).fields,
              HasSubstr("Path=/boards/mine/;"));
}

TEST(Site, PathPrefixesAreWrittenInOneWay) {
  for (const char* prefix : {"", "/", "//"}) EXPECT_EQ(*normal_prefix(prefix), "");
  for (const char* prefix : {"x", "/x", "x/", "/x/"}) EXPECT_EQ(*normal_prefix(prefix), "/x");
  for (const char* prefix : {"/a b", "/a//b", "/../x", "/x/.", "/x\r\n", "/x?y", "/x#"})
    EXPECT_FALSE(normal_prefix(prefix)) << prefix;
}

TEST(Site, CompressesAnswersIfItIsWorthIt) {
  const Site here = site();
  ApiCall call;
  call.gzip = true;
  const std::string large(5000, 'x');
  const Reply reply = here.reply(call, answer(large, "\"17\""));
  EXPECT_THAT(reply.fields, HasSubstr("ETag: W/\"17\"\r\n"));
  EXPECT_THAT(reply.content_fields, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_FALSE(reply.in_parts);
  const base::Bytes packed = reply.body();
  const auto expanded = deflate::expand({&packed, 1}, deflate::Wrapper::gzip, large.size());
  ASSERT_TRUE(expanded);
  EXPECT_EQ(large, std::string_view(reinterpret_cast<const char*>(expanded->data()), expanded->size()));

  EXPECT_EQ(body_of(here.reply(call, answer(std::string(1023, 'x')))), std::string(1023, 'x'));
  query::Answer image = answer(large);
  image.content_type = "image/png";
  EXPECT_EQ(body_of(here.reply(call, image)), large);
  call.gzip = false;
  EXPECT_EQ(body_of(here.reply(call, answer(large))), large);
}

TEST(Site, Answers304ToClientsThatHaveTheAnswer) {
  const Wanted wanted{.if_none_match = "W/\"17\""};
  EXPECT_EQ(part_of(site().reply({}, answer("{}", "\"17\"")), wanted).status, 304);
  EXPECT_EQ(part_of(site().reply({}, answer("{}", "\"18\"")), wanted).status, 200);
  EXPECT_EQ(part_of(site().reply({}, answer("{}")), wanted).status, 200);
}

TEST(Site, SendsSoundInParts) {
  query::Answer sound = answer(std::string(5000, 'x'), "\"17\"");
  sound.content_type = "audio/wav";
  ApiCall call;
  call.gzip = true;
  const Reply reply = site().reply(call, sound);
  EXPECT_TRUE(reply.in_parts);
  EXPECT_EQ(part_of(reply, {.range = "bytes=100-199"}).length, 100U);
}

TEST(Site, NamesDownloadsHarmlessly) {
  query::Answer download = answer("x");
  download.file_name = "a/b\"\r\nX: y.csv";
  const Reply reply = site().reply({}, download);
  EXPECT_THAT(reply.content_fields, HasSubstr("Content-Disposition: attachment; filename=\"a_b___X__y.csv\"\r\n"));
}

}  // namespace
}  // namespace sonde::server
