#include "server/workers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::server {

Status Workers::start(int threads, std::size_t most_waiting) {
  most_waiting_ = most_waiting;
  for (int i = 0; i < threads; ++i) {
    Result<base::Thread> thread = base::Thread::start("sonde-answer", [this] { work(); });
    if (!thread) return thread.error();
    threads_.push_back(*std::move(thread));
  }
  return Status::success();
}

// Whether there is some.
bool Workers::make_room(std::vector<Job>& dropped) {
  if (jobs_.size() < most_waiting_) return true;
  const auto unwanted =
      std::ranges::stable_partition(jobs_, [](const Job& job) { return !job.unwanted || !job.unwanted(); });
  dropped.assign(std::make_move_iterator(unwanted.begin()), std::make_move_iterator(unwanted.end()));
  jobs_.erase(unwanted.begin(), unwanted.end());
  return jobs_.size() < most_waiting_;
}

bool Workers::post(Job job) {
  std::vector<Job> dropped;  // destroyed outside of the lock, with what they hold
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || !make_room(dropped)) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void Workers::close() noexcept {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(jobs_);
  }
  changed_.notify_all();
}

void Workers::stop() noexcept {
  close();
  threads_.clear();
}

void Workers::work() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
      if (closed_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job.run();
  }
}

}  // namespace sonde::server
