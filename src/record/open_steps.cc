#include "record/open_steps.h"

#include <algorithm>
#include <utility>

namespace sonde::record {

StepData* OpenSteps::find(Pass pass, std::int64_t step) noexcept {
  if (pass.id == 0) return training_.open && training_.step == step ? &training_ : nullptr;
  const auto found = std::ranges::find(passes_, pass.id, [](const auto& open) { return open->pass.id; });
  return found != passes_.end() && (*found)->step == step ? found->get() : nullptr;
}

StepData& OpenSteps::begin(Pass pass, std::int64_t step) {
  StepData* data = &training_;
  if (pass.id != 0) {
    if (spare_.empty()) spare_.push_back(std::make_unique<StepData>());
    passes_.push_back(std::move(spare_.back()));
    spare_.pop_back();
    data = passes_.back().get();
  }
  data->begin(step);
  data->pass = pass;
  return *data;
}

void OpenSteps::remove(StepData& step) noexcept {
  step.open = false;
  if (&step == &training_) return;
  const auto found = std::ranges::find(passes_, &step, [](const auto& open) { return open.get(); });
  try {
    if (spare_.size() < kSpare) spare_.push_back(std::move(*found));
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory: the next pass needs new memory
  }
  passes_.erase(found);
}

void OpenSteps::set_scalar(std::uint32_t tag, std::string_view name, double value, std::int64_t step) {
  bool of_pass = false;
  bool evaluating = false;
  for (const auto& open : passes_) {
    evaluating |= open->pass.evaluation;
    if (open->pass.evaluation || open->step != step) continue;
    open->set_scalar(tag, name, value);
    of_pass = true;
  }
  if (of_pass) return;
  for (const auto& open : passes_) {
    if (open->pass.evaluation) open->set_scalar(tag, name, value);
  }
  if (training_.open && !(evaluating && training_.has_scalar(tag))) training_.set_scalar(tag, name, value);
}

bool OpenSteps::any_but_evaluation() const noexcept {
  return training_.open || std::ranges::any_of(passes_, [](const auto& open) { return !open->pass.evaluation; });
}

StepData* OpenSteps::first() noexcept {
  if (training_.open) return &training_;
  return passes_.empty() ? nullptr : passes_.front().get();
}

std::vector<StepData*> OpenSteps::all() {
  std::vector<StepData*> found;
  if (training_.open) found.push_back(&training_);
  for (const auto& open : passes_) found.push_back(open.get());
  return found;
}

}  // namespace sonde::record
