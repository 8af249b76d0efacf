// The only file that includes Beast, which takes many seconds to compile. Everything is on the thread of the sockets
// unless it says otherwise.
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/listener.h"

namespace sonde::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Socket = beast::basic_stream<tcp, Executor>;
using Parser = http::request_parser<http::string_body>;

constexpr std::size_t kReadSize = std::size_t{16} << 10;
constexpr std::size_t kWriteSize = std::size_t{256} << 10;  // at once, so that progress is seen
constexpr std::chrono::milliseconds kLinger{2000};  // for a client to read a rejection before the connection is closed

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// Whether the end of the body is unambiguous. A proxy may interpret other lengths differently.
bool has_sound_length(const http::fields& fields) {
  const auto encodings = fields.count(http::field::transfer_encoding);
  if (encodings == 0) return true;
  return encodings == 1 && beast::iequals(fields[http::field::transfer_encoding], "chunked") &&
         fields.count(http::field::content_length) == 0;
}

}  // namespace

// One connection: requests one after the other, or, in the end, a stream of events.
class Session : public std::enable_shared_from_this<Session>, public StreamClient {
 public:
  Session(Listener& server, PlainSocket socket) : server_(server), socket_(std::move(socket)) { ++server_.sessions; }
  ~Session() override {
    --server_.sessions;
    if (streaming_) server_.streams.remove(*this);
  }

  void run() { next_request(); }
  // There are too many already.
  void turn_away() {
    keep_alive_ = false;
    send_reply(server_.site.refusal(429, "too many connections at once: try again in a moment", true));
  }

  void send(std::shared_ptr<const std::string> text) override;

 private:
  void next_request();
  void read();
  void parse();
  void header_complete();
  void continue_body();
  void refuse(const error_code& error);
  void act();
  void ask(const ApiCall& call);
  struct Asked;
  void post(Asked asked);
  std::shared_ptr<const Reply> make_reply(const Asked& asked) const;
  void answered(const Asked& asked, const std::shared_ptr<const Reply>& reply);
  void watch_for_leaving();
  void stop_watching();
  void begin_stream(const EventStream& stream);
  void watch_for_end();
  void write_event();
  void end_stream();
  void send_reply(Reply reply) { send_reply(std::make_shared<const Reply>(std::move(reply))); }
  void send_reply(std::shared_ptr<const Reply> reply);
  void write();
  void sent();
  void hang_up();
  void drain();

  Listener& server_;
  Socket socket_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  bool begun_ = false;        // some of the request has come
  bool header_done_ = false;  // all of its header
  bool keep_alive_ = true;
  Wanted wanted_;                   // views into the parser's message
  Plan plan_;                       // what will be done once the request is complete
  bool watching_ = false;           // for the client to leave before it is answered
  std::atomic<bool> left_ = false;  // it has; any thread

  std::string header_;
  std::shared_ptr<const Reply> reply_;  // that is being sent
  std::array<asio::const_buffer, 2> unsent_;

  bool streaming_ = false;
  bool ended_ = false;                        // its client has left
  std::shared_ptr<const std::string> event_;  // in flight
};

// ---- Reading a request

void Session::next_request() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(server_.limits.header_bytes));
  parser_->body_limit(server_.limits.body_bytes);
  begun_ = false;
  header_done_ = false;
  wanted_ = {};
  socket_.expires_after(server_.limits.idle);
  if (buffer_.size() > 0) {
    parse();  // it was sent along with the last one
  } else {
    read();
  }
}

void Session::read() {
  socket_.async_read_some(buffer_.prepare(kReadSize),
                          [self = shared_from_this()](const error_code& error, std::size_t count) {
                            if (error) return;  // gone, or too slow
                            self->buffer_.commit(count);
                            self->parse();
                          });
}

