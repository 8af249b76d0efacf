#include "server/server.h"

#include <algorithm>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <limits>

#include "base/process.h"
#include "server/listener.h"

namespace sonde::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kTurnedAway = 64;                   // connections beyond the limit that get an error reply
constexpr std::chrono::milliseconds kBetweenEvents{100};  // on average
// A few may follow each other at once: clients of a server that has just begun to read wait for the first runs.
constexpr int kEventsAtOnce = 5;
constexpr std::chrono::milliseconds kLeastBetweenEvents{10};
constexpr std::chrono::milliseconds kStopLatency{50};
constexpr int kPortsToTry = 100;

Result<tcp::endpoint> resolve(const std::string& host, std::uint16_t port) {
  error_code error;
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  const std::string bare = bracketed ? host.substr(1, host.size() - 2) : host;
  const asio::ip::address address = asio::ip::make_address(bare, error);
  if (!error) return tcp::endpoint(address, port);
  asio::io_context context;
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(bare, "", tcp::resolver::passive, error);
  if (error || found.empty()) {
    return Status(Code::not_found, "'" + host + "' is not an address of this machine: " + error.message());
  }
  // If a name has both kinds, IPv4 is the one that every client can reach.
  for (const auto& entry : found) {
    if (entry.endpoint().address().is_v4()) return tcp::endpoint(entry.endpoint().address(), port);
  }
  return tcp::endpoint(found.begin()->endpoint().address(), port);
}

error_code listen(Acceptor& acceptor, const tcp::endpoint& endpoint) {
  error_code error;
  if (acceptor.open(endpoint.protocol(), error)) return error;
  if (acceptor.set_option(tcp::acceptor::reuse_address(true), error)) return error;
  // "::" listens everywhere, including IPv4.
  if (endpoint.address().is_v6() && acceptor.set_option(asio::ip::v6_only(false), error)) return error;
  if (acceptor.bind(endpoint, error)) return error;
  return acceptor.listen(asio::socket_base::max_listen_connections, error);
}

std::string address_text(const asio::ip::address& address) {
  return address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
}

class ApiAnswerer final : public Answerer {
 public:
  explicit ApiAnswerer(std::shared_ptr<query::Api> api) : api_(std::move(api)) {}
  query::Answer answer(const query::Question& question) const override { return api_->answer(question); }
  std::uint64_t revision() const noexcept override { return api_->revision(); }
  std::uint64_t wait_for_change(std::uint64_t seen, std::chrono::milliseconds timeout) const override {
    return api_->wait_for_change(seen, timeout);
  }
  query::Change change_since(std::uint64_t seen) const override { return api_->change_since(seen); }

 private:
  std::shared_ptr<query::Api> api_;
};

}  // namespace

// ---- Listening

Status Listener::listen_on(const tcp::endpoint& endpoint, const std::string& host) {
  const error_code error = listen(acceptor_, endpoint);
  if (error == asio::error::address_in_use) {
    return {Code::exhausted,
            "port " + std::to_string(endpoint.port()) + " of " + host + " is in use by another program"};
  }
  if (error) {
    const bool denied = error == asio::error::access_denied;
    return {denied ? Code::permission_denied : Code::io,
            "cannot listen on port " + std::to_string(endpoint.port()) + " of " + host + ": " + error.message()};
  }
  error_code ignored;
  endpoint_ = acceptor_.local_endpoint(ignored);
  address_ = address_text(endpoint_.address());
  return Status::success();
}

Status Listener::start() {
  // Answers may wait for a run to be read, and others should not wait for those: more threads than processors. The
  // expensive ones take a processor and much memory each.
  constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();  // but the number of connections
  if (Status status = quick_.start(4, kNoLimit); !status) return status;
  if (Status status = values_.start(std::clamp(2 * base::processor_count(), 4, 16), kNoLimit); !status) return status;
  if (Status status = expensive_.start(std::clamp(base::processor_count() / 2, 1, 4), limits.waiting); !status)
    return status;
  // Read before anyone can connect: changes during the start of the threads are new to all.
  const std::uint64_t seen = api->revision();
  revision = seen;
  accept();
  beat();
  Result<base::Thread> sockets = base::Thread::start("sonde-sockets", [this] { serve(); });
  if (!sockets) return sockets.error();
  sockets_ = *std::move(sockets);
  Result<base::Thread> changes = base::Thread::start("sonde-changes", [this, seen] { wait_for_changes(seen); });
  if (!changes) return changes.error();
  changes_ = *std::move(changes);
  return Status::success();
}

void Listener::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopping_changed_.notify_all();
  io.stop();
  sockets_.join();
  changes_.join();
  values_.close();
  expensive_.close();
  quick_.stop();
  error_code ignored;
  acceptor_.close(ignored);  // NOLINT(bugprone-unused-return-value)
}

