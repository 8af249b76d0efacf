// An answer that is ready to be sent, and what of it a client gets: all, its header alone, a part, or the news that it
// has it already. Knows no sockets.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sonde::server {

// The same for all who ask the same, so it can be kept and shared.
struct Reply {
  int status = 200;
  std::string fields = {};                // lines of the header, each with its end
  std::string content_fields = {};        // those that tell of the body
  std::string etag = {};                  // as it is sent; empty: none
  bool in_parts = false;                  // a client may ask for a range of the body
  std::string text = {};                  // the body; or, where it is empty:
  std::span<const std::byte> bytes = {};  // one that lives as long as the server

  std::span<const std::byte> body() const noexcept { return text.empty() ? bytes : std::as_bytes(std::span(text)); }
};

// What a request says of how much it needs; views into it.
struct Wanted {
  bool head = false;  // the header alone
  std::string_view if_none_match = {};
  std::string_view range = {};
  std::string_view if_range = {};
};

// What goes out. Views into the reply.
struct Part {
  int status = 200;
  std::string fields;                // of the body, in addition to the reply's own
  std::span<const std::byte> body;   // to be sent
  std::size_t length = 0;            // of the body, sent or not
  bool has_length() const noexcept;  // whether it is told
};
Part part_of(const Reply& reply, const Wanted& wanted);

// "Not Found"
std::string_view reason(int status) noexcept;

// "name: value" and the end of the line.
std::string header_field(std::string_view name, std::string_view value);

// Whether two tags mean the same answer, be it compressed or not.
bool same_answer(std::string_view etag, std::string_view other) noexcept;

// Calls `visit` with what is between commas, without blanks around it.
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
