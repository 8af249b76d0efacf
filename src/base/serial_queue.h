// A thread that runs jobs one after the other, in order. It starts with the first job.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/thread.h"

namespace sonde::base {

class SerialQueue {
 public:
  explicit SerialQueue(std::string name) : name_(std::move(name)) {}
  ~SerialQueue();  // finishes all jobs first
  SerialQueue(const SerialQueue&) = delete;
  SerialQueue& operator=(const SerialQueue&) = delete;

  // Called by one thread. A job must not throw. If no thread can be started, or there is no memory to queue the job, it
  // runs before this returns, after all earlier ones.
  void push(std::function<void()> job) noexcept;
  // Returns when all jobs so far are done. Any thread except its own.
  void wait();

 private:
  void work();

  const std::string name_;
  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;  // the first one is running
  bool ending_ = false;
  std::optional<Thread> thread_;  // the last member: it uses all others
};

}  // namespace sonde::base
