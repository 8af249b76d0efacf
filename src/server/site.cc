#include "server/site.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "formats/deflate.h"
#include "formats/json_writer.h"
#include "query/request.h"

namespace sonde::server {
namespace {

constexpr std::size_t kWorthCompressing = 1024;  // bytes
constexpr std::string_view kApi = "/api/";

// An address as the standard allows it has nothing else in it.
bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool takes_gzip(std::string_view accept_encoding) {
  bool takes = false;
  each_listed(accept_encoding, [&](std::string_view one) {
    const std::string_view name = one.substr(0, one.find_first_of("; \t"));
    const bool refused = one.ends_with("q=0") || one.find("q=0.0") != std::string_view::npos;
    if (name == "gzip") takes = !refused;
  });
  return takes;
}

std::string content_security_policy(const Gate& gate) {
  std::string policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; "
      "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
  for (const std::string& origin : gate.origins()) policy += " " + origin;
  return policy;
}

// Whatever a log's names have in them, a file name has only what every system takes.
std::string safe_file_name(std::string name) {
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

bool compresses(std::string_view content_type) {
  return !content_type.starts_with("image/") && !content_type.starts_with("audio/");
}

// The query without one parameter, and that parameter's value.
struct Taken {
  std::optional<std::string> value;
  std::string rest;
};
Taken take(std::string_view query, std::string_view name) {
  Taken taken;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    if (one.substr(0, one.find('=')) == name) {
      taken.value = one.size() > name.size() ? one.substr(name.size() + 1) : "";
    } else if (!one.empty()) {
      taken.rest.append(taken.rest.empty() ? "" : "&").append(one);
    }
  }
  return taken;
}

std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::uint64_t revision_of(std::string_view last_event_id) {
  std::uint64_t revision = 0;
  const auto end = std::from_chars(last_event_id.data(), last_event_id.data() + last_event_id.size(), revision);
  return end.ec == std::errc{} && end.ptr == last_event_id.data() + last_event_id.size() ? revision : 0;
}

}  // namespace

Result<std::string> normal_prefix(std::string_view prefix) {
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (prefix.empty()) return std::string();
  const bool plain = std::ranges::all_of(prefix, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/-_.~").find(c) != std::string_view::npos;
  });
  std::string path("/");
  path.append(prefix).append("/");
  if (!plain || path.find("//") != std::string::npos || path.find("/../") != std::string::npos ||
      path.find("/./") != std::string::npos) {
    std::string sentence("'");
    sentence.append(prefix).append("' is not a valid path prefix: use letters, digits, '-', '_', '.', '~' and single ");
    return Status(Code::invalid_argument, sentence.append("slashes, such as /boards/mine"));
  }
  path.pop_back();
  return path;
}

Site::Site(Gate gate, std::string path_prefix, std::span<const Asset> assets)
    : gate_(std::move(gate)), prefix_(std::move(path_prefix)), assets_(assets) {
  common_fields_ = header_field("Content-Security-Policy", content_security_policy(gate_)) +
                   header_field("X-Content-Type-Options", "nosniff") + header_field("Referrer-Policy", "no-referrer") +
                   header_field("Cross-Origin-Resource-Policy", "same-origin") +
                   header_field("Cross-Origin-Opener-Policy", "same-origin") +
                   header_field("Vary", "Accept-Encoding, Origin");
}

Reply Site::refusal(int status, std::string_view sentence, bool api, std::string_view allow) const {
  Reply reply;
  reply.status = status;
  reply.fields = common_fields_ + header_field("Cache-Control", "no-store");
  if (status == 405) reply.fields += header_field("Allow", allow);
  if (status == 401) reply.fields += header_field("WWW-Authenticate", "Bearer");
  if (status == 429 || status == 503) reply.fields += header_field("Retry-After", "1");
  reply.content_fields = header_field("Content-Type", api ? "application/json" : "text/plain; charset=utf-8");
  reply.text =
      api ? formats::JsonWriter().object().key("error").text(sentence).end().take() : std::string(sentence) + "\n";
  return reply;
}

