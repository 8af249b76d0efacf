// A thread that does jobs one after the other, in the order in which they come. It starts with the first one.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/thread.h"

namespace sonde {

class SerialQueue {
 public:
  explicit SerialQueue(std::string name) : name_(std::move(name)) {}
  ~SerialQueue();  // does what is left first
  SerialQueue(const SerialQueue&) = delete;
  SerialQueue& operator=(const SerialQueue&) = delete;

  // From one thread. A job must not throw. Where no thread can be started, it is done before this returns.
  void push(std::function<void()> job);
  // Returns when all jobs so far are done. Any thread but its own.
  void wait();

 private:
  void work();

  const std::string name_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // the first one is being done
  bool ending_ = false;
  std::optional<Thread> thread_;  // the last member: it uses all others
};

}  // namespace sonde
