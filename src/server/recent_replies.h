// A cache of recent replies, for pages that ask the same: the socket thread can send them at once, whereas a question
// costs two thread switches. All calls from one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "server/site.h"

namespace sonde::server {

class RecentReplies {
 public:
  using Clock = std::chrono::steady_clock;

  // The key of a call; empty if its reply must not be cached.
  static std::string key_of(const ApiCall& call);

  // The reply if it is still as good as a new one: from the same revision of the log, and so recent that time-dependent
  // parts do not matter. Null otherwise.
  std::shared_ptr<const Reply> find(const std::string& key, std::uint64_t revision, Clock::time_point now) const;
  // The last cached reply, however old; null if there is none.
  std::shared_ptr<const Reply> last(const std::string& key) const;
  // Large replies and errors are not cached. `revision` is from before the question was asked.
  void keep(const std::string& key, std::uint64_t revision, Clock::time_point now, std::shared_ptr<const Reply> reply);

 private:
  struct Entry {
    std::uint64_t revision = 0;
    Clock::time_point made;
    std::shared_ptr<const Reply> reply;
  };
  std::unordered_map<std::string, Entry> replies_;
  std::size_t bytes_ = 0;  // total of all entries
};

}  // namespace sonde::server