Reply Site::refuse_caller(const Request& request, Verdict verdict, bool api) const {
  switch (verdict) {
    case Verdict::bad_host: return refusal(400, "the request has no valid Host", api);
    case Verdict::foreign_host:
      return refusal(403,
                     "this server does not answer to this name: open the address that 'sonde serve' printed, "
                     "or start it with --allow-origin and the address of the proxy",
                     api);
    case Verdict::foreign_origin:
      return refusal(403,
                     "this server answers only its own page: to allow another one, start it with --allow-origin "
                     "and that page's origin",
                     api);
    case Verdict::needs_token:
    case Verdict::welcome: break;
  }
  Reply reply = refusal(401, "a token is needed here: open the address that 'sonde serve' printed, which has it", api);
  // A browser that has followed a link from elsewhere keeps back the cookie that it has. It sends it when the page asks
  // for itself again; then the site is no longer another one, so this happens once.
  if (!api && request.caller.fetch_site == "cross-site") reply.fields += header_field("Refresh", "0");
  return reply;
}

std::string Site::cors_fields(const Request& request) const {
  if (gate_.origins().empty() || request.caller.origin.empty()) return {};
  const std::optional<std::string> origin = gate_.allowed_origin(request.caller.origin);
  if (!origin) return {};
  return header_field("Access-Control-Allow-Origin", *origin) + header_field("Access-Control-Expose-Headers", "ETag");
}

Reply Site::preflight(const Request& request, bool api) const {
  const std::string cors = cors_fields(request);
  if (cors.empty() || request.requested_method.empty() || !api) {
    return refusal(405, "allowed methods are GET, HEAD and POST, and OPTIONS for allowed origins", api);
  }
  Reply reply;
  reply.status = 204;
  reply.fields = common_fields_ + cors + header_field("Access-Control-Allow-Methods", "GET, HEAD, POST") +
                 header_field("Access-Control-Allow-Headers",
                              "Authorization, Content-Type, If-None-Match, If-Range, Last-Event-ID, Range") +
                 header_field("Access-Control-Max-Age", "600");
  return reply;
}

Plan Site::plan(const Request& request) const {
  const std::string_view target = request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = path.size() < target.size() ? target.substr(path.size() + 1) : "";
  const bool below = path.starts_with(prefix_) && path.substr(prefix_.size()).starts_with('/');
  const bool api = below && path.substr(prefix_.size()).starts_with(kApi);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!target.starts_with('/') || !is_printable(target)) {
    return refusal(400, "the address of the request is invalid: it must be a path of this server", true);
  }
  // Browsers ask beforehand without the token.
  const bool asks_beforehand = request.method == "OPTIONS";
  const bool shows_token = reads && !api && take(query, "token").value.has_value();
  const Verdict verdict =
      asks_beforehand || shows_token ? gate_.judge_address(request.caller, reads) : gate_.judge(request.caller, reads);
  if (verdict != Verdict::welcome) return refuse_caller(request, verdict, api);
  if (asks_beforehand) return preflight(request, api);
  if (!reads && request.method != "POST") return refusal(405, "allowed methods are GET, HEAD and POST", api);
  if (!prefix_.empty() && path == prefix_) {
    // As seen by the browser, so that a proxy may have its own prefix.
    Reply reply = refusal(308, "the page is at this address with a slash at its end", false);
    reply.fields +=
        header_field("Location", std::string(last_part(path)) + "/" + std::string(target.substr(path.size())));
    return reply;
  }
  if (!below) return refusal(404, "there is nothing here: the page is at " + prefix_ + "/", false);
  return plan_below_prefix(request, path.substr(prefix_.size()), query, reads);
}

Plan Site::plan_below_prefix(const Request& request, std::string_view path, std::string_view query, bool reads) const {
  if (!path.starts_with(kApi)) {
    if (!reads) return refusal(405, "nothing can be sent to this address", false, "GET, HEAD");
    return take(query, "token").value ? take_token(request, path, query) : page(request, path);
  }
  const std::string_view name = path.substr(kApi.size());
  if (name == "events") return plan_stream(request, query, reads);
  ApiCall call;
  call.question.method = reads ? query::Question::Method::get : query::Question::Method::post;
  call.question.path = name;
  call.question.query = query;
  call.question.may_write = gate_.has_token(request.caller);
  call.gzip = takes_gzip(request.accept_encoding);
  call.fields = cors_fields(request);
  return call;
}

