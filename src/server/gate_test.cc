#include "server/gate.h"

#include <gtest/gtest.h>

#include <set>

#include "server/token.h"

namespace sonde::server {
namespace {

constexpr std::string_view kToken = "correct-horse-battery";

Gate gate(GateOptions options = {}) {
  if (options.token.empty()) options.token = kToken;
  if (options.host.empty()) options.host = "127.0.0.1";
  Result<Gate> made = Gate::make(std::move(options));
  EXPECT_TRUE(made) << made.status().message();
  return *std::move(made);
}

Gate open_gate() { return gate({.host = "0.0.0.0", .loopback = false, .machine = "gpu1"}); }

TEST(Token, AreLongPlainAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto token = make_token();
    ASSERT_TRUE(token);
    EXPECT_EQ(token->size(), 32U);
    EXPECT_TRUE(check_token(*token)) << *token;
    EXPECT_TRUE(seen.insert(*token).second);
  }
}

TEST(Token, MustBeValidInAnAddressAndACookie) {
  for (const char* token : {"a", "A-b_c.d~9", "secret"}) EXPECT_TRUE(check_token(token)) << token;
  for (const std::string& token : {std::string(), std::string("a b"), std::string("a;b"), std::string("a&b"),
                                   std::string("a\r\nb"), std::string("\xc3\xa4"), std::string(257, 'a')}) {
    EXPECT_FALSE(check_token(token)) << token;
  }
}

TEST(Token, IsTheSameOnlyAsAWhole) {
  EXPECT_TRUE(same_token("abc", "abc"));
  for (const char* given : {"", "a", "ab", "abd", "abcabc", "abca", "ABC"})
    EXPECT_FALSE(same_token(given, "abc")) << given;
  EXPECT_FALSE(same_token("", ""));
  EXPECT_FALSE(same_token("a", ""));
}

TEST(Host, IsReadAsTheStandardSays) {
  const auto text = [](std::string_view from) {
    const auto host = parse_host(from);
    return host ? host->name + " " + std::to_string(host->port) : "none";
  };
  EXPECT_EQ(text("localhost"), "localhost 0");
  EXPECT_EQ(text("LocalHost:6006"), "localhost 6006");
  EXPECT_EQ(text("localhost.:80"), "localhost 80");
  EXPECT_EQ(text("[::1]:6006"), "::1 6006");
  EXPECT_EQ(text("[FE80::1]"), "fe80::1 0");
  EXPECT_EQ(text("10.0.0.7"), "10.0.0.7 0");
  for (const char* bad : {"",
                          ":80",
                          "a b",
                          "a@b",
                          "a/b",
                          "a:",
                          "a:x",
                          "a:0",
                          "a:65536",
                          "a:+80",
                          "[::1",
                          "[]",
                          "[x]",
                          "::1",
                          "a..b",
                          ".a",
                          "evil.example#localhost",
                          "localhost:80:80",
                          "[::1]x",
                          "a\\b",
                          "a%00"}) {
    EXPECT_EQ(text(bad), "none") << bad;
  }
}

TEST(Host, IsLoopbackOnlyForLocalAddresses) {
  for (const char* name : {"localhost", "127.0.0.1", "127.1.2.3", "[::1]"}) {
    EXPECT_TRUE(parse_host(name)->is_loopback()) << name;
  }
  for (const char* name : {"127.evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil-localhost",
                           "1270.0.0.1", "127.0.0", "[::2]", "128.0.0.1"}) {
    EXPECT_FALSE(parse_host(name)->is_loopback()) << name;
  }
}

TEST(Gate, RejectsNamesThatOthersCanPointHere) {
  const Gate local = gate();
  for (const char* name : {"localhost", "localhost:6006", "127.0.0.1:6006", "[::1]:6006", "localhost:8080"}) {
    EXPECT_EQ(local.judge({.host = name}, true), Verdict::welcome) << name;
  }
  for (const char* name : {"evil.example", "evil.example:6006", "10.0.0.7", "gpu1", "127.0.0.1.evil.example"}) {
    EXPECT_EQ(local.judge({.host = name}, true), Verdict::foreign_host) << name;
  }
  EXPECT_EQ(local.judge({.host = ""}, true), Verdict::bad_host);
  EXPECT_EQ(local.judge({.host = "a b"}, true), Verdict::bad_host);
}

TEST(Gate, KnowsTheNameThatItListensOn) {
  const Gate named = gate({.host = "board.internal", .loopback = true});
  EXPECT_EQ(named.judge({.host = "board.internal:6006"}, true), Verdict::welcome);
}

TEST(Gate, AnswersItsOwnPageAlone) {
  const Gate local = gate();
  const auto judge = [&](std::string_view origin, std::string_view host = "localhost:6006") {
    return local.judge({.host = host, .origin = origin}, false);
  };
  EXPECT_EQ(judge("http://localhost:6006"), Verdict::welcome);
  EXPECT_EQ(judge("https://localhost:6006"), Verdict::welcome);  // a proxy that takes care of the encryption
  EXPECT_EQ(judge("http://localhost", "localhost"), Verdict::welcome);
  EXPECT_EQ(judge("https://localhost", "localhost:443"), Verdict::welcome);
  for (const char* origin : {"http://localhost:8888", "http://127.0.0.1:6006", "https://evil.example", "null",
                             "http://localhost:6006.evil.example", "file://", "garbage"}) {
    EXPECT_EQ(judge(origin), Verdict::foreign_origin) << origin;
  }
}

TEST(Gate, DistinguishesNavigationFromOtherPagesRequests) {
  const Gate local = gate();
  const auto judge = [&](std::string_view site, std::string_view mode, bool reads = true) {
    return local.judge({.host = "localhost", .fetch_site = site, .fetch_mode = mode}, reads);
  };
  EXPECT_EQ(judge("", ""), Verdict::welcome);  // no browser, or an old one
  EXPECT_EQ(judge("none", "navigate"), Verdict::welcome);
  EXPECT_EQ(judge("same-origin", "cors"), Verdict::welcome);
  EXPECT_EQ(judge("cross-site", "navigate"), Verdict::welcome);
  EXPECT_EQ(judge("cross-site", "no-cors"), Verdict::foreign_origin);
  EXPECT_EQ(judge("same-site", "no-cors"), Verdict::foreign_origin);
  EXPECT_EQ(judge("cross-site", "navigate", false), Verdict::foreign_origin);  // a form
}

TEST(Gate, AcceptsABrowserThatHidesTheOriginOfItsOwnPage) {
  const Caller caller{.host = "localhost", .origin = "null", .fetch_site = "same-origin"};
  EXPECT_EQ(gate().judge(caller, false), Verdict::welcome);
}

TEST(Gate, NeedsTheTokenForAllBeyondLoopback) {
  const Gate open = open_gate();
  EXPECT_TRUE(open.token_for_all());
  for (const char* name : {"gpu1:6006", "gpu1.cluster.example", "10.0.0.7:6006", "[fd00::7]", "localhost"}) {
    EXPECT_EQ(open.judge({.host = name}, true), Verdict::needs_token) << name;
    EXPECT_EQ(open.judge({.host = name, .authorization = "Bearer correct-horse-battery"}, true), Verdict::welcome)
        << name;
  }
  EXPECT_EQ(open.judge({.host = "evil.example"}, true), Verdict::foreign_host);
  EXPECT_FALSE(gate().token_for_all());
}

TEST(Gate, NeedsTheTokenForAllIfOtherOriginsAreAllowed) {
  const Gate shared = gate({.allow_origins = {"https://Board.example/", "http://localhost:8888"}});
  EXPECT_TRUE(shared.token_for_all());
  EXPECT_EQ(shared.origins(), (std::vector<std::string>{"https://board.example", "http://localhost:8888"}));
  const auto judge = [&](std::string_view host, std::string_view origin, std::string_view authorization) {
    return shared.judge({.host = host, .origin = origin, .authorization = authorization}, true);
  };
  EXPECT_EQ(judge("localhost", "", ""), Verdict::needs_token);
  EXPECT_EQ(judge("board.example", "https://board.example", "Bearer correct-horse-battery"), Verdict::welcome);
  EXPECT_EQ(judge("127.0.0.1:6006", "https://board.example", "Bearer correct-horse-battery"), Verdict::welcome);
  EXPECT_EQ(judge("127.0.0.1:6006", "https://evil.example", "Bearer correct-horse-battery"), Verdict::foreign_origin);
  EXPECT_EQ(shared.allowed_origin("http://localhost:8888"), "http://localhost:8888");
  EXPECT_EQ(shared.allowed_origin("http://localhost:6006"), std::nullopt);
}

TEST(Gate, AllowsOnlyValidOrigins) {
  for (const char* origin : {"*", "null", "example.org", "https://example.org/path", "ftp://example.org", ""}) {
    const auto made = Gate::make({.host = "127.0.0.1", .allow_origins = {origin}, .token = std::string(kToken)});
    ASSERT_FALSE(made) << origin;
    EXPECT_NE(made.error().message().find("is not a valid origin"), std::string::npos);
  }
}

TEST(Gate, TakesTheTokenFromTheHeaderOrTheCookieOfItsPort) {
  const Gate local = gate();
  const auto has = [&](std::string_view authorization, std::string_view cookie,
                       std::string_view host = "localhost:6006") {
    return local.has_token({.host = host, .cookie = cookie, .authorization = authorization});
  };
  EXPECT_TRUE(has("Bearer correct-horse-battery", ""));
  EXPECT_TRUE(has("bearer  correct-horse-battery ", ""));
  EXPECT_TRUE(has("", "sonde-6006=correct-horse-battery"));
  EXPECT_TRUE(has("", "a=b; sonde-6006=wrong; sonde-6006=correct-horse-battery;c"));
  EXPECT_TRUE(has("", "sonde-0=correct-horse-battery", "localhost"));
  EXPECT_FALSE(has("", ""));
  EXPECT_FALSE(has("Basic correct-horse-battery", "sonde-6006"));
  EXPECT_FALSE(has("Bearer correct-horse-batter", "sonde-6007=correct-horse-battery"));
  EXPECT_FALSE(has("", "xsonde-6006=correct-horse-battery; ;=;;"));
}

TEST(Gate, GivesACookieThatOnlyThisServersOwnPageSends) {
  EXPECT_EQ(gate().cookie({.host = "localhost:7000"}, "/x/"),
            "sonde-7000=correct-horse-battery; Path=/x/; HttpOnly; SameSite=Strict; Max-Age=2592000");
}

}  // namespace
}  // namespace sonde::server
