// Host names in requests: "localhost:6006", "[::1]", "https://example.org".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde::server {

// The content of `Host`.
struct Host {
  std::string name;  // in lower case, without the brackets of IPv6 and without a trailing dot
  int port = 0;      // 0: none given

  bool is_address() const noexcept;   // 10.0.0.7, ::1; not a name
  bool is_loopback() const noexcept;  // localhost, 127.x.x.x, ::1
};
// Empty if it does not follow the standard.
std::optional<Host> parse_host(std::string_view text);

// The content of `Origin`. "null" counts as none.
struct Origin {
  std::string scheme;  // "http" or "https"
  Host host;           // always with a port

  // As browsers write it: without the scheme's default port.
  std::string text() const;
  // Whether a page from there may be this server's own, as a browser addressed it. A proxy may terminate the
  // encryption, so the scheme does not matter.
  bool is_of(const Host& other) const noexcept;
};
std::optional<Origin> parse_origin(std::string_view text);

}  // namespace sonde::server
