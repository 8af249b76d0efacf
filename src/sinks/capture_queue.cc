#include "sinks/capture_queue.h"

#include <utility>

#include "tensor_files/capture_files.h"

namespace sonde::sinks {

CaptureQueue::~CaptureQueue() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_) thread_->join();
}

Status CaptureQueue::push(CaptureInfo info, FlightPin pin) {
  if (!thread_) {
    auto thread = Thread::start("sonde-capture", [this] { work(); });
    if (!thread) {
      const std::scoped_lock lock(mutex_);
      outcomes_.push_back({info.cause, info.reason, info.step, thread.error()});
      count(outcomes_.back());
      return Status::success();
    }
    thread_.emplace(std::move(*thread));
  }
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back({std::move(info), std::move(pin)});
  }
  changed_.notify_all();
  return Status::success();
}

std::vector<CaptureQueue::Outcome> CaptureQueue::take_outcomes() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(outcomes_, {});
}

void CaptureQueue::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !writing_; });
}

void CaptureQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !jobs_.empty() || ending_; });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    writing_ = true;
    lock.unlock();
    Outcome outcome = write(std::move(job));
    lock.lock();
    outcomes_.push_back(std::move(outcome));
    writing_ = false;
    changed_.notify_all();
  }
}

CaptureQueue::Outcome CaptureQueue::write(Job job) const {
  Outcome outcome = {job.info.cause, job.info.reason, job.info.step, std::string()};
  try {
    outcome.path = tensor_files::write_capture(run_directory_, std::move(job.info), [&] { return job.pin.next(); });
  } catch (...) {
    outcome.path = Status(Code::exhausted, "there is not enough memory");
  }
  count(outcome);
  return outcome;
}

void CaptureQueue::count(const Outcome& outcome) const noexcept {
  if (outcome.path || tally_ == nullptr) return;
  tally_->write_errors.fetch_add(1, std::memory_order_relaxed);
  tally_->lost_records.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace sonde::sinks
