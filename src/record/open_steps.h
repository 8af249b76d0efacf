// The steps in progress: training steps follow one another, passes of evaluation and inference are open side by side.
// Belongs to the backend thread.
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
  // The one in progress; null where it has ended, or never began. Valid until it is removed.
  StepData* find(Pass pass, std::int64_t step) noexcept;
  // The training step in progress, or null.
  StepData* training() noexcept { return training_.open ? &training_ : nullptr; }
  // A training step must have ended before the next one begins.
  StepData& begin(Pass pass, std::int64_t step);
  // It has been written.
  void remove(StepData& step);

  // A scalar is news to the passes of inference that have its number; if there is none, to the training step and to
  // every evaluation pass in progress. What an evaluation within a training step says is news to the training step only
  // where that does not say it itself.
  void set_scalar(std::uint32_t tag, std::string_view name, double value, std::int64_t step);

  // Whether a step is in progress at whose end triggers are looked at.
  bool any_but_evaluation() const noexcept;
  // All, the training step first and then the passes in the order in which they began.
  std::vector<StepData*> all();

 private:
  static constexpr std::size_t kSpare = 16;

  StepData training_;
  std::vector<std::unique_ptr<StepData>> passes_;  // in the order in which they began
  std::vector<std::unique_ptr<StepData>> spare_;   // ended ones, whose memory the next pass uses
};

}  // namespace sonde::record
