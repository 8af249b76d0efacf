// Errors for the error handler: queued by any thread, and delivered on the threads where the handler may run.
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
  // Between two deliveries. Beyond that, one sentence gives the number of the rest.
  static constexpr std::size_t kMost = 64;

  // Without a handler nothing is stored.
  explicit ErrorQueue(ErrorHandler handler) : handler_(std::move(handler)) {}

  // Any thread. Where there is no memory for one, it is among those that are only counted.
  void push(Status&& status) noexcept;
  void push(const Status& status) noexcept;
  bool empty() const noexcept { return !pending_.load(std::memory_order_acquire); }

  // Calls the handler with all queued errors, on the calling thread and without a lock; does nothing if another thread
  // is already delivering. Exceptions of the handler are ignored. True unless there was nothing to deliver.
  bool deliver() noexcept;

  // ---- Around fork().
  std::mutex& mutex() noexcept { return mutex_; }
  void clear() noexcept;

 private:
  template <class Added>
  void add(Added&& status) noexcept;

  const ErrorHandler handler_;
  std::atomic<bool> pending_{false};
  std::mutex mutex_;  // guards the following members
  bool delivering_ = false;
  std::vector<Status> errors_;
  std::uint64_t untold_ = 0;  // errors that came when the queue was full
};

}  // namespace sonde::record
