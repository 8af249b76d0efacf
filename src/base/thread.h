// All threads start here: named, and with signals blocked except the faults that a thread causes itself (SIGSEGV,
// SIGBUS, ...).
#pragma once

#include <pthread.h>

#include <functional>
#include <string>
#include <utility>

#include "sonde/status.h"

namespace sonde::base {

class Thread {
 public:
  Thread() noexcept = default;
  // `name` is truncated to the 15 characters that the kernel keeps.
  static Result<Thread> start(std::string name, std::function<void()> body);

  Thread(Thread&& other) noexcept : handle_(other.handle_), running_(std::exchange(other.running_, false)) {}
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  // Tells the kernel that the calling thread works in the background: it gets its share of the processors, but does not
  // interrupt another thread as soon as it has something to do. Threads that it starts inherit this.
  static void work_in_background() noexcept;

  void join() noexcept;
  // Lets it continue on its own.
  void detach() noexcept;

 private:
  explicit Thread(pthread_t handle) noexcept : handle_(handle), running_(true) {}
  pthread_t handle_{};
  bool running_ = false;
};

}  // namespace sonde::base
