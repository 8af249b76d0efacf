// The counters of a recorder. All numbers only grow; any thread reads them.
#pragma once

#include <atomic>
#include <cstdint>

#include "sinks/record_file.h"
#include "sonde/options.h"

namespace sonde::record {

class CounterSet {
 public:
  Counters read() const noexcept {
    const auto get = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
    return {.scalars = get(scalars_),
            .tensors = get(tensors_),
            .dropped_scalars = get(dropped_scalars_),
            .dropped_tensors = get(dropped_tensors_),
            .rejected = get(rejected_),
            .dropped_step_marks = get(dropped_step_marks_),
            .out_of_memory = get(tally_.out_of_memory),
            .write_errors = get(tally_.write_errors),
            .lost_records = get(tally_.lost_records),
            .bytes_written = get(tally_.bytes_written),
            .captures = get(captures_),
            .flight_dropped = get(flight_dropped_),
            .overflowed_scalars = get(overflowed_scalars_)};
  }

  // ---- Only the backend thread.
  void count_scalar() noexcept { increment(scalars_); }
  void count_tensor() noexcept { increment(tensors_); }
  void count_capture() noexcept { increment(captures_); }
  void count_overflowed_scalar() noexcept { increment(overflowed_scalars_); }
  void set_flight_dropped(std::uint64_t count) noexcept { flight_dropped_.store(count, std::memory_order_relaxed); }
  // For passes that are open at the same time the largest number counts; a training step may go back.
  void set_committed(std::int64_t step, bool beside_others) noexcept {
    if (beside_others && step < committed_step_.load(std::memory_order_relaxed)) return;
    committed_step_.store(step, std::memory_order_release);
  }
  // For sinks, which count from their own threads as well.
  sinks::Tally& tally() noexcept { return tally_; }

  // ---- Any thread.
  void count_dropped_scalar() noexcept { dropped_scalars_.fetch_add(1, std::memory_order_relaxed); }
  void count_dropped_tensor() noexcept { dropped_tensors_.fetch_add(1, std::memory_order_relaxed); }
  void count_dropped(std::uint64_t scalars, std::uint64_t tensors) noexcept {
    dropped_scalars_.fetch_add(scalars, std::memory_order_relaxed);
    dropped_tensors_.fetch_add(tensors, std::memory_order_relaxed);
  }
  void count_dropped_step_mark() noexcept { dropped_step_marks_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t dropped_step_marks() const noexcept { return dropped_step_marks_.load(std::memory_order_relaxed); }
  void count_out_of_memory() noexcept { tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed); }
  void count_rejected(std::uint64_t records = 1) noexcept { rejected_.fetch_add(records, std::memory_order_relaxed); }
  std::int64_t committed_step() const noexcept { return committed_step_.load(std::memory_order_acquire); }
  // Time spent on tensors and steps, by callers and the backend, if a budget needs it.
  void add_busy(std::uint64_t nanoseconds) noexcept { busy_.fetch_add(nanoseconds, std::memory_order_relaxed); }
  double busy_seconds() const noexcept { return static_cast<double>(busy_.load(std::memory_order_relaxed)) * 1e-9; }

 private:
  static void increment(std::atomic<std::uint64_t>& counter) noexcept {  // has one writer
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // The backend's counters are on other cache lines than those of the callers.
  alignas(64) std::atomic<std::uint64_t> scalars_{0};
  std::atomic<std::uint64_t> tensors_{0};
  std::atomic<std::int64_t> committed_step_{-1};
  sinks::Tally tally_;
  std::atomic<std::uint64_t> captures_{0};
  std::atomic<std::uint64_t> flight_dropped_{0};
  std::atomic<std::uint64_t> overflowed_scalars_{0};
  alignas(64) std::atomic<std::uint64_t> busy_{0};  // ns
  std::atomic<std::uint64_t> dropped_scalars_{0};
  std::atomic<std::uint64_t> dropped_tensors_{0};
  std::atomic<std::uint64_t> rejected_{0};
  std::atomic<std::uint64_t> dropped_step_marks_{0};
};

}  // namespace sonde::record
