#include "record/error_queue.h"

#include <string>
#include <utility>

namespace sonde::record {

template <class Added>
void ErrorQueue::add(Added&& status) noexcept {
  if (!handler_) return;
  const std::scoped_lock lock(mutex_);
  try {
    if (errors_.size() < kMost) {
      errors_.push_back(std::forward<Added>(status));
    } else {
      ++untold_;
    }
  } catch (...) {
    ++untold_;
  }
  pending_.store(true, std::memory_order_release);
}

void ErrorQueue::push(Status&& status) noexcept { add(std::move(status)); }
void ErrorQueue::push(const Status& status) noexcept { add(status); }

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
  Status rest;
  try {
    if (untold_ > 0) {
      rest = {Code::exhausted, std::to_string(untold_) + " more errors came at the same time and are not listed"};
    }
    untold_ = 0;
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for the sentence; it comes with the next delivery
  }
  const std::vector<Status> errors = std::exchange(errors_, {});
  pending_.store(untold_ > 0, std::memory_order_relaxed);
  lock.unlock();
  for (const Status& error : errors) call(error);
  if (!rest.ok()) call(rest);
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