Plan Site::plan_stream(const Request& request, std::string_view query, bool reads) const {
  const std::string cors = cors_fields(request);
  const auto refused = [&](Reply reply) {
    reply.fields += cors;
    return reply;
  };
  if (!reads) return refused(refusal(405, "events needs GET", true, "GET, HEAD"));
  constexpr std::string_view kSeen[] = {"seen"};
  const auto params = query::Params::parse(query, kSeen);
  if (!params) return refused(refusal(400, params.error().message(), true));
  const auto seen = params->integer("seen", 0, 0, INT64_MAX);
  if (!seen) return refused(refusal(400, seen.error().message(), true));
  EventStream stream;
  // A client that reconnects has seen more than when it connected first.
  stream.seen = std::max(revision_of(request.last_event_id), static_cast<std::uint64_t>(*seen));
  stream.fields = common_fields_ + cors + header_field("Content-Type", "text/event-stream") +
                  header_field("Cache-Control", "no-store") + header_field("X-Accel-Buffering", "no");
  return stream;
}

// Puts the token into a cookie and out of the address, and with it out of the history and of pictures of the screen.
Reply Site::take_token(const Request& request, std::string_view path, std::string_view query) const {
  const Taken taken = take(query, "token");
  if (!gate_.is_token(*taken.value)) {
    return refusal(401, "this token is wrong: open the address that 'sonde serve' printed", false);
  }
  Reply reply = refusal(303, "the page is at the same address without the token", false);
  reply.fields += header_field("Set-Cookie", gate_.cookie(request.caller, prefix_ + "/"));
  reply.fields +=
      header_field("Location", "./" + std::string(last_part(path)) + (taken.rest.empty() ? "" : "?" + taken.rest));
  return reply;
}

Reply Site::page(const Request& request, std::string_view path) const {
  std::string_view name = path.substr(1);
  if (name.empty()) name = "index.html";
  const auto found = std::ranges::find(assets_, name, &Asset::path);
  if (found == assets_.end()) {
    return name == "index.html" ? refusal(404, "this program was built without the page; its API is below api/", false)
                                : refusal(404, "there is no such file; the page is at " + prefix_ + "/", false);
  }
  const Asset& asset = *found;
  const bool packed = !asset.gzip.empty() && takes_gzip(request.accept_encoding);
  // A file whose name has the hash of its content never changes.
  const bool hashed = asset.path.starts_with("assets/");
  Reply reply;
  reply.etag = asset.etag;
  reply.fields = common_fields_ + header_field("ETag", asset.etag) +
                 header_field("Cache-Control", hashed ? "private, max-age=31536000, immutable" : "no-cache");
  reply.content_fields = header_field("Content-Type", asset.content_type);
  if (packed) reply.content_fields += header_field("Content-Encoding", "gzip");
  reply.bytes = packed ? asset.gzip : asset.plain;
  return reply;
}

Reply Site::reply(const ApiCall& call, query::Answer answer) const {
  const bool reads = call.question.method == query::Question::Method::get;
  std::string packed;
  if (call.gzip && answer.compress && answer.body.size() >= kWorthCompressing && compresses(answer.content_type)) {
    const Status status = deflate::compress(std::as_bytes(std::span(answer.body)), deflate::Wrapper::gzip, packed);
    if (!status || packed.size() >= answer.body.size()) packed.clear();
  }
  Reply reply;
  reply.status = answer.status;
  reply.fields =
      common_fields_ + call.fields + header_field("Cache-Control", answer.etag.empty() ? "no-store" : "no-cache");
  if (answer.status == 401) reply.fields += header_field("WWW-Authenticate", "Bearer");
  if (answer.status == 405) reply.fields += header_field("Allow", reads ? "POST" : "GET, HEAD");
  if (!answer.etag.empty()) {
    // The same answer, but not the same bytes, compressed or not: that is what a weak tag says.
    reply.etag = (packed.empty() || answer.etag.starts_with("W/") ? "" : "W/") + answer.etag;
    reply.fields += header_field("ETag", reply.etag);
  }
  reply.in_parts = !reply.etag.empty() && packed.empty();
  reply.content_fields = header_field("Content-Type", answer.content_type);
  if (!packed.empty()) reply.content_fields += header_field("Content-Encoding", "gzip");
  if (!answer.file_name.empty()) {
    reply.content_fields += header_field(
        "Content-Disposition", "attachment; filename=\"" + safe_file_name(std::move(answer.file_name)) + "\"");
  }
  reply.text = packed.empty() ? std::move(answer.body) : std::move(packed);
  return reply;
}

}  // namespace sonde::server
