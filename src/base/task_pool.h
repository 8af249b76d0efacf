// A few threads that share the work of one caller: a loop with independent iterations.
//
// The caller works as well, so that a pool of one thread has no threads and costs nothing. Threads start with the first
// loop that needs them, which is also how a forked child gets its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/thread.h"

namespace sonde::base {

class TaskPool {
 public:
  // `threads`: how many work at the same time, including the caller; at least 1.
  TaskPool(std::string name, int threads);
  ~TaskPool();
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  int threads() const noexcept { return threads_; }

  // Calls `body(i)` for each i below `count`, each once, in any order and on any of the threads. Returns when all are
  // done; rethrows the first exception. If threads cannot be started, fewer do the work. One call at a time.
  void run(std::size_t count, const std::function<void(std::size_t)>& body);

  // A quarter of the machine's processors, at least one.
  static int default_threads() noexcept;

 private:
  struct Loop {
    const std::function<void(std::size_t)>* body = nullptr;
    std::size_t count = 0;
    std::atomic<std::size_t> next{0};
    int helpers = 0;           // threads of the pool that work on it; guarded by the pool
    std::exception_ptr error;  // the first one; guarded by the pool
  };
  void start_helpers();
  void help();
  void work(Loop& loop) noexcept;

  const std::string name_;
  const int threads_;
  bool tried_ = false;  // whether starting the helpers was tried
  std::mutex mutex_;    // guards the following members
  std::condition_variable wake_;
  std::condition_variable done_;
  Loop* loop_ = nullptr;  // the loop that helpers may join
  int wanted_ = 0;        // helpers that may still join it
  bool ending_ = false;
  std::vector<Thread> helpers_;  // the last member: they use all others
};

}  // namespace sonde::base
