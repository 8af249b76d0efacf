// An answer that is ready to be sent, and the part of it that a client gets: all, only the header, a range, or a 304.
// Knows no sockets.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sonde::server {

// The same for all clients with the same question, so it can be cached and shared.
struct Reply {
  int status = 200;
  std::string fields = {};                // lines of the header, each with its line end
  std::string content_fields = {};        // those about the body
  std::string etag = {};                  // as sent; empty: none
  bool in_parts = false;                  // a client may request a range of the body
  std::string text = {};                  // the body; or, if it is empty:
  std::span<const std::byte> bytes = {};  // a body that lives as long as the server

  std::span<const std::byte> body() const noexcept { return text.empty() ? bytes : std::as_bytes(std::span(text)); }
};

// How much of the answer a request wants; views into it.
struct Wanted {
  bool head = false;  // only the header
  std::string_view if_none_match = {};
  std::string_view range = {};
  std::string_view if_range = {};
};

// The data to send. Views into the reply.
struct Part {
  int status = 200;
  std::string fields;                // about the body, in addition to the reply's own
  std::span<const std::byte> body;   // to be sent
  std::size_t length = 0;            // of the body, sent or not
  bool has_length() const noexcept;  // whether the length is sent
};
Part part_of(const Reply& reply, const Wanted& wanted);

// "Not Found"
std::string_view reason(int status) noexcept;

// "name: value" and the end of the line.
std::string header_field(std::string_view name, std::string_view value);

// Whether two ETags mean the same answer, compressed or not.
bool same_answer(std::string_view etag, std::string_view other) noexcept;

// Calls `visit` with each comma-separated item, trimmed.
template <class Visit>
void each_listed(std::string_view list, const Visit& visit) {
  while (!list.empty()) {
    std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(one.size() < list.size() ? one.size() + 1 : list.size());
    while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) one.remove_prefix(1);
    while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) one.remove_suffix(1);
    visit(one);
  }
}

}  // namespace sonde::server
