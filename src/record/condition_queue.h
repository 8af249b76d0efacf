// Conditions in code (ProbeOptions::when) that wait for a thread of the program, if RecorderOptions::callbacks says so.
// The backend queues the questions of a step and continues; the step is written when they are answered.
//
// No thread waits for another one here. A thread that waits for the backend, as in flush, answers all open questions,
// including those that another thread has started: that one may need a lock which this one holds. The first answer
// counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "record/step_data.h"

namespace sonde::record {

class ConditionQueue {
 public:
  enum class Answer : std::uint8_t { holds, fails, threw };

  // The questions of one step, which must not change until it is answered.
  struct Questions {
    std::shared_ptr<const StepData> step;
    std::vector<std::size_t> tensors;  // of the step: those with a condition

    std::vector<Answer> answers;        // one for each, once it is answered
    std::atomic<bool> answered{false};  // after that nothing changes
    bool begun = false;                 // guarded by the queue
  };

  // Called by the backend.
  void push(std::shared_ptr<Questions> questions);

  // Any thread.
  bool empty() const noexcept { return waiting_.load(std::memory_order_acquire) == 0; }
  // Answers waiting questions on the calling thread. `also_begun`: including those that another thread has started.
  // True if it answered any.
  bool answer(bool also_begun);

  static Answer ask(const StepData& step, const StepData::Tensor& tensor) noexcept;

  // ---- Around fork().
  std::mutex& mutex() noexcept { return mutex_; }
  void clear() noexcept;

 private:
  std::shared_ptr<Questions> next(bool also_begun);

  std::atomic<std::size_t> waiting_{0};
  std::mutex mutex_;  // guards the following members
  std::vector<std::shared_ptr<Questions>> questions_;
};

}  // namespace sonde::record
