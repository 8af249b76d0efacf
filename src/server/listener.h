// The listening socket, the threads, and the state that all connections share. Only for server.cc and session.cc: all
// others include server.h, which does not depend on Asio.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "query/api.h"
#include "server/answerer.h"
#include "server/recent_replies.h"
#include "server/server.h"
#include "server/site.h"
#include "server/streams.h"
#include "server/workers.h"

namespace sonde::server {

using Executor = boost::asio::io_context::executor_type;
using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor>;
using PlainSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

// Each lane has its own threads, so that no question waits for a more expensive one.
using Lane = query::Cost;

class Session;  // session.cc

// One thread serves all sockets and owns everything that is not marked as shared; workers make answers that may take a
// while and post them back.
class Listener {
 public:
  Listener(Site what, const ServerLimits& how_much, std::shared_ptr<const Answerer> answers)
      : site(std::move(what)),
        limits(how_much),
        api(std::move(answers)),
        streams([this](std::uint64_t seen) { ask_for_change(seen); }),
        acceptor_(io),
        retry_(io),
        heartbeat_(io) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  Status listen_on(const boost::asio::ip::tcp::endpoint& endpoint, const std::string& host);
  Status start();
  void stop() noexcept;

  std::uint16_t port() const noexcept { return endpoint_.port(); }
  const std::string& address() const noexcept { return address_; }
  bool loopback() const noexcept { return endpoint_.address().is_loopback(); }

  // For sessions, on the socket thread.
  std::string_view date();
  Workers& lane(Lane which) noexcept {
    return which == Lane::quick ? quick_ : which == Lane::values ? values_ : expensive_;
  }
  // Any thread: counts towards the held bytes until it is released.
  std::shared_ptr<const Reply> counted(Reply reply);

  const Site site;
  const ServerLimits limits;
  const std::shared_ptr<const Answerer> api;
  std::atomic<std::size_t> held_bytes = 0;  // of answers that are cached or being sent; any thread
  Streams streams;
  RecentReplies recent;
  std::uint64_t revision = 0;  // of the log, as last seen here: reading it may take a while
  std::uint64_t writes = 0;    // requests that have changed something, which the log may not report
  std::size_t sessions = 0;
  boost::asio::io_context io{1};  // declared after what sessions need, since the last of them end with it
  // Sessions that wait for a question that another one has already asked.
  std::unordered_map<std::string, std::vector<std::shared_ptr<Session>>> asked;

 private:
  void accept();
  void begin_session(PlainSocket socket);
  void beat();
  void serve();
  void wait_for_changes(std::uint64_t seen);
  void ask_for_change(std::uint64_t seen);

  Acceptor acceptor_;
  boost::asio::ip::tcp::endpoint endpoint_;
  std::string address_;
  boost::asio::steady_timer retry_;
  boost::asio::steady_timer heartbeat_;
  std::time_t date_time_ = 0;
  std::string date_;

  std::mutex mutex_;  // guards the following members
  std::condition_variable stopping_changed_;
  bool stopping_ = false;

  Workers quick_;
  Workers values_;
  Workers expensive_;
  base::Thread sockets_;
  base::Thread changes_;
};

// Serves a connection until it ends, or rejects it because there are too many. On the socket thread.
void begin_session(Listener& server, PlainSocket socket, bool too_many);

}  // namespace sonde::server
