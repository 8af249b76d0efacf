// A few threads for what may take a while.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "base/thread.h"
#include "sonde/status.h"

namespace sonde::server {

class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() { stop(); }

  Status start(int threads);
  // Any thread. First come, first served; a job must not throw.
  void post(std::function<void()> job);
  // Waits for jobs that have begun; the others are dropped.
  void stop() noexcept;

 private:
  void work();

  std::mutex mutex_;  // of the following
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;

  std::vector<Thread> threads_;
};

}  // namespace sonde::server
