// For tests: a client that sends exactly the given bytes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::server {

struct Received {
  int status = 0;  // 0: the server closed the connection
  std::string header;
  std::string body;

  // The value of a field, or empty.
  std::string field(std::string_view name) const {
    const std::string line = "\r\n" + std::string(name) + ": ";
    const std::size_t at = header.find(line);
    if (at == std::string::npos) return {};
    return header.substr(at + line.size(), header.find("\r\n", at + 2) - at - line.size());
  }
};

class Client {
 public:
  explicit Client(std::uint16_t port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{60, 0};  // a server that is silent for this long has failed
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  Client(Client&& other) noexcept : fd_(std::exchange(other.fd_, -1)), rest_(std::move(other.rest_)) {}
  Client& operator=(Client&&) = delete;
  ~Client() {
    if (fd_ >= 0) ::close(fd_);
  }

  // Whether all of it was accepted.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  // Everything up to and including `end`, or everything if the server closes the connection before.
  std::string read_until(std::string_view end) {
    while (rest_.find(end) == std::string::npos) {
      if (!receive()) return std::exchange(rest_, {});
    }
    const std::size_t size = rest_.find(end) + end.size();
    std::string text = rest_.substr(0, size);
    rest_.erase(0, size);
    return text;
  }
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(rest_, {});
  }

  Received read_reply(bool with_body = true) {
    Received reply;
    reply.header = read_until("\r\n\r\n");
    if (!reply.header.starts_with("HTTP/1.1 ")) return reply;
    reply.status = std::atoi(reply.header.c_str() + 9);
    const auto length = static_cast<std::size_t>(std::atoll(reply.field("Content-Length").c_str()));
    if (!with_body) return reply;
    while (rest_.size() < length) {
      if (!receive()) break;
    }
    reply.body = rest_.substr(0, length);
    rest_.erase(0, length);
    return reply;
  }

  Received ask(std::string_view method, std::string_view target, std::string_view fields = "",
               std::string_view body = "") {
    std::string text(method);
    text.append(" ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n").append(fields);
    if (!body.empty()) text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    send(text.append("\r\n").append(body));
    return read_reply(method != "HEAD");
  }
  Received get(std::string_view target, std::string_view fields = "") { return ask("GET", target, fields); }

 private:
  bool receive() {
    char buffer[65536];
    const ssize_t count = ::recv(fd_, buffer, sizeof buffer, 0);
    if (count <= 0) return false;
    rest_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int fd_ = -1;
  std::string rest_;  // received but not read yet
};

}  // namespace sonde::server
