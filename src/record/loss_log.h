// Records that were dropped before the backend could write them: counted at once, and kept until the log has a gap
// record for them. Safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "record/counter_set.h"
#include "record/pool.h"
#include "sinks/values.h"

namespace sonde::record {

// The calls that a payload stands for.
struct RecordCount {
  std::uint64_t scalars = 0;
  std::uint64_t tensors = 0;
};
RecordCount count_of(const Job& job) noexcept;

class LossLog {
 public:
  explicit LossLog(CounterSet& counters) : counters_(counters) {}

  void lose_scalar(std::int64_t step) noexcept;
  // Null if the tensor does not belong to a probe.
  void lose_tensor(const ProbeJob* job, std::int64_t step) noexcept;
  // Counts the calls that a payload stands for; the payload returns to its pool.
  void lose(PayloadPtr payload, std::int64_t step) noexcept;
  // The same for a payload that never reaches the backend. The end of its step takes the number of such tensors.
  void lose_unseen(PayloadPtr payload, std::int64_t step) noexcept;
  std::uint64_t take_unseen(Pass pass, std::int64_t step);
  void lose_step_mark(Op op, std::uint32_t pass, std::int64_t step) noexcept;
  // The begin of a step was lost: its first tensor begins it. True once for each.
  bool take_lost_begin(Pass pass, std::int64_t step);

  // All since the last call. Losses of one probe are merged, from the first step to the last.
  std::vector<sinks::Loss> take();

  // ---- Around fork().
  std::mutex& mutex() noexcept { return mutex_; }
  void clear() noexcept;

 private:
  void note(const ProbeEntry* probe, bool evaluation, std::int64_t step) noexcept;

  CounterSet& counters_;
  std::atomic<bool> any_{false};
  std::atomic<bool> any_unseen_{false};
  std::mutex mutex_;  // guards the following members
  std::vector<sinks::Loss> losses_;
  using StepKey = std::tuple<std::uint32_t, bool, std::int64_t>;  // id and evaluation of its pass, and the step
  std::map<StepKey, std::uint64_t> unseen_;                       // tensors, of steps that have not ended yet
  std::deque<std::pair<Pass, std::int64_t>> lost_begins_;         // the last ones, of steps and passes
};

}  // namespace sonde::record
