#include "record/sink_set.h"

#include "record/attempt.h"

namespace sonde::record {
namespace {

constexpr std::string_view kDroppedTag = "sonde/dropped";

// Not the disk's fault.
bool is_unusable(const Status& status) noexcept {
  return status.code() == Code::invalid_argument || status.code() == Code::unsupported;
}

}  // namespace

template <class Call>
Status SinkSet::guarded(std::int64_t step, Call&& call) noexcept {
  try {
    return call();
  } catch (...) {
    counters_.count_out_of_memory();
    counters_.tally().lose({step, step, 1, "out of memory"});  // short enough to need none
    return {Code::exhausted, "out of memory"};
  }
}

std::string_view SinkSet::name(std::uint32_t tag) {
  if (tag >= names_.size()) names_.resize(tag + 1);
  if (names_[tag].empty()) names_[tag] = tags_.name(tag);
  return names_[tag];
}

void SinkSet::note(const Status& status) noexcept {
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

void SinkSet::reject(const sinks::Stamp& stamp, const Status& status, bool evaluation,
                     const sinks::ProbeName* probe) noexcept {
  note(status);
  leave_rejected(stamp, status, evaluation, probe);
}

// Writes the gap for it.
void SinkSet::leave_rejected(const sinks::Stamp& stamp, const Status& status, bool evaluation,
                             const sinks::ProbeName* probe) noexcept {
  attempt(counters_, [&] {
    sinks::Loss loss;
    if (probe != nullptr) loss.probe = *probe;
    loss.evaluation = evaluation;
    loss.first_step = loss.last_step = stamp.step;
    loss.count = 1;
    loss.reason = stats_record::GapReason::rejected;
    loss.detail = status.message();
    lose(stamp.wall_time, loss);
  });
}

bool SinkSet::write(const sinks::Stamp& stamp, std::span<const sinks::Value> values) {
  dirty_ = true;
  bool usable = true;
  for (const auto& sink : sinks_) {
    const Status status = guarded(stamp.step, [&] { return sink->write(stamp, values); });
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
    const Status status = guarded(stamp.step, [&] { return sink->write(stamp, {&value, 1}); });
    if (is_unusable(status)) {
      refuse_probe(stamp, probe, value.index(), status);
    } else {
      note(status);
    }
  }
}

void SinkSet::refuse_probe(const sinks::Stamp& stamp, const sinks::ProbeName& probe, std::size_t kind,
                           const Status& status) noexcept {
  bool news = true;
  attempt(counters_, [&] { news = refused_.emplace(probe.id, kind).second; });
  if (news) {
    note(status);
  } else {
    counters_.count_rejected();
  }
  leave_rejected(stamp, status, false, &probe);
}

void SinkSet::end_step(const sinks::StepEnd& step) {
  dirty_ = true;
  for (const auto& sink : sinks_) note(guarded(step.stamp.step, [&] { return sink->end_step(step); }));
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

void SinkSet::lose(double wall_time, const sinks::Loss& loss) noexcept {
  dirty_ = true;
  // Where memory runs out it is counted, but leaves no gap in the log.
  attempt(counters_, [&] {
    for (const auto& sink : sinks_) note(sink->lose(loss));
  });
  if (loss.reason != stats_record::GapReason::no_room) return;
  attempt(counters_, [&] {
    auto dropped = tags_.resolve(kDroppedTag, tags::Plugin::scalars);
    if (!dropped) return;  // the user records something else under that name
    const Counters counters = counters_.read();
    const sinks::Value value =
        sinks::ScalarValue{tag(*dropped), static_cast<double>(counters.dropped_scalars + counters.dropped_tensors)};
    write({wall_time, loss.last_step}, {&value, 1});
  });
}

Status SinkSet::flush() noexcept {
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

Status SinkSet::close() noexcept {
  Status first;
  for (const auto& sink : sinks_) {
    Status status = sink->close();
    note(status);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace sonde::record
