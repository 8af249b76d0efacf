#include "server/workers.h"

#include <utility>

namespace sonde::server {

Status Workers::start(int threads) {
  for (int i = 0; i < threads; ++i) {
    Result<Thread> thread = Thread::start("sonde-answer", [this] { work(); });
    if (!thread) return thread.error();
    threads_.push_back(*std::move(thread));
  }
  return Status::success();
}

void Workers::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Workers::stop() noexcept {
  std::deque<std::function<void()>> dropped;  // outside of the lock: what they hold may end with them
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
  }
  changed_.notify_all();
  threads_.clear();
}

void Workers::work() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace sonde::server
