// The backend's half of a recorder: turns messages into records and gives them to the sinks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/channel.h"
#include "record/steps.h"
#include "sinks/sink.h"

namespace sonde::record {

class Output {
 public:
  // Makes the event file, so that a directory that cannot be written is known at once. `may_fly`: whether a flight ring
  // may be made; not in a forked child, whose parent has one.
  static Result<std::unique_ptr<Output>> create(Channel& channel, bool may_fly);
  ~Output();

  void scalar(const sinks::Stamp& stamp, std::uint32_t id, double value);
  void payload(const sinks::Stamp& stamp, Payload* payload);
  Steps& steps() noexcept { return *steps_; }
  const Steps& steps() const noexcept { return *steps_; }

  void lose(double wall_time, const sinks::Loss& loss);
  // True if something was written since the last flush.
  bool dirty() const noexcept { return dirty_; }
  Status flush();
  Status close(double wall_time);

  // ---- For its steps.
  // False: one of the values is unusable, which is told and counted once.
  bool write(const sinks::Stamp& stamp, std::span<const sinks::Value> values);
  bool write(const sinks::Stamp& stamp, const sinks::Value& value) { return write(stamp, {&value, 1}); }
  // Of a probe. One that cannot be shown so cannot at the next step either: it is told once, and counted each time.
  void write(const sinks::Stamp& stamp, const ProbeEntry& probe, const sinks::Value& value);
  void end_step(const sinks::StepEnd& step);
  // A failure: told to the error handler and counted.
  void note(const Status& status);
  // Something that cannot be recorded as it is: noted, and a gap in the log.
  void reject(const sinks::Stamp& stamp, const Status& status, bool evaluation = false,
              const ProbeEntry* probe = nullptr);
  // A text in the log, under a tag of Sonde's own.
  void say(std::string_view tag, const sinks::Stamp& stamp, std::string_view text);
  // What the budget has given up: a gap and a text in the log.
  void give_up(const sinks::Stamp& stamp, const std::string& detail);
  sinks::Tag tag(std::uint32_t id) { return {id, name(id)}; }
  std::vector<stats::Bucket> buckets(const TensorView& view, const stats::Summary& summary,
                                     const stats::Histogram& histogram) const;

 private:
  explicit Output(Channel& channel) noexcept : channel_(channel) {}
  std::string_view name(std::uint32_t tag);
  void group(const sinks::Stamp& stamp, const GroupJob& job);
  void leave_rejected(const sinks::Stamp& stamp, const Status& status, bool evaluation, const ProbeEntry* probe);

  Channel& channel_;
  std::vector<std::unique_ptr<sinks::Sink>> sinks_;
  std::vector<std::string_view> names_;  // by tag id, filled on demand
  sinks::Value scalar_;                  // a ScalarValue for ever: making one takes longer than filling it in
  std::unique_ptr<Steps> steps_;
  bool has_hparams_ = false;
  bool dirty_ = false;
  bool failing_ = false;                                     // the last flush failed: say so once
  std::set<std::pair<std::uint32_t, std::size_t>> refused_;  // probes and kinds of values that were told of
};

}  // namespace sonde::record
