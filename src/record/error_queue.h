// Errors on their way to the error handler: queued by any thread, and delivered where the handler may run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "sonde/options.h"
#include "sonde/status.h"

namespace sonde::record {

class ErrorQueue {
 public:
  // Between two deliveries. Of those beyond, one sentence tells how many there were.
  static constexpr std::size_t kMost = 64;

  // Without a handler nothing is kept.
  explicit ErrorQueue(ErrorHandler handler) : handler_(std::move(handler)) {}

  // Any thread.
  void push(Status status) noexcept;
  bool empty() const noexcept { return !pending_.load(std::memory_order_acquire); }

  // Calls the handler with all that is queued, on the calling thread and without a lock; leaves it to the other one
  // where another thread does so already. What the handler throws is ignored. True where it was called.
  bool deliver() noexcept;

  // ---- Around fork().
  std::mutex& mutex() noexcept { return mutex_; }
  void clear() noexcept;

 private:
  const ErrorHandler handler_;
  std::atomic<bool> pending_{false};
  std::mutex mutex_;  // guards what follows
  bool delivering_ = false;
  std::vector<Status> errors_;
  std::uint64_t untold_ = 0;  // that came when the queue was full
};

}  // namespace sonde::record