void Session::parse() {
  if (!begun_) {
    begun_ = true;
    socket_.expires_after(server_.limits.request);
  }
  bool asks_to_continue = false;
  while (buffer_.size() > 0 && !parser_->is_done()) {
    error_code error;
    const std::size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == http::error::need_more) {
      // The parser needs these as a whole: a header, or the framing of the chunks of a body.
      if (buffer_.size() > server_.limits.header_bytes) return refuse(http::error::header_limit);
      break;
    }
    if (error) return refuse(error);
    if (parser_->is_header_done() && !header_done_) {
      // Before the body is read: the parser would add the fields after its last chunk to those of the header.
      header_done_ = true;
      parser_->eager(true);
      header_complete();
      asks_to_continue = parser_->get()[http::field::expect] == "100-continue";
    } else if (used == 0) {
      break;
    }
  }
  if (parser_->is_done()) return act();
  if (header_done_ && std::holds_alternative<Reply>(plan_)) {
    // Whatever the body says.
    keep_alive_ = false;
    return send_reply(std::get<Reply>(std::move(plan_)));
  }
  if (asks_to_continue) return continue_body();
  read();
}

void Session::header_complete() {
  const auto& message = parser_->get();
  const auto text = [&](http::field name) { return view(message[name]); };
  const auto named = [&](beast::string_view name) { return view(message[name]); };
  Request request;
  request.method = view(message.method_string());
  request.target = view(message.target());
  // With two Host fields it is not known which one counts.
  request.caller.host = message.count(http::field::host) == 1 ? text(http::field::host) : "";
  request.caller.origin = text(http::field::origin);
  request.caller.cookie = text(http::field::cookie);
  request.caller.authorization = text(http::field::authorization);
  request.caller.fetch_site = named("Sec-Fetch-Site");
  request.caller.fetch_mode = named("Sec-Fetch-Mode");
  request.accept_encoding = text(http::field::accept_encoding);
  request.last_event_id = named("Last-Event-ID");
  request.requested_method = text(http::field::access_control_request_method);
  wanted_ = {.head = request.method == "HEAD",
             .if_none_match = text(http::field::if_none_match),
             .range = text(http::field::range),
             .if_range = text(http::field::if_range)};
  keep_alive_ = message.keep_alive() && message.version() >= 11;
  if (has_sound_length(message)) {
    plan_ = server_.site.plan(request);
  } else {
    keep_alive_ = false;  // the start of the next request is unknown
    plan_ = server_.site.refusal(400, "the only supported transfer encoding is 'chunked', without a length", true);
  }
}

void Session::continue_body() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  // So few bytes go out at once or not at all.
  socket_.async_write_some(asio::buffer(kContinue.data(), kContinue.size()),
                           [self = shared_from_this()](const error_code& error, std::size_t) {
                             if (!error) self->read();
                           });
}

void Session::refuse(const error_code& error) {
  keep_alive_ = false;
  const Site& site = server_.site;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return send_reply(site.refusal(431, "the header of the request is too large", true));
  }
  if (error == http::error::body_limit) {
    return send_reply(site.refusal(
        413, "the body of the request is larger than " + std::to_string(server_.limits.body_bytes) + " bytes", true));
  }
  send_reply(site.refusal(400, "this is not an HTTP/1.1 request", true));
}

// ---- Answering it

void Session::act() {
  if (const auto* const call = std::get_if<ApiCall>(&plan_)) return ask(*call);
  if (const auto* const stream = std::get_if<EventStream>(&plan_)) return begin_stream(*stream);
  send_reply(std::get<Reply>(std::move(plan_)));
}

// A question on its way to the answering thread and back.
struct Session::Asked {
  query::Question question;
  const ApiCall* call = nullptr;  // in the plan; it, and the parser with the body, stay until the reply is sent
  Lane lane = Lane::quick;
  std::uint64_t revision = 0;
  std::string key;                      // of the reply, if it may be cached
  std::string shared;                   // key of the shared question; empty: not shared
  std::shared_ptr<const Reply> before;  // the last reply to the same, or null
};

