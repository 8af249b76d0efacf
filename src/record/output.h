// The backend's half of a recorder: turns messages into records and gives them to the sinks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/channel.h"
#include "sinks/sink.h"

namespace sonde::record {

// A step in progress.
struct StepData {
  std::int64_t step = 0;
  // Last values by name; collected only where a condition may ask for them.
  std::vector<std::pair<std::string_view, double>> scalars;

  struct Tensor {
    sinks::StepTensor record;
    const ProbeEntry* probe = nullptr;
    std::vector<stats::Bucket> buckets = {};  // of the histogram, as TensorBoard has them
    Payload* payload = nullptr;               // kept where a condition decides over more than statistics; owned
  };
  std::vector<Tensor> tensors;             // in the order of arrival
  std::vector<std::uint32_t> occurrences;  // by the probe's id
};

class Output {
 public:
  // Makes the event file, so that a directory that cannot be written is known at once.
  static Result<std::unique_ptr<Output>> create(Channel& channel);
  ~Output();

  void scalar(const sinks::Stamp& stamp, std::uint32_t tag, double value);
  void payload(const sinks::Stamp& stamp, Payload* payload);
  void begin_step(const sinks::Stamp& stamp, bool evaluation);
  void end_step(const sinks::Stamp& stamp, bool evaluation);

  void lose(double wall_time, const sinks::Loss& loss);
  // True if something was written since the last flush.
  bool dirty() const noexcept { return dirty_; }
  Status flush();
  Status close(double wall_time);

 private:
  explicit Output(Channel& channel) noexcept : channel_(channel) {}
  void write(const sinks::Stamp& stamp, std::span<const sinks::Value> values);
  void note(const Status& status);
  std::string_view name(std::uint32_t tag);
  sinks::Tag tag(std::uint32_t id) { return {id, name(id)}; }
  std::vector<stats::Bucket> buckets(const TensorView& view, const stats::Summary& summary,
                                     const stats::Histogram& histogram) const;
  void probe(const sinks::Stamp& stamp, Payload* payload, const ProbeJob& job);
  void group(const sinks::Stamp& stamp, const GroupJob& job);
  void show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, const TensorView& view, bool evaluation);
  void commit(const sinks::Stamp& stamp, bool evaluation);
  void write_histograms(const sinks::Stamp& stamp, const StepData& data, bool evaluation);
  std::optional<sinks::Tag> probe_tag(const StepData::Tensor& tensor, bool evaluation, tags::Plugin plugin);

  Channel& channel_;
  std::vector<std::unique_ptr<sinks::Sink>> sinks_;
  std::vector<std::string_view> names_;    // by tag id, filled on demand
  sinks::Value scalar_;                    // a ScalarValue for ever: making one takes longer than filling it in
  std::optional<StepData> open_steps_[2];  // training, evaluation
  bool has_hparams_ = false;
  bool dirty_ = false;
  bool failing_ = false;  // the last flush failed: say so once
};

}  // namespace sonde::record
