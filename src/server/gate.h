// Who may come in. Pure decisions about what a request says of itself; nothing here reads or sends.
//
// On loopback everybody on this machine may read, so a foreign page in its user's browser must be told apart: by Host
// where its name was pointed here (DNS rebinding), by Origin and Sec-Fetch-Site where it asks across. Elsewhere, and
// where other origins are let in, everything needs the token. What changes something needs it everywhere.
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
  std::string host = {};     // that it listens on, as the user said it: a name or an address
  bool loopback = true;      // whether only this machine can reach it
  std::string machine = {};  // what this machine is called
  std::vector<std::string> allow_origins = {};
  std::string token = {};
};

// What a request says of who sent it; empty where it does not say. Views into the request.
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
  // Fails where a token cannot be one or an origin is none.
  static Result<Gate> make(GateOptions options);

  // `reads` is whether the request changes nothing: GET or HEAD.
  Verdict judge(const Caller& caller, bool reads) const;
  // The same without asking for the token: for who is about to show it.
  Verdict judge_address(const Caller& caller, bool reads) const;

  bool has_token(const Caller& caller) const;
  bool is_token(std::string_view text) const noexcept;
  // Whether reading needs the token, too.
  bool token_for_all() const noexcept { return !loopback_ || !origins_.empty(); }

  // The origins besides its own that may ask, as browsers write them.
  const std::vector<std::string>& origins() const noexcept { return origins_; }
  // The one of them that asks, or nothing.
  std::optional<std::string> allowed_origin(std::string_view text) const;

  // What the caller's browser is to remember, for everything below the path. Cookies know no ports, so the port that
  // the browser sees is in its name: several servers, also those at the far ends of tunnels, have one each.
  std::string cookie(const Caller& caller, std::string_view path) const;

 private:
  Gate() = default;
  bool knows(const Host& host) const;

  std::vector<std::string> names_;  // that it answers to
  std::string machine_;             // without its domain
  bool loopback_ = true;
  std::vector<std::string> origins_;
  std::string token_;
};

}  // namespace sonde::server
