// Decides at the end of a step what is kept of its tensors. Pure: reads the gathered data and asks the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "policy/budget.h"
#include "policy/engine.h"
#include "record/step_data.h"

namespace sonde::record {

// By tensor of the step.
struct Decision {
  std::vector<policy::Parts> held;  // the parts of its plan that were due and whose conditions are true
  std::vector<Keep> keeps;          // what they keep, within the budget
};

class StepDecider {
 public:
  static constexpr Keep kFiles = Keep::whole | Keep::npy | Keep::npz;
  static constexpr Keep kElements = kFiles | Keep::csv | Keep::image | Keep::audio | Keep::print;

  // Whether a tensor must wait for the end of the step, to know what is kept of it, or to write it with the others.
  static bool decides_later(const StepData::Tensor& tensor);

  // Evaluates the engine's conditions over the step; once per step.
  void end_step(policy::Engine& engine, const StepData& step, bool evaluation);
  // Whether the code condition of a tensor's probe is true.
  using OwnCondition = std::function<bool(const StepData::Tensor&)>;
  // Call it after end_step. The engine is the current one; the plan of a tensor may be from an earlier one.
  static Decision decide(const policy::Engine& engine, const StepData& step, bool evaluation, policy::Level level,
                         const OwnCondition& own);

  // Removes what a tensor's own condition would have kept.
  static void drop_own(const StepData::Tensor& tensor, policy::Level level, std::size_t i, Decision& decision);

  // Replaces the record of a tensor by that of the rows that the held parts ask for.
  static void take_rows(StepData::Tensor& tensor, policy::Parts held, Keep keep);

 private:
  // Reused for every step.
  std::vector<policy::TensorFacts> facts_;
  std::vector<std::uint32_t> due_;
};

}  // namespace sonde::record
