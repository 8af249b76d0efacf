// The steps in progress: training steps follow one another, several passes of evaluation and inference may be open at
// the same time. Belongs to the backend thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "record/message.h"
#include "record/step_data.h"

namespace sonde::record {

class OpenSteps {
 public:
  // The step in progress; null if it has ended, or never began. Valid until it is removed.
  StepData* find(Pass pass, std::int64_t step) noexcept;
  // The training step in progress, or null.
  StepData* training() noexcept { return training_.open ? &training_ : nullptr; }
  // A training step must have ended before the next one begins.
  StepData& begin(Pass pass, std::int64_t step);
  // Removes a step that has been written.
  void remove(StepData& step) noexcept;

  // Adds a scalar to the passes of inference with its number; if there are none, to the training step and to every
  // evaluation pass in progress. A scalar of an evaluation within a training step is added to the training step only if
  // that has no value of its own.
  void set_scalar(std::uint32_t tag, std::string_view name, double value, std::int64_t step);

  // Whether a step is in progress at whose end triggers are evaluated.
  bool any_but_evaluation() const noexcept;
  // All steps, the training step first and then the passes in the order in which they began.
  std::vector<StepData*> all();
  StepData* first() noexcept;  // of these, or null

 private:
  static constexpr std::size_t kSpare = 16;

  StepData training_;
  std::vector<std::unique_ptr<StepData>> passes_;  // in the order in which they began
  std::vector<std::unique_ptr<StepData>> spare_;   // ended ones, for reuse
};

}  // namespace sonde::record
