// Access control. Pure decisions about the headers of a request; nothing here reads or sends.
//
// On loopback every user of this machine may read, so a foreign page in the user's browser must be recognised: by Host
// if its name was pointed here (DNS rebinding), by Origin and Sec-Fetch-Site if it sends cross-origin requests. On
// other addresses, and if other origins are allowed, everything needs the token. Requests that change something always
// need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/host.h"
#include "sonde/status.h"

namespace sonde::server {

struct GateOptions {
  std::string host = {};     // that it listens on, as given by the user: a name or an address
  bool loopback = true;      // whether only this machine can reach it
  std::string machine = {};  // the name of this machine
  std::vector<std::string> allow_origins = {};
  std::string token = {};
};

// What a request says about its sender; empty if missing. Views into the request.
struct Caller {
  std::string_view host = {};
  std::string_view origin = {};
  std::string_view cookie = {};
  std::string_view authorization = {};
  std::string_view fetch_site = {};  // Sec-Fetch-Site, which no page can forge
  std::string_view fetch_mode = {};  // Sec-Fetch-Mode
};

enum class Verdict : std::uint8_t { welcome, bad_host, foreign_host, foreign_origin, needs_token };

class Gate {
 public:
  // Fails if the token or an origin is invalid.
  static Result<Gate> make(GateOptions options);

  // `reads`: the request changes nothing (GET or HEAD).
  Verdict judge(const Caller& caller, bool reads) const;
  // The same without the token check: for requests that are about to present it.
  Verdict judge_address(const Caller& caller, bool reads) const;

  bool has_token(const Caller& caller) const;
  bool is_token(std::string_view text) const noexcept;
  // Whether reading needs the token, too.
  bool token_for_all() const noexcept { return !loopback_ || !origins_.empty(); }

  // The additional origins that may send requests, as browsers write them.
  const std::vector<std::string>& origins() const noexcept { return origins_; }
  // The one of them that sent the request, or empty.
  std::optional<std::string> allowed_origin(std::string_view text) const;

  // The cookie for the caller's browser, for everything below the path. Cookies ignore ports, so the port that the
  // browser sees is in its name: several servers, including those behind tunnels, have separate cookies.
  std::string cookie(const Caller& caller, std::string_view path) const;

 private:
  Gate() = default;
  bool knows(const Host& host) const;

  std::vector<std::string> names_;  // names that it answers to
  std::string machine_;             // without its domain
  bool loopback_ = true;
  std::vector<std::string> origins_;
  std::string token_;
};

}  // namespace sonde::server
