#include "record/sink_set.h"

namespace sonde::record {
namespace {

constexpr std::string_view kDroppedTag = "sonde/dropped";

// Not the disk's fault.
bool is_unusable(const Status& status) noexcept {
  return status.code() == Code::invalid_argument || status.code() == Code::unsupported;
}

}  // namespace

std::string_view SinkSet::name(std::uint32_t tag) {
  if (tag >= names_.size()) names_.resize(tag + 1);
  if (names_[tag].empty()) names_[tag] = tags_.name(tag);
  return names_[tag];
}

void SinkSet::note(const Status& status) {
  if (status.ok()) return;
  if (is_unusable(status)) {
    counters_.count_rejected();
  } else if (status.code() == Code::exhausted) {  // records are lost: no later flush can write them
    loss_report_.lost_records(0, status);
    return;
  } else if (std::exchange(failing_, true)) {
    return;
  }
  errors_.push(status);
}

void SinkSet::reject(const sinks::Stamp& stamp, const Status& status, bool evaluation, const sinks::ProbeName* probe) {
  note(status);
  leave_rejected(stamp, status, evaluation, probe);
}

// Writes the gap for it.
void SinkSet::leave_rejected(const sinks::Stamp& stamp, const Status& status, bool evaluation,
                             const sinks::ProbeName* probe) {
  sinks::Loss loss;
  if (probe != nullptr) loss.probe = *probe;
  loss.evaluation = evaluation;
  loss.first_step = loss.last_step = stamp.step;
  loss.count = 1;
  loss.reason = stats_record::GapReason::rejected;
  loss.detail = status.message();
  lose(stamp.wall_time, loss);
}

bool SinkSet::write(const sinks::Stamp& stamp, std::span<const sinks::Value> values) {
  dirty_ = true;
  bool usable = true;
  for (const auto& sink : sinks_) {
    const Status status = sink->write(stamp, values);
    if (!is_unusable(status)) {
      note(status);
    } else if (std::exchange(usable, false)) {
      reject(stamp, status);
    } else {
      errors_.push(status);
    }
  }
  return usable;
}

void SinkSet::write_probe(const sinks::Stamp& stamp, const sinks::ProbeName& probe, const sinks::Value& value) {
  dirty_ = true;
  for (const auto& sink : sinks_) {
    const Status status = sink->write(stamp, {&value, 1});
    if (is_unusable(status) && !refused_.emplace(probe.id, value.index()).second) {
      counters_.count_rejected();
    } else {
      note(status);
    }
    if (is_unusable(status)) leave_rejected(stamp, status, false, &probe);
  }
}

void SinkSet::end_step(const sinks::StepEnd& step) {
  dirty_ = true;
  for (const auto& sink : sinks_) note(sink->end_step(step));
}

void SinkSet::say(std::string_view tag_name, const sinks::Stamp& stamp, std::string_view text) {
  // If the user records something else under that name, the user's tag stays.
  if (auto id = tags_.resolve(tag_name, tags::Plugin::text)) write(stamp, sinks::TextValue{tag(*id), text});
}

void SinkSet::give_up(const sinks::Stamp& stamp, const std::string& detail) {
  sinks::Loss loss;
  loss.first_step = loss.last_step = stamp.step;
  loss.reason = stats_record::GapReason::budget;
  loss.detail = detail;
  lose(stamp.wall_time, loss);
  say("sonde/budget", stamp, detail);
}

void SinkSet::lose(double wall_time, const sinks::Loss& loss) {
  dirty_ = true;
  for (const auto& sink : sinks_) note(sink->lose(loss));
  auto dropped = tags_.resolve(kDroppedTag, tags::Plugin::scalars);
  if (!dropped) return;  // the user records something else under that name
  if (loss.reason != stats_record::GapReason::no_room) return;
  const Counters counters = counters_.read();
  const sinks::Value value =
      sinks::ScalarValue{tag(*dropped), static_cast<double>(counters.dropped_scalars + counters.dropped_tensors)};
  write({wall_time, loss.last_step}, {&value, 1});
}

Status SinkSet::flush() {
  dirty_ = false;
  Status first;
  for (const auto& sink : sinks_) {
    Status status = sink->flush();
    note(status);
    if (!status.ok()) dirty_ = true;  // what the disk rejected is tried again
    if (first.ok()) first = std::move(status);
  }
  if (first.ok()) failing_ = false;
  return first;
}

Status SinkSet::close() {
  Status first;
  for (const auto& sink : sinks_) {
    Status status = sink->close();
    note(status);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace sonde::record