Listener::~Listener() {
  stop();
  values_.stop();
  expensive_.stop();
}

std::shared_ptr<const Reply> Listener::counted(Reply reply) {
  auto made = std::make_unique<const Reply>(std::move(reply));
  const std::size_t size = made->text.size();
  held_bytes += size;
  return {made.release(), [this, size](const Reply* gone) {
            held_bytes -= size;
            delete gone;
          }};
}

void Listener::serve() {
  for (;;) {
    try {
      io.run();
      return;
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // Memory has run out: it costs one connection, not the others.
    }
  }
}

void Listener::accept() {
  acceptor_.async_accept([this](const error_code& error, PlainSocket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      begin_session(std::move(socket));
      return accept();
    }
    // There may be no more file descriptors: some will be free soon.
    retry_.expires_after(std::chrono::milliseconds(100));
    retry_.async_wait([this](const error_code& aborted) {
      if (!aborted) accept();
    });
  });
}

void Listener::begin_session(PlainSocket socket) {
  if (sessions >= limits.connections + kTurnedAway) return;
  const bool full = sessions >= limits.connections;
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);  // NOLINT(bugprone-unused-return-value)
  server::begin_session(*this, std::move(socket), full);
}

void Listener::beat() {
  heartbeat_.expires_after(limits.heartbeat);
  heartbeat_.async_wait([this](const error_code& aborted) {
    if (aborted) return;
    streams.heartbeat();
    beat();
  });
}

void Listener::wait_for_changes(std::uint64_t seen) {
  using Clock = std::chrono::steady_clock;
  auto due = Clock::now() - kEventsAtOnce * kBetweenEvents;  // of the next event, if they came at equal distances
  for (;;) {
    const std::uint64_t latest = api->wait_for_change(seen, kStopLatency);
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    if (latest == seen) continue;
    seen = latest;
    asio::post(io, [this, seen] {
      revision = std::max(revision, seen);
      streams.changed(seen);
    });
    const auto now = Clock::now();
    due = std::max(due, now - kEventsAtOnce * kBetweenEvents) + kBetweenEvents;
    stopping_changed_.wait_until(lock, std::max(due, now + kLeastBetweenEvents), [this] { return stopping_; });
  }
}

void Listener::ask_for_change(std::uint64_t seen) {
  quick_.post({[this, seen] {
    query::Change change = api->change_since(seen);
    asio::post(io, [this, seen, change = std::move(change)] {
      revision = std::max(revision, change.revision);
      streams.answer(seen, change);
    });
  }});
}

std::string_view Listener::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_time_) {
    date_time_ = now;
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[64];
    date_.assign(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc));
  }
  return date_;
}

// ---- The interface

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, std::shared_ptr<query::Api> api) {
  return start(options, std::make_shared<const ApiAnswerer>(std::move(api)));
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, std::shared_ptr<const Answerer> api) {
  Result<std::string> prefix = normal_prefix(options.path_prefix);
  if (!prefix) return prefix.error();
  const Result<tcp::endpoint> endpoint = resolve(options.host, options.port);
  if (!endpoint) return endpoint.error();
  Result<Gate> gate = Gate::make({.host = options.host,
                                  .loopback = endpoint->address().is_loopback(),
                                  .machine = base::host_name(),
                                  .allow_origins = options.allow_origins,
                                  .token = options.token});
  if (!gate) return gate.error();
  Site site(*std::move(gate), *std::move(prefix), options.assets);
  auto listener = std::make_unique<Listener>(std::move(site), options.limits, std::move(api));
  if (Status status = listener->listen_on(*endpoint, options.host); !status) return status;
  if (Status status = listener->start(); !status) return status;
  return std::unique_ptr<Server>(new Server(std::move(listener)));
}

Server::Server(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}
Server::~Server() = default;

std::uint16_t Server::port() const noexcept { return listener_->port(); }
const std::string& Server::address() const noexcept { return listener_->address(); }
bool Server::loopback() const noexcept { return listener_->loopback(); }
void Server::stop() noexcept { listener_->stop(); }

std::uint16_t free_port(const std::string& host, int first) {
  for (int port = first; port < std::min(first + kPortsToTry, 65536); ++port) {
    const Result<tcp::endpoint> endpoint = resolve(host, static_cast<std::uint16_t>(port));
    if (!endpoint) return 0;
    asio::io_context context;
    Acceptor acceptor(context);
    if (!listen(acceptor, *endpoint)) return static_cast<std::uint16_t>(port);
  }
  return 0;
}

}  // namespace sonde::server
