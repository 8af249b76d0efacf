// The clients of the event stream, and who of them is told what. All calls from one thread.
//
// A client is asked about, sent to, or at rest. One that takes long to read what it was sent is not queued for: when it
// is done, it gets everything since as one event. So a slow one costs no memory.
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
  // Then says Streams::sent or Streams::remove, not before it returns.
  virtual void send(std::shared_ptr<const std::string> text) = 0;
};

class Streams {
 public:
  // `ask` has somebody find out what is new since that revision, who then calls `answer` with the same revision.
  explicit Streams(std::function<void(std::uint64_t seen)> ask) : ask_(std::move(ask)) {}

  // It is told what is new since `seen` at once. The client removes itself before it goes.
  void add(StreamClient& client, std::uint64_t seen);
  void remove(StreamClient& client);
  void sent(StreamClient& client);

  void changed(std::uint64_t revision);
  void answer(std::uint64_t seen, const query::Change& change);
  // A sign of life for those at rest.
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
  std::set<std::uint64_t> asked_;  // revisions that somebody is finding out about
  std::uint64_t latest_ = 0;
};

// One event as the stream has it.
std::string event_text(const query::Change& change);

}  // namespace sonde::server
