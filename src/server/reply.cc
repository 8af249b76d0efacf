#include "server/reply.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace sonde::server {
namespace {

std::string_view without_weakness(std::string_view etag) { return etag.starts_with("W/") ? etag.substr(2) : etag; }

bool matches(std::string_view if_none_match, std::string_view etag) {
  bool found = false;
  each_listed(if_none_match, [&](std::string_view one) { found = found || one == "*" || same_answer(one, etag); });
  return found;
}

// Bytes of a body, none or more.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Only digits; a number that is too large exceeds any body.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
  return end.ec == std::errc::result_out_of_range ? UINT64_MAX : value;
}

// "bytes=0-99", "bytes=100-", "bytes=-100". Nothing if it is invalid or asks for several parts: such a range is
// ignored. Empty if it is beyond the body.
std::optional<Range> range_of(std::string_view text, std::size_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> last = number(text.substr(dash + 1));
  if (dash == 0) {
    if (!last) return std::nullopt;
    return Range{size - static_cast<std::size_t>(std::min<std::uint64_t>(*last, size)), size};
  }
  const std::optional<std::uint64_t> first = number(text.substr(0, dash));
  const bool open = dash + 1 == text.size();
  if (!first || (!open && (!last || *last < *first))) return std::nullopt;
  if (*first >= size) return Range{};
  const std::uint64_t end = open || *last >= size ? size : *last + 1;
  return Range{static_cast<std::size_t>(*first), static_cast<std::size_t>(end)};
}

Part unsatisfiable(std::size_t size) {
  static constexpr std::string_view kText = R"({"error": "the range begins after the end of the content"})";
  Part part;
  part.status = 416;
  part.fields = header_field("Content-Range", "bytes */" + std::to_string(size)) +
                header_field("Content-Type", "application/json");
  part.body = std::as_bytes(std::span(kText));
  part.length = part.body.size();
  return part;
}

}  // namespace

bool Part::has_length() const noexcept { return status != 304 && status != 204; }

bool same_answer(std::string_view etag, std::string_view other) noexcept {
  return !etag.empty() && without_weakness(etag) == without_weakness(other);
}

std::string header_field(std::string_view name, std::string_view value) {
  std::string line;
  line.reserve(name.size() + value.size() + 4);
  return line.append(name).append(": ").append(value).append("\r\n");
}

Part part_of(const Reply& reply, const Wanted& wanted) {
  Part part;
  part.status = reply.status;
  if (reply.status == 200 && !reply.etag.empty() && matches(wanted.if_none_match, reply.etag)) {
    part.status = 304;
    return part;
  }
  const std::span<const std::byte> body = reply.body();
  const bool takes_parts = reply.status == 200 && reply.in_parts;
  // A client with a part of another version gets everything.
  const bool of_this = wanted.if_range.empty() || (wanted.if_range == reply.etag && !reply.etag.starts_with("W/"));
  if (takes_parts && of_this && !wanted.head && !wanted.range.empty()) {
    if (const std::optional<Range> range = range_of(wanted.range, body.size())) {
      if (range->begin == range->end) return unsatisfiable(body.size());
      part.status = 206;
      part.body = body.subspan(range->begin, range->end - range->begin);
      part.fields =
          header_field("Content-Range", "bytes " + std::to_string(range->begin) + "-" + std::to_string(range->end - 1) +
                                            "/" + std::to_string(body.size()));
    }
  }
  if (part.status != 206) part.body = body;
  part.length = part.body.size();
  if (takes_parts) part.fields += header_field("Accept-Ranges", "bytes");
  part.fields += reply.content_fields;
  if (wanted.head) part.body = {};
  return part;
}

std::string_view reason(int status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 416: return "Range Not Satisfiable";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Error";
  }
}

}  // namespace sonde::server
