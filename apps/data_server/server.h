// The gRPC service. Only server.cc includes gRPC's headers.
#pragma once

#include <memory>
#include <string>

#include "answers.h"
#include "sonde/status.h"

namespace sonde::data_server {

class Server {
 public:
  // Listens from then on; calls come on threads of gRPC. `port` 0: any free one. `answers` must live longer.
  static Result<Server> start(const std::string& host, int port, Answers& answers);

  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // as stop()

  int port() const noexcept;
  // Returns when somebody stops it.
  void wait();
  // Ends the calls that are still running.
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::data_server
