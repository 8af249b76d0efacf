// The sinks of a recorder: gives them what is to be written, and tells what they refuse. Where memory runs out in a
// sink, the record is lost, counted and told, and the next call goes on. Belongs to the backend thread.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/counter_set.h"
#include "record/error_queue.h"
#include "record/loss_report.h"
#include "record/tag_table.h"
#include "sinks/sink.h"

namespace sonde::record {

class SinkSet {
 public:
  // All must outlive it.
  SinkSet(TagTable& tags, CounterSet& counters, ErrorQueue& errors, LossReport& loss_report) noexcept
      : tags_(tags), counters_(counters), errors_(errors), loss_report_(loss_report) {}

  void add(std::unique_ptr<sinks::Sink> sink) { sinks_.push_back(std::move(sink)); }

  // False: one of the values is unusable, which is reported and counted once.
  bool write(const sinks::Stamp& stamp, std::span<const sinks::Value> values);
  bool write(const sinks::Stamp& stamp, const sinks::Value& value) { return write(stamp, {&value, 1}); }
  // Writes a value of a probe. If it cannot be shown in this form, this repeats at every step: it is reported once, and
  // counted each time.
  void write_probe(const sinks::Stamp& stamp, const sinks::ProbeName& probe, const sinks::Value& value);
  // One that is unusable before it comes to a sink. `kind`: of value, as Value::index.
  void refuse_probe(const sinks::Stamp& stamp, const sinks::ProbeName& probe, std::size_t kind,
                    const Status& status) noexcept;
  void end_step(const sinks::StepEnd& step);
  void lose(double wall_time, const sinks::Loss& loss) noexcept;
  // A failure: reported to the error handler and counted. Disk errors are reported when they begin, unusable values
  // each time.
  void note(const Status& status) noexcept;
  // Something that cannot be recorded: noted, and a gap in the log.
  void reject(const sinks::Stamp& stamp, const Status& status, bool evaluation = false,
              const sinks::ProbeName* probe = nullptr) noexcept;
  // Writes a text to the log, under one of Sonde's own tags.
  void say(std::string_view tag, const sinks::Stamp& stamp, std::string_view text);
  // Records what the budget has turned off: a gap and a text in the log.
  void give_up(const sinks::Stamp& stamp, const std::string& detail);

  // True if something was written since the last flush.
  bool dirty() const noexcept { return dirty_; }
  Status flush() noexcept;
  Status close() noexcept;

  std::string_view name(std::uint32_t tag);
  sinks::Tag tag(std::uint32_t id) { return {id, name(id)}; }

 private:
  void leave_rejected(const sinks::Stamp& stamp, const Status& status, bool evaluation,
                      const sinks::ProbeName* probe) noexcept;
  // A call of a sink that has a record of this step to write.
  template <class Call>
  Status guarded(std::int64_t step, Call&& call) noexcept;

  TagTable& tags_;
  CounterSet& counters_;
  ErrorQueue& errors_;
  LossReport& loss_report_;
  std::vector<std::unique_ptr<sinks::Sink>> sinks_;
  std::vector<std::string_view> names_;  // by tag id, filled on demand
  bool dirty_ = false;
  bool failing_ = false;                                     // the last flush failed: report it once
  std::set<std::pair<std::uint32_t, std::size_t>> refused_;  // probes and kinds of values already reported
};

}  // namespace sonde::record
