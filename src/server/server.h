// The page and the query API over HTTP/1.1: access control, answers, time limits. docs/api.md documents the answers;
// boost/beast is hidden behind this header, in one file.
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
  std::size_t connections = 1024;  // at the same time; more are told to retry
  std::size_t header_bytes = std::size_t{16} << 10;
  std::size_t body_bytes = std::size_t{1} << 20;
  std::size_t unread_bytes = std::size_t{256} << 20;  // of answers being sent to slow clients, in total
  std::size_t waiting = 32;                           // expensive questions, besides the few that are being answered

  std::chrono::milliseconds idle{75'000};      // without a request
  std::chrono::milliseconds request{20'000};   // from the first byte of a request to its last
  std::chrono::milliseconds progress{20'000};  // in which a client must read some of its answer
  std::chrono::milliseconds heartbeat{15'000};
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // a name or an address; anything except loopback makes the token mandatory
  std::uint16_t port = 6006;       // 0: any free port
  std::string path_prefix = {};    // "/x" if a proxy serves it below that path; empty: none
  // Other pages that may query and embed this one, such as "http://localhost:8888"; then everything needs the token.
  std::vector<std::string> allow_origins = {};
  std::string token = {};              // required; see token.h
  std::span<const Asset> assets = {};  // the page; must live as long as the server
  ServerLimits limits = {};
};

class Listener;  // listener.h

class Server {
 public:
  // Serves from when it returns, on its own threads. Fails with Code::exhausted if the port is in use.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, std::shared_ptr<query::Api> api);
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, std::shared_ptr<const Answerer> api);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const noexcept;
  // "127.0.0.1" or, for IPv6, "[::1]".
  const std::string& address() const noexcept;
  bool loopback() const noexcept;
  // Stops answering. Waits for requests that change something; only the destructor waits for other answers in progress.
  void stop() noexcept;

 private:
  explicit Server(std::unique_ptr<Listener> listener);
  std::unique_ptr<Listener> listener_;
};

// The first free port from `first` on; 0 if the next hundred are taken.
std::uint16_t free_port(const std::string& host, int first);

}  // namespace sonde::server
