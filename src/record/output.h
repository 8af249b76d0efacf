// Turns what recording threads send into records, and gives them to the sinks and to the steps. Belongs to the backend
// thread.
#pragma once

#include <cstdint>

#include "record/counter_set.h"
#include "record/loss_log.h"
#include "record/pool.h"
#include "record/sink_set.h"
#include "record/steps.h"

namespace sonde::record {

class Output {
 public:
  // All must outlive it.
  Output(CounterSet& counters, LossLog& losses, SinkSet& sinks, Steps& steps, int histogram_buckets) noexcept
      : counters_(counters), losses_(losses), sinks_(sinks), steps_(steps), histogram_buckets_(histogram_buckets) {}

  void scalar(const sinks::Stamp& stamp, std::uint32_t id, double value);
  void payload(const sinks::Stamp& stamp, Payload* payload);
  void begin_step(const sinks::Stamp& stamp, bool evaluation) { steps_.begin(stamp, evaluation); }
  void end_step(const sinks::Stamp& stamp, bool evaluation) { steps_.end(stamp, evaluation); }
  // Ends the steps and the sinks. Nothing follows.
  Status close(double wall_time);

 private:
  void group(const sinks::Stamp& stamp, const GroupJob& job);

  CounterSet& counters_;
  LossLog& losses_;
  SinkSet& sinks_;
  Steps& steps_;
  const int histogram_buckets_;
  sinks::Value scalar_;  // a ScalarValue for ever: making one takes longer than filling it in
  bool has_hparams_ = false;
};

}  // namespace sonde::record
