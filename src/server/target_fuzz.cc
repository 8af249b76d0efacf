// The parts of a request, as lines: method, target, Host, Origin, Cookie, Authorization, Sec-Fetch-Site,
// Sec-Fetch-Mode, Accept-Encoding, If-None-Match, Last-Event-ID, Access-Control-Request-Method, Range, If-Range.
// For any input, the reply and its parts are well formed, leak nothing, and strangers get none.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/site.h"

namespace {

using sonde::server::ApiCall;
using sonde::server::Asset;
using sonde::server::EventStream;
using sonde::server::Gate;
using sonde::server::Part;
using sonde::server::Plan;
using sonde::server::Reply;
using sonde::server::Request;
using sonde::server::Site;
using sonde::server::Wanted;

constexpr std::string_view kToken = "correct-horse-battery";

void require(bool condition) {
  if (!condition) std::abort();
}

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

const Site& site(int which) {
  static const std::array kFiles = {Asset{"assets/a.js", "text/javascript", "\"a\"", bytes("plain"), bytes("gz")},
                                    Asset{"index.html", "text/html", "\"b\"", bytes("page"), {}}};
  static const std::string kWord(kToken);
  static const std::array kSites = {
      Site(*Gate::make({.host = "127.0.0.1", .token = kWord}), "", kFiles),
      Site(*Gate::make({.host = "0.0.0.0", .loopback = false, .machine = "gpu1", .token = kWord}), "/x/y", kFiles),
      Site(*Gate::make({.host = "127.0.0.1", .allow_origins = {"https://board.example"}, .token = kWord}), "", kFiles)};
  return kSites[static_cast<std::size_t>(which)];
}

std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  return line;
}

// "Name: value" lines and nothing that could end the header early.
void check_fields(std::string_view fields) {
  while (!fields.empty()) {
    const std::size_t end = fields.find("\r\n");
    require(end != std::string_view::npos && end > 0);
    const std::string_view line = fields.substr(0, end);
    require(line.find(": ") != std::string_view::npos);
    for (const char c : line) require(c >= 0x20 && c < 0x7f);
    fields.remove_prefix(end + 2);
  }
}

void check_part(const Reply& reply, const Wanted& wanted) {
  const Part part = part_of(reply, wanted);
  check_fields(part.fields);
  const std::span<const std::byte> all = reply.body();
  if (part.status == 206) {
    require(reply.status == 200 && reply.in_parts && !part.body.empty());
    require(part.body.data() >= all.data() && part.body.data() + part.body.size() <= all.data() + all.size());
  } else if (part.status == 304 || part.status == 416) {
    require(reply.status == 200 && !reply.etag.empty());
  } else {
    require(part.status == reply.status && part.length == all.size());
  }
  require(wanted.head || part.length == part.body.size());
}

void check(const Site& from, const Request& request, const Wanted& wanted) {
  const Plan plan = from.plan(request);
  const auto host = sonde::server::parse_host(request.caller.host);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool answered = !std::holds_alternative<Reply>(plan) || std::get<Reply>(plan).status == 200;
  if (answered) {
    require(host.has_value());
    require(from.gate().judge(request.caller, reads) == sonde::server::Verdict::welcome);
    if (from.gate().token_for_all()) require(from.gate().has_token(request.caller));
  }
  if (const auto* const reply = std::get_if<Reply>(&plan)) {
    constexpr std::array kStatuses = {200, 204, 303, 308, 400, 401, 403, 404, 405};
    require(std::ranges::find(kStatuses, reply->status) != kStatuses.end());
    check_fields(reply->fields);
    // The token is sent only to a client that has just presented it.
    const bool shown = request.target.find(kToken) != std::string_view::npos;
    if (!shown) require(reply->fields.find(kToken) == std::string::npos);
    // An error message may quote the request.
    if (!shown && reply->status != 400) require(reply->text.find(kToken) == std::string::npos);
    check_part(*reply, wanted);
  } else if (const auto* const call = std::get_if<ApiCall>(&plan)) {
    check_fields(call->fields);
    require(!call->question.may_write || from.gate().has_token(request.caller));
    sonde::query::Answer answer;
    answer.body = "0123456789";
    answer.etag = "\"1\"";
    answer.content_type = "audio/wav";
    check_part(from.reply(*call, answer), wanted);
  } else {
    check_fields(std::get<EventStream>(plan).fields);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  Request request;
  Wanted wanted;
  for (std::string_view* part :
       {&request.method, &request.target, &request.caller.host, &request.caller.origin, &request.caller.cookie,
        &request.caller.authorization, &request.caller.fetch_site, &request.caller.fetch_mode, &request.accept_encoding,
        &wanted.if_none_match, &request.last_event_id, &request.requested_method, &wanted.range, &wanted.if_range}) {
    *part = next_line(rest);
  }
  wanted.head = request.method == "HEAD";
  for (int which = 0; which < 3; ++which) check(site(which), request, wanted);
  return 0;
}