void Session::ask(const ApiCall& call) {
  Asked asked;
  asked.key = RecentReplies::key_of(call);
  // Both only grow, so their sum is the same only if both are.
  asked.revision = server_.revision + server_.writes;
  if (auto recent = server_.recent.find(asked.key, asked.revision, RecentReplies::Clock::now())) {
    return send_reply(std::move(recent));
  }
  asked.call = &call;
  asked.question = call.question;
  asked.question.body = parser_->get().body();
  asked.lane = query::cost_of(asked.question);
  asked.before = server_.recent.last(asked.key);
  // What many ask at the same time, as all pages do after an event, is found out once.
  if (asked.lane == Lane::quick && !asked.key.empty()) {
    asked.shared = std::to_string(asked.revision) + " " + asked.key;
    const auto [others, first] = server_.asked.try_emplace(asked.shared);
    if (!first) return others->second.push_back(shared_from_this());
  }
  post(std::move(asked));
}

void Session::post(Asked asked) {
  const std::string shared = asked.shared;
  if (asked.lane != Lane::quick) watch_for_leaving();
  Job job;
  job.unwanted = [this] { return left_.load(); };
  const Lane lane = asked.lane;
  job.run = [self = shared_from_this(), asked = std::move(asked)]() mutable {
    asio::io_context& io = self->server_.io;
    auto reply = self->make_reply(asked);
    asio::post(io, [self = std::move(self), asked = std::move(asked), reply = std::move(reply)] {
      self->answered(asked, reply);
    });
  };
  if (server_.lane(lane).post(std::move(job))) return;
  server_.asked.erase(shared);
  stop_watching();
  send_reply(server_.site.refusal(503, "too many expensive questions are waiting: try again in a moment", true));
}

// On a worker. Null if nobody waits for it any more.
std::shared_ptr<const Reply> Session::make_reply(const Asked& asked) const {
  if (left_) return nullptr;
  try {
    if (asked.lane != Lane::quick && server_.held_bytes > server_.limits.unread_bytes) {
      return server_.counted(
          server_.site.refusal(429, "too many answers are still being sent: try again in a moment", true));
    }
    query::Answer answer = server_.api->answer(asked.question);
    if (left_) return nullptr;
    if (asked.before && answer.status == 200 && same_answer(answer.etag, asked.before->etag)) return asked.before;
    return server_.counted(server_.site.reply(*asked.call, std::move(answer)));
  } catch (const std::exception&) {
    return server_.counted(server_.site.refusal(503, "there is not enough memory to answer this", true));
  }
}

void Session::answered(const Asked& asked, const std::shared_ptr<const Reply>& reply) {
  stop_watching();
  if (!reply) return;
  if (asked.question.method == query::Question::Method::post && asked.question.may_write) ++server_.writes;
  server_.recent.keep(asked.key, asked.revision, RecentReplies::Clock::now(), reply);
  std::vector<std::shared_ptr<Session>> others;
  if (const auto found = server_.asked.find(asked.shared); found != server_.asked.end()) {
    others = std::move(found->second);
    server_.asked.erase(found);
  }
  send_reply(reply);
  for (const auto& other : others) other->send_reply(reply);
}

// A client that closes the connection before a long answer has begun does not need it, even if it could still read one.
// Bytes of a next request show that the client is still connected, and end this.
void Session::watch_for_leaving() {
  watching_ = true;
  socket_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
    if (error) return;
    char byte = 0;
    error_code ended;
    self->socket_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, ended);
    if (ended) self->left_ = true;
  });
}

void Session::stop_watching() {
  error_code ignored;
  if (std::exchange(watching_, false)) socket_.socket().cancel(ignored);  // NOLINT(bugprone-unused-return-value)
}

