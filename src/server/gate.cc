#include "server/gate.h"

#include <algorithm>

#include "server/token.h"

namespace sonde::server {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The text after "Bearer ", in any case.
std::string_view bearer(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    const char c = authorization[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kScheme[i]) return {};
  }
  return trimmed(authorization.substr(kScheme.size()));
}

std::string cookie_name(std::string_view caller_host) {
  const std::optional<Host> host = parse_host(caller_host);
  return "sonde-" + std::to_string(host ? host->port : 0);
}

}  // namespace

Result<Gate> Gate::make(GateOptions options) {
  if (Status status = check_token(options.token); !status) return status;
  Gate gate;
  gate.loopback_ = options.loopback;
  gate.token_ = std::move(options.token);
  for (const std::string& text : options.allow_origins) {
    const std::optional<Origin> origin = parse_origin(text.ends_with('/') ? text.substr(0, text.size() - 1) : text);
    if (!origin) {
      return Status(Code::invalid_argument, "'" + text + "' is not a valid origin: write it as browsers do, such as " +
                                                "https://example.org or http://localhost:8888");
    }
    gate.origins_.push_back(origin->text());
    gate.names_.push_back(origin->host.name);
  }
  const bool ipv6 = options.host.find(':') != std::string::npos && !options.host.starts_with('[');
  if (const auto bound = parse_host(ipv6 ? "[" + options.host + "]" : options.host)) gate.names_.push_back(bound->name);
  if (const auto machine = parse_host(options.machine)) {
    gate.machine_ = machine->name.substr(0, machine->name.find('.'));
  }
  return gate;
}

// On loopback, names that nobody else can point here. On other addresses the token keeps others out, so this machine's
// own name is accepted in any domain.
bool Gate::knows(const Host& host) const {
  if (host.is_loopback() || std::ranges::find(names_, host.name) != names_.end()) return true;
  return !loopback_ && (host.is_address() || host.name.substr(0, host.name.find('.')) == machine_);
}

Verdict Gate::judge_address(const Caller& caller, bool reads) const {
  const std::optional<Host> host = parse_host(caller.host);
  if (!host) return Verdict::bad_host;
  if (!knows(*host)) return Verdict::foreign_host;
  const bool own_site = caller.fetch_site == "same-origin" || caller.fetch_site == "none";
  if (caller.origin.empty()) {
    const bool says_nothing = caller.fetch_site.empty() || own_site;
    const bool navigates = reads && caller.fetch_mode == "navigate";  // somebody has followed a link
    return says_nothing || navigates ? Verdict::welcome : Verdict::foreign_origin;
  }
  // Without referrers browsers may hide the origin of even the server's own page.
  if (caller.origin == "null") return own_site ? Verdict::welcome : Verdict::foreign_origin;
  const std::optional<Origin> origin = parse_origin(caller.origin);
  if (!origin) return Verdict::foreign_origin;
  return origin->is_of(*host) || allowed_origin(caller.origin) ? Verdict::welcome : Verdict::foreign_origin;
}

Verdict Gate::judge(const Caller& caller, bool reads) const {
  const Verdict verdict = judge_address(caller, reads);
  if (verdict != Verdict::welcome) return verdict;
  return token_for_all() && !has_token(caller) ? Verdict::needs_token : Verdict::welcome;
}

bool Gate::is_token(std::string_view text) const noexcept { return same_token(text, token_); }

bool Gate::has_token(const Caller& caller) const {
  if (is_token(bearer(caller.authorization))) return true;
  const std::string name = cookie_name(caller.host);
  for (std::string_view rest = caller.cookie; !rest.empty();) {
    const std::string_view one = trimmed(rest.substr(0, rest.find(';')));
    rest.remove_prefix(std::min(rest.find(';'), rest.size() - 1) + 1);
    const std::size_t equals = std::min(one.find('='), one.size());
    if (one.substr(0, equals) == name && equals < one.size() && is_token(one.substr(equals + 1))) return true;
  }
  return false;
}

std::optional<std::string> Gate::allowed_origin(std::string_view text) const {
  const std::optional<Origin> origin = parse_origin(text);
  if (!origin) return std::nullopt;
  const auto found = std::ranges::find(origins_, origin->text());
  return found == origins_.end() ? std::nullopt : std::optional(*found);
}

std::string Gate::cookie(const Caller& caller, std::string_view path) const {
  constexpr std::string_view kRest = "; HttpOnly; SameSite=Strict; Max-Age=2592000";  // 30 days
  return cookie_name(caller.host) + "=" + token_ + "; Path=" + std::string(path) + std::string(kRest);
}

}  // namespace sonde::server
