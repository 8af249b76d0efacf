// Decides at the end of a step what is kept of its tensors. Pure: reads what was gathered and asks the engine.
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
  std::vector<policy::Parts> held;  // the parts of its plan that were due and whose conditions hold
  std::vector<Keep> keeps;          // what they keep, within the budget
};

class StepDecider {
 public:
  static constexpr Keep kFiles = Keep::whole | Keep::npy | Keep::npz;
  static constexpr Keep kElements = kFiles | Keep::csv | Keep::image | Keep::audio | Keep::print;

  // Whether the end of the step must be awaited to know what is kept of a tensor, or to write it with the others.
  static bool decides_later(const StepData::Tensor& tensor);

  // Lets the engine look at what the step left; once a step.
  void end_step(policy::Engine& engine, const StepData& step, bool evaluation);
  // Whether the condition in code of a tensor's probe holds.
  using OwnCondition = std::function<bool(const StepData::Tensor&)>;
  // After it. The engine is the one in force, the plan of a tensor may be an earlier one's.
  static Decision decide(const policy::Engine& engine, const StepData& step, bool evaluation, policy::Level level,
                         const OwnCondition& own);

  // Takes back what a tensor's own condition would have kept.
  static void drop_own(const StepData::Tensor& tensor, policy::Level level, std::size_t i, Decision& decision);

  // Lets the record of a tensor be that of the rows which the parts that count ask for.
  static void take_rows(StepData::Tensor& tensor, policy::Parts held, Keep keep);

 private:
  // Used again for every step.
  std::vector<policy::TensorFacts> facts_;
  std::vector<std::uint32_t> due_;
};

}  // namespace sonde::record
