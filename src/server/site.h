// Decides the answer to a request: a file of the page, an answer of the query API, the event stream, or a rejection.
// Knows no sockets, so that all of it can be tested and fuzzed by calling it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "query/api.h"
#include "server/assets.h"
#include "server/gate.h"
#include "server/reply.h"
#include "sonde/status.h"

namespace sonde::server {

// The relevant parts of a request; views into it.
struct Request {
  std::string_view method = {};  // "GET"
  std::string_view target = {};  // "/api/runs?x=y", as sent
  Caller caller = {};
  std::string_view accept_encoding = {};
  std::string_view last_event_id = {};
  std::string_view requested_method = {};  // Access-Control-Request-Method
};

// A question for the API, to be asked on a thread that may wait.
struct ApiCall {
  query::Question question;  // without the body; views into the request
  bool gzip = false;         // the client accepts it
  std::string fields;        // additional header fields of the reply
};

// The reply's header; events follow until one side closes the connection.
struct EventStream {
  std::string fields;
  std::uint64_t seen = 0;  // the revision that the client knows
};

using Plan = std::variant<Reply, ApiCall, EventStream>;

class Site {
 public:
  // `path_prefix` is empty or "/x/y". The assets live as long as the site.
  Site(Gate gate, std::string path_prefix, std::span<const Asset> assets);

  Plan plan(const Request& request) const;
  // Compresses if it is worth it: not for the socket thread.
  Reply reply(const ApiCall& call, query::Answer answer) const;
  // An error message, as JSON for the API or as plain text. `allow` is the list of methods for a 405.
  Reply refusal(int status, std::string_view sentence, bool api,
                std::string_view allow = "GET, HEAD, POST, OPTIONS") const;

  const Gate& gate() const noexcept { return gate_; }

 private:
  Plan plan_below_prefix(const Request& request, std::string_view path, std::string_view query, bool reads) const;
  Plan plan_stream(const Request& request, std::string_view query, bool reads) const;
  Reply refuse_caller(const Request& request, Verdict verdict, bool api) const;
  Reply preflight(const Request& request, bool api) const;
  Reply take_token(const Request& request, std::string_view path, std::string_view query) const;
  Reply page(const Request& request, std::string_view path) const;
  std::string cors_fields(const Request& request) const;

  Gate gate_;
  std::string prefix_;
  std::span<const Asset> assets_;
  std::string common_fields_;  // of every reply
};

// Normalises `--path-prefix`: "x", "/x/" and "/x" are "/x"; "" and "/" are "". Fails if it cannot be part of an
// address.
Result<std::string> normal_prefix(std::string_view prefix);

}  // namespace sonde::server
