// The clients of the event stream, and the events for each. All calls from one thread.
//
// A client waits for an answer, is being sent to, or is idle. Nothing is queued for a slow client: when it is ready, it
// gets all changes since then as one event. So a slow client costs no memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "query/api.h"

namespace sonde::server {

class StreamClient {
 public:
  virtual ~StreamClient() = default;
  // Later calls Streams::sent or Streams::remove, not before it returns.
  virtual void send(std::shared_ptr<const std::string> text) = 0;
};

class Streams {
 public:
  // `ask` requests the changes since a revision; `answer` is then called with the same revision.
  explicit Streams(std::function<void(std::uint64_t seen)> ask) : ask_(std::move(ask)) {}

  // It gets the changes since `seen` at once. The client removes itself before it is destroyed.
  void add(StreamClient& client, std::uint64_t seen);
  void remove(StreamClient& client);
  void sent(StreamClient& client);

  void changed(std::uint64_t revision);
  void answer(std::uint64_t seen, const query::Change& change);
  // Keeps idle connections alive.
  void heartbeat();

  std::size_t size() const noexcept { return clients_.size(); }

 private:
  enum class State : std::uint8_t { asking, sending, resting };
  struct Entry {
    std::uint64_t seen = 0;
    State state = State::asking;
  };
  void ask_for(Entry& entry);

  std::function<void(std::uint64_t)> ask_;
  std::unordered_map<StreamClient*, Entry> clients_;
  std::set<std::uint64_t> asked_;  // revisions with a pending request
  std::uint64_t latest_ = 0;
};

// One event in the format of the stream.
std::string event_text(const query::Change& change);

}  // namespace sonde::server
