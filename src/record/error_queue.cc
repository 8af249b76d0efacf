#include "record/error_queue.h"

#include <string>
#include <utility>

namespace sonde::record {

void ErrorQueue::push(Status status) noexcept {
  if (!handler_) return;
  const std::scoped_lock lock(mutex_);
  try {
    if (errors_.size() < kMost) {
      errors_.push_back(std::move(status));
    } else {
      ++untold_;
    }
  } catch (...) {
    ++untold_;
  }
  pending_.store(true, std::memory_order_release);
}

bool ErrorQueue::deliver() noexcept {
  if (empty()) return false;
  const auto call = [&](const Status& error) noexcept {
    try {
      handler_(error);
    } catch (...) {  // NOLINT(bugprone-empty-catch): an error in the handler must not end the thread
    }
  };
  std::unique_lock lock(mutex_);
  if (std::exchange(delivering_, true)) return false;
  const std::vector<Status> errors = std::exchange(errors_, {});
  const std::uint64_t untold = std::exchange(untold_, 0);
  pending_.store(false, std::memory_order_relaxed);
  lock.unlock();
  for (const Status& error : errors) call(error);
  try {
    if (untold > 0) {
      call({Code::exhausted, std::to_string(untold) + " more errors came at the same time and are not listed"});
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for the sentence
  }
  lock.lock();
  delivering_ = false;
  return true;
}

void ErrorQueue::clear() noexcept {
  errors_.clear();
  delivering_ = false;
  untold_ = 0;
  pending_.store(false);
}

}  // namespace sonde::record
