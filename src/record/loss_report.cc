#include "record/loss_report.h"

#include <utility>
#include <vector>

namespace sonde::record {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;  // ns

std::string counted(std::uint64_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace

void LossReport::lost_records(std::uint64_t count, const Status& why) noexcept {
  const std::scoped_lock lock(mutex_);
  lost_ += count;
  if (!why_.ok()) return;
  try {
    why_ = why;
  } catch (...) {
    why_ = {why.code(), "out of memory"};  // short enough to need none
  }
}

void LossReport::tell_due(const Dropped& dropped, std::uint64_t now, const Tell& tell_one) {
  tell(dropped, &now, tell_one);
}

Status LossReport::tell_rest(const Dropped& dropped, const Tell& tell_one) {
  tell(dropped, nullptr, tell_one);
  const std::scoped_lock lock(mutex_);
  return std::exchange(first_, Status::success());
}

// Where memory runs out for a sentence, all is as before: it is told later.
void LossReport::tell(const Dropped& dropped, const std::uint64_t* now, const Tell& tell_one) {
  Status drops;
  Status files;
  {
    const std::scoped_lock lock(mutex_);
    const auto is_time = [&](std::uint64_t told_at) {
      return now == nullptr || told_at == 0 || *now - told_at >= kSecond;
    };
    const bool any =
        dropped.scalars > told_.scalars || dropped.tensors > told_.tensors || dropped.step_marks > told_.step_marks;
    if (any && is_time(drops_told_at_)) drops = sentence_of_drops(dropped);
    if (!why_.ok() && is_time(files_told_at_)) files = sentence_of_files();
    if (first_.ok()) first_ = drops.ok() ? files : drops;
    if (!drops.ok()) {
      told_ = dropped;
      if (now != nullptr) drops_told_at_ = *now;
    }
    if (!files.ok()) {
      lost_ = 0;
      why_ = Status::success();
      if (now != nullptr) files_told_at_ = *now;
    }
  }
  if (!drops.ok()) tell_one(drops);
  if (!files.ok()) tell_one(files);
}

Status LossReport::sentence_of_drops(const Dropped& dropped) const {
  std::vector<std::string> parts;
  const std::uint64_t tensors = dropped.tensors - told_.tensors;
  const std::uint64_t scalars = dropped.scalars - told_.scalars;
  const std::uint64_t marks = dropped.step_marks - told_.step_marks;
  if (tensors > 0) parts.push_back(counted(tensors, "tensor"));
  if (scalars > 0) parts.push_back(counted(scalars, "scalar"));
  if (marks > 0) parts.push_back(counted(marks, "step mark"));
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  text += tensors + scalars + marks == 1 ? " was" : " were";
  text += " dropped because the buffer was full: ";
  if (tensors > 0) text += "set a larger RecorderOptions::memory, ";
  text += "record less often, or let calls wait longer (Overflow::wait, RecorderOptions::max_wait)";
  return {Code::exhausted, std::move(text)};
}

Status LossReport::sentence_of_files() const {
  std::string text = why_.message();
  if (lost_ > 0) text += " (" + counted(lost_, "record") + " lost)";
  return {why_.code(), std::move(text)};
}

}  // namespace sonde::record
