#include "base/serial_queue.h"

#include <utility>

namespace sonde::base {

SerialQueue::~SerialQueue() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_) thread_->join();
}

void SerialQueue::push(std::function<void()> job) noexcept {
  try {
    if (!thread_) {
      auto thread = Thread::start(name_, [this] { work(); });
      if (!thread) return job();
      thread_.emplace(std::move(*thread));
    }
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(std::move(job));
  } catch (...) {  // out of memory: the job is as it was
    wait();
    return job();
  }
  changed_.notify_all();
}

void SerialQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty(); });
}

void SerialQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !jobs_.empty() || ending_; });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    lock.unlock();
    job();
    lock.lock();
    jobs_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace sonde::base
