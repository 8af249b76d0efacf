#include "record/condition_queue.h"

#include <algorithm>
#include <utility>

namespace sonde::record {

ConditionQueue::Answer ConditionQueue::ask(const StepData& step, const StepData::Tensor& tensor) noexcept {
  try {
    return tensor.probe->options.when(step.values()) ? Answer::holds : Answer::fails;
  } catch (...) {
    return Answer::threw;
  }
}

void ConditionQueue::push(std::shared_ptr<Questions> questions) {
  const std::scoped_lock lock(mutex_);
  questions_.push_back(std::move(questions));
  waiting_.store(questions_.size(), std::memory_order_release);
}

std::shared_ptr<ConditionQueue::Questions> ConditionQueue::next(bool also_begun) {
  const std::scoped_lock lock(mutex_);
  for (const auto& questions : questions_) {
    if (questions->begun && !also_begun) continue;
    questions->begun = true;
    return questions;
  }
  return nullptr;
}

bool ConditionQueue::answer(bool also_begun) {
  bool any = false;
  while (const std::shared_ptr<Questions> questions = next(also_begun)) {
    std::vector<Answer> answers;
    answers.reserve(questions->tensors.size());
    for (const std::size_t i : questions->tensors) {
      answers.push_back(ask(*questions->step, questions->step->tensors[i]));
    }
    const std::scoped_lock lock(mutex_);
    std::erase(questions_, questions);
    waiting_.store(questions_.size(), std::memory_order_release);
    if (questions->answered.load(std::memory_order_relaxed)) continue;  // somebody else was faster
    questions->answers = std::move(answers);
    questions->answered.store(true, std::memory_order_release);
    any = true;
  }
  return any;
}

void ConditionQueue::clear() noexcept {
  questions_.clear();
  waiting_.store(0);
}

}  // namespace sonde::record
