// The page and the query API over HTTP/1.1: who may come in, what they get, how long they may take. docs/api.md says
// what is answered; boost/beast is behind this header, in one file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "query/api.h"
#include "server/answerer.h"
#include "server/assets.h"
#include "sonde/status.h"

namespace sonde::server {

struct ServerLimits {
  std::size_t connections = 1024;  // at once; more are told to come back
  std::size_t header_bytes = std::size_t{16} << 10;
  std::size_t body_bytes = std::size_t{1} << 20;
  std::size_t unread_bytes = std::size_t{256} << 20;  // of answers on their way to slow clients, in all
  std::size_t waiting = 32;                           // expensive questions, besides the few that are being answered

  std::chrono::milliseconds idle{75'000};      // without a request
  std::chrono::milliseconds request{20'000};   // from the first byte of a request to its last
  std::chrono::milliseconds progress{20'000};  // in which a client takes some of its answer
  std::chrono::milliseconds heartbeat{15'000};
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // a name or an address; anything but loopback makes the token needed for all
  std::uint16_t port = 6006;       // 0: one that is free
  std::string path_prefix = {};    // "/x" where a proxy has it below that; empty: none
  // Other pages that may ask and frame this one, such as "http://localhost:8888"; then everything needs the token.
  std::vector<std::string> allow_origins = {};
  std::string token = {};              // needed; see token.h
  std::span<const Asset> assets = {};  // the page; live as long as the server
  ServerLimits limits = {};
};

class Listener;  // listener.h

class Server {
 public:
  // Serves from when it returns, on threads of its own. Fails with Code::exhausted where the port is in use.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, std::shared_ptr<query::Api> api);
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, std::shared_ptr<const Answerer> api);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const noexcept;
  // "127.0.0.1" or, of IPv6, "[::1]".
  const std::string& address() const noexcept;
  bool loopback() const noexcept;
  // Answers nobody any more. Waits for what changes something; only the end of the server waits for other answers that
  // are being made.
  void stop() noexcept;

 private:
  explicit Server(std::unique_ptr<Listener> listener);
  std::unique_ptr<Listener> listener_;
};

// The first port from `first` on that nobody listens on there; 0 where the next hundred are taken.
std::uint16_t free_port(const std::string& host, int first);

}  // namespace sonde::server
