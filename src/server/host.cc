#include "server/host.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sonde::server {
namespace {

constexpr std::size_t kLongestName = 253;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f'); }

std::string in_small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// ":6006", or nothing at all.
std::optional<int> parse_port(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != ':' || text.size() < 2 || text.size() > 6) return std::nullopt;
  int port = 0;
  const auto end = std::from_chars(text.data() + 1, text.data() + text.size(), port);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size() || port < 1 || port > 65535) return std::nullopt;
  return port;
}

// Four numbers of at most three digits.
bool is_ipv4(std::string_view name) noexcept {
  int parts = 0;
  std::size_t digits = 0;
  int value = 0;
  for (const char c : name) {
    if (c == '.' && digits > 0) {
      ++parts;
      digits = 0;
      value = 0;
    } else if (is_digit(c) && digits < 3) {
      ++digits;
      value = value * 10 + (c - '0');
      if (value > 255) return false;
    } else {
      return false;
    }
  }
  return parts == 3 && digits > 0;
}

bool is_ipv6(std::string_view name) noexcept {
  return std::ranges::count(name, ':') >= 2 &&
         std::ranges::all_of(name, [](char c) { return is_hex(c) || c == ':' || c == '.'; });
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' && name.find("..") == std::string::npos &&
         std::ranges::all_of(name,
                             [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_'; });
}

}  // namespace

bool Host::is_address() const noexcept { return is_ipv4(name) || is_ipv6(name); }

bool Host::is_loopback() const noexcept {
  return name == "localhost" || name == "::1" || (is_ipv4(name) && name.starts_with("127."));
}

std::optional<Host> parse_host(std::string_view text) {
  Host host;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    host.name = in_small_letters(text.substr(1, close - 1));
    if (!is_ipv6(host.name)) return std::nullopt;
    rest = text.substr(close + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    host.name = in_small_letters(text.substr(0, colon));
    if (host.name.size() > 1 && host.name.ends_with('.')) host.name.pop_back();
    if (!is_name(host.name)) return std::nullopt;
    rest = text.substr(colon);
  }
  const std::optional<int> port = parse_port(rest);
  if (!port) return std::nullopt;
  host.port = *port;
  return host;
}

std::optional<Origin> parse_origin(std::string_view text) {
  struct Scheme {
    std::string_view name;
    int port;
  };
  static constexpr std::array kSchemes = {Scheme{"http", 80}, Scheme{"https", 443}};
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return std::nullopt;
  const auto* const scheme = std::ranges::find(kSchemes, text.substr(0, colon), &Scheme::name);
  if (scheme == kSchemes.end()) return std::nullopt;
  std::optional<Host> host = parse_host(text.substr(colon + 3));
  if (!host) return std::nullopt;
  if (host->port == 0) host->port = scheme->port;
  return Origin{std::string(scheme->name), *std::move(host)};
}

std::string Origin::text() const {
  const bool usual = host.port == (scheme == "https" ? 443 : 80);
  const bool ipv6 = host.name.find(':') != std::string::npos;
  std::string text = scheme + "://";
  text.append(ipv6 ? "[" : "").append(host.name).append(ipv6 ? "]" : "");
  if (!usual) text.append(":").append(std::to_string(host.port));
  return text;
}

bool Origin::is_of(const Host& other) const noexcept {
  const int port = other.port != 0 ? other.port : scheme == "https" ? 443 : 80;
  return host.name == other.name && host.port == port;
}

}  // namespace sonde::server
