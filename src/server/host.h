// Names of machines as requests carry them: "localhost:6006", "[::1]", "https://example.org".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde::server {

// What `Host` says.
struct Host {
  std::string name;  // in small letters, without the brackets of IPv6 and without a last dot
  int port = 0;      // 0: none was said

  bool is_address() const noexcept;   // 10.0.0.7, ::1; not a name
  bool is_loopback() const noexcept;  // localhost, 127.x.x.x, ::1
};
// Nothing where it is not as the standard says.
std::optional<Host> parse_host(std::string_view text);

// What `Origin` says. "null" is none.
struct Origin {
  std::string scheme;  // "http" or "https"
  Host host;           // always with a port

  // As browsers write it: without the scheme's usual port.
  std::string text() const;
  // Whether a page from there may be this server's own, as a browser addressed it. A proxy may have taken care of
  // the encryption, so the scheme does not tell.
  bool is_of(const Host& other) const noexcept;
};
std::optional<Origin> parse_origin(std::string_view text);

}  // namespace sonde::server
