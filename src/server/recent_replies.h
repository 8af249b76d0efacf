// Replies of the last moments, for pages that ask the same: the thread of the sockets can send them at once, where a
// question costs two changes of threads. All calls from one thread.
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

  // What tells a call from others; empty where its reply is not to be kept.
  static std::string key_of(const ApiCall& call);

  // The reply where it is still as good as a new one: from the same revision of the log, and so young that what depends
  // on the time alone does not matter. Null otherwise.
  std::shared_ptr<const Reply> find(const std::string& key, std::uint64_t revision, Clock::time_point now) const;
  // The reply that was kept last, however old; null where there is none.
  std::shared_ptr<const Reply> last(const std::string& key) const;
  // Large ones, and those that tell of an error, are not kept. `revision` is from before the question was asked.
  void keep(const std::string& key, std::uint64_t revision, Clock::time_point now, std::shared_ptr<const Reply> reply);

 private:
  struct Entry {
    std::uint64_t revision = 0;
    Clock::time_point made;
    std::shared_ptr<const Reply> reply;
  };
  std::unordered_map<std::string, Entry> replies_;
  std::size_t bytes_ = 0;  // of all that are kept
};

}  // namespace sonde::server
