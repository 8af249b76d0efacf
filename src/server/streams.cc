#include "server/streams.h"

#include <algorithm>
#include <utility>

namespace sonde::server {

std::string event_text(const query::Change& change) {
  return "event: change\nid: " + std::to_string(change.revision) + "\ndata: " + change.data + "\n\n";
}

void Streams::ask_for(Entry& entry) {
  entry.state = State::asking;
  if (asked_.insert(entry.seen).second) ask_(entry.seen);
}

void Streams::add(StreamClient& client, std::uint64_t seen) { ask_for(clients_[&client] = {seen, State::asking}); }

void Streams::remove(StreamClient& client) { clients_.erase(&client); }

void Streams::sent(StreamClient& client) {
  const auto found = clients_.find(&client);
  if (found == clients_.end()) return;
  found->second.state = State::resting;
  if (found->second.seen < latest_) ask_for(found->second);
}

void Streams::changed(std::uint64_t revision) {
  latest_ = std::max(latest_, revision);
  for (auto& [client, entry] : clients_) {
    if (entry.state == State::resting && entry.seen < latest_) ask_for(entry);
  }
}

void Streams::answer(std::uint64_t seen, const query::Change& change) {
  asked_.erase(seen);
  latest_ = std::max(latest_, change.revision);
  const auto text = std::make_shared<const std::string>(event_text(change));
  for (auto& [client, entry] : clients_) {
    if (entry.state != State::asking || entry.seen != seen) continue;
    entry = {change.revision, State::sending};
    client->send(text);
  }
}

void Streams::heartbeat() {
  static const auto text = std::make_shared<const std::string>(":\n\n");
  for (auto& [client, entry] : clients_) {
    if (entry.state != State::resting) continue;
    entry.state = State::sending;
    client->send(text);
  }
}

}  // namespace sonde::server
