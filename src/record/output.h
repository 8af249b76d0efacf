// Converts the messages of recording threads to records, and passes them to the sinks and to the steps. Belongs to the
// backend thread.
#pragma once

#include <cstdint>
#include <limits>
#include <set>

#include "base/task_pool.h"
#include "record/counter_set.h"
#include "record/loss_log.h"
#include "record/pool.h"
#include "record/sink_set.h"
#include "record/steps.h"

namespace sonde::record {

class Output {
 public:
  // All must outlive it.
  Output(CounterSet& counters, LossLog& losses, SinkSet& sinks, Steps& steps, const RecorderOptions& options,
         base::TaskPool& pool) noexcept
      : counters_(counters),
        losses_(losses),
        sinks_(sinks),
        steps_(steps),
        histogram_buckets_(options.histogram_buckets),
        pool_(pool),
        largest_(options.precision == Precision::f32 ? std::numeric_limits<float>::max()
                                                     : std::numeric_limits<double>::max()) {}

  void scalar(const sinks::Stamp& stamp, std::uint32_t id, double value) noexcept;
  // Where memory runs out, what it stands for is counted as rejected, unless it is written already.
  void payload(const sinks::Stamp& stamp, PayloadPtr payload) noexcept;
  void begin_step(const sinks::Stamp& stamp, Pass pass) { steps_.begin(stamp, pass); }
  void end_step(const sinks::Stamp& stamp, Pass pass) { steps_.end(stamp, pass); }
  // Ends the steps and the sinks. No calls follow.
  Status close(double wall_time) noexcept;

 private:
  void write(const sinks::Stamp& stamp, PayloadPtr& payload);
  // There was no memory for so many records.
  void refuse(std::uint64_t records) noexcept;
  void event(const sinks::Stamp& stamp, const EncodedJob& encoded);
  void group(const sinks::Stamp& sent, GroupJob& job);
  void check_range(std::uint32_t id, double value);

  CounterSet& counters_;
  LossLog& losses_;
  SinkSet& sinks_;
  Steps& steps_;
  const int histogram_buckets_;
  base::TaskPool& pool_;
  const double largest_;                // largest value that the event file can hold
  std::set<std::uint32_t> overflowed_;  // tags already reported
  sinks::Value scalar_;                 // always a ScalarValue: creating one takes longer than filling it in
  bool has_hparams_ = false;
};

}  // namespace sonde::record
