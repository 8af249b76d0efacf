// A few threads for what may take a while.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "base/thread.h"
#include "sonde/status.h"

namespace sonde::server {

struct Job {
  std::function<void()> run;         // must not throw
  std::function<bool()> unwanted{};  // whether nobody waits for it any more, as far as is known; may be empty
};

class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { stop(); }

  // `most_waiting`: jobs that may wait for a thread.
  Status start(int threads, std::size_t most_waiting);
  // Any thread. First come, first served. False, and nothing is done, where too many wait already; those that nobody
  // wants any more make room, and end on the thread that calls this.
  bool post(Job job);
  // Nothing begins after this; what waits is dropped, what has begun goes on.
  void close() noexcept;
  // Also waits for jobs that have begun.
  void stop() noexcept;

 private:
  void work();
  bool make_room(std::vector<Job>& dropped);

  std::mutex mutex_;  // of the following
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t most_waiting_ = 0;
  bool closed_ = false;

  std::vector<Thread> threads_;
};

}  // namespace sonde::server