void Session::send_reply(std::shared_ptr<const Reply> reply) {
  reply_ = std::move(reply);
  const Part part = part_of(*reply_, wanted_);
  header_ = "HTTP/1.1 " + std::to_string(part.status) + " ";
  header_.append(reason(part.status)).append("\r\nDate: ").append(server_.date()).append("\r\n");
  header_.append("Server: sonde\r\n");
  if (!keep_alive_) header_ += "Connection: close\r\n";
  if (part.has_length()) header_.append("Content-Length: ").append(std::to_string(part.length)).append("\r\n");
  header_.append(reply_->fields).append(part.fields).append("\r\n");
  unsent_ = {asio::buffer(header_), asio::buffer(part.body.data(), part.body.size())};
  write();
}

void Session::write() {
  std::array<asio::const_buffer, 2> next = {unsent_[0], asio::buffer(unsent_[1], kWriteSize)};
  socket_.expires_after(server_.limits.progress);
  socket_.async_write_some(next, [self = shared_from_this()](const error_code& error, std::size_t count) {
    if (error) return;
    for (asio::const_buffer& buffer : self->unsent_) {
      const std::size_t done = std::min(count, buffer.size());
      buffer += done;
      count -= done;
    }
    if (asio::buffer_size(self->unsent_) > 0) return self->write();
    self->sent();
  });
}

void Session::sent() {
  reply_ = nullptr;
  if (keep_alive_) return next_request();
  hang_up();
}

// Closing a socket with unread data would make the client lose the reply.
void Session::hang_up() {
  error_code ignored;
  socket_.socket().shutdown(tcp::socket::shutdown_send, ignored);  // NOLINT(bugprone-unused-return-value)
  socket_.expires_after(kLinger);
  drain();
}

void Session::drain() {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kReadSize),
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            if (!error) self->drain();
                          });
}

// ---- Being a stream

void Session::begin_stream(const EventStream& stream) {
  keep_alive_ = false;
  if (wanted_.head) {
    Reply reply;
    reply.fields = stream.fields;
    return send_reply(std::move(reply));
  }
  header_ = "HTTP/1.1 200 OK\r\nConnection: close\r\nDate: " + std::string(server_.date()) + "\r\n" + stream.fields +
            "\r\nretry: 1000\n\n";
  const std::uint64_t seen = stream.seen;
  socket_.expires_never();
  watch_for_end();
  socket_.expires_after(server_.limits.progress);
  // The first bytes of an answer always fit.
  socket_.async_write_some(asio::buffer(header_),
                           [self = shared_from_this(), seen](const error_code& error, std::size_t) {
                             if (error || self->ended_) return;
                             self->streaming_ = true;
                             self->server_.streams.add(*self, seen);
                           });
}

// Clients of a stream have nothing more to say, but they leave. As long as this waits, the session lives.
void Session::watch_for_end() {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(256), [self = shared_from_this()](const error_code& error, std::size_t) {
    if (!error) return self->watch_for_end();
    self->ended_ = true;
    self->end_stream();
  });
}

void Session::end_stream() {
  if (std::exchange(streaming_, false)) server_.streams.remove(*this);
  socket_.close();
}

void Session::send(std::shared_ptr<const std::string> text) {
  event_ = std::move(text);
  unsent_ = {asio::buffer(*event_), asio::const_buffer()};
  write_event();
}

void Session::write_event() {
  // A client that takes nothing for so long is hung up on, which ends watch_for_end, too.
  socket_.expires_after(server_.limits.progress);
  socket_.async_write_some(unsent_, [self = shared_from_this()](const error_code& error, std::size_t count) {
    if (error) return self->end_stream();
    self->unsent_[0] += count;
    if (self->unsent_[0].size() > 0) return self->write_event();
    self->server_.streams.sent(*self);
  });
}

void begin_session(Listener& server, PlainSocket socket, bool too_many) {
  const auto session = std::make_shared<Session>(server, std::move(socket));
  too_many ? session->turn_away() : session->run();
}

}  // namespace sonde::server
