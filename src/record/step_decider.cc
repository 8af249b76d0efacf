#include "record/step_decider.h"

#include <algorithm>
#include <utility>

#include "record/step_rows.h"

namespace sonde::record {
namespace {

bool holds(const policy::Engine& engine, const StepData::Tensor& tensor, std::uint32_t watch, bool evaluation,
           const StepDecider::OwnCondition& own) {
  if (watch == policy::Part::kOwn) return !tensor.probe->options.when || own(tensor);
  if (tensor.plan->engine == &engine) return engine.keeps(watch, evaluation);
  return !tensor.plan->engine->is_conditional(watch);  // the policy has changed within the step
}

}  // namespace

bool StepDecider::decides_later(const StepData::Tensor& tensor) {
  const auto& parts = tensor.plan->parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!policy::has_part(tensor.due, i)) continue;
    if (has(parts[i].keep, kFiles | Keep::csv)) return true;
    if (parts[i].watch == policy::Part::kOwn ? static_cast<bool>(tensor.probe->options.when)
                                             : tensor.plan->engine->is_conditional(parts[i].watch)) {
      return true;
    }
  }
  return false;
}

void StepDecider::end_step(policy::Engine& engine, const StepData& step, bool evaluation) {
  facts_.clear();
  due_.clear();
  for (const StepData::Tensor& tensor : step.tensors) {
    facts_.push_back({.id = tensor.probe->id,
                      .name = tensor.probe->name,
                      .kind = tensor.probe->options.kind,
                      .summary = &tensor.record.summary,
                      .negative_infinity_allowed = tensor.plan->negative_infinity_allowed});
    if (tensor.plan->engine != &engine) continue;
    for (std::size_t i = 0; i < tensor.plan->parts.size(); ++i) {
      const std::uint32_t watch = tensor.plan->parts[i].watch;
      if (policy::has_part(tensor.due, i) && watch != policy::Part::kOwn) due_.push_back(watch);
    }
  }
  std::ranges::sort(due_);
  due_.erase(std::ranges::unique(due_).begin(), due_.end());
  engine.end_step({step.step, step.scalars, facts_}, evaluation, due_);
}

Decision StepDecider::decide(const policy::Engine& engine, const StepData& step, bool evaluation, policy::Level level,
                             const OwnCondition& own) {
  Decision decision;
  decision.held.reserve(step.tensors.size());
  decision.keeps.reserve(step.tensors.size());
  for (const StepData::Tensor& tensor : step.tensors) {
    policy::Parts held = tensor.due;
    const auto& parts = tensor.plan->parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!policy::has_part(held, i)) continue;
      if (!holds(engine, tensor, parts[i].watch, evaluation, own)) held &= ~(policy::Parts{1} << i);
    }
    decision.held.push_back(held);
    decision.keeps.push_back(policy::limit(tensor.plan->keep(held), level));
  }
  return decision;
}

void StepDecider::drop_own(const StepData::Tensor& tensor, policy::Level level, std::size_t i, Decision& decision) {
  policy::Parts& held = decision.held[i];
  for (std::size_t part = 0; part < tensor.plan->parts.size(); ++part) {
    if (tensor.plan->parts[part].watch == policy::Part::kOwn) held &= ~(policy::Parts{1} << part);
  }
  decision.keeps[i] = policy::limit(tensor.plan->keep(held), level);
}

void StepDecider::take_rows(StepData::Tensor& tensor, policy::Parts held, Keep keep) {
  if (tensor.of_rows.empty()) return;
  const auto rows_of = [&](Keep flag) -> StepData::OfRows* {
    const auto same = std::ranges::find(tensor.of_rows, sample_of(tensor, held, flag), &StepData::OfRows::sample);
    return same == tensor.of_rows.end() ? nullptr : &*same;
  };
  StepData::OfRows* const histogram = has(keep, Keep::histogram) ? rows_of(Keep::histogram) : nullptr;
  const StepData::OfRows* const stats = has(keep, Keep::stats) ? rows_of(Keep::stats) : histogram;
  if (histogram != nullptr) {
    tensor.record.histogram = std::move(histogram->histogram);
    tensor.buckets = std::move(histogram->buckets);
  }
  if (stats == nullptr) return;
  tensor.record.summary = stats->summary;
  tensor.record.shape = stats->shape;
}

}  // namespace sonde::record
