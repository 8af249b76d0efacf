// A few threads for work that may take a while.
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
  std::function<bool()> unwanted{};  // whether nobody needs the result any more; may be empty
};

class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { stop(); }

  // `most_waiting`: the maximum number of waiting jobs.
  Status start(int threads, std::size_t most_waiting);
  // Any thread. First come, first served. False, and nothing is done, if too many are waiting; unwanted jobs are
  // dropped first, and destroyed on the calling thread.
  bool post(Job job);
  // Starts nothing after this; waiting jobs are dropped, running ones continue.
  void close() noexcept;
  // Also waits for running jobs.
  void stop() noexcept;

 private:
  void work();
  bool make_room(std::vector<Job>& dropped);

  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t most_waiting_ = 0;
  bool closed_ = false;

  std::vector<base::Thread> threads_;
};

}  // namespace sonde::server
