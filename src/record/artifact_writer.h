// Writes what was decided to keep of a step: sounds and prints of tensors, histograms and statistics through the sinks;
// whole tensors and tables through FileWriter, and pictures when that has encoded them. Belongs to the backend thread.
//
// Where memory runs out it costs the records at hand: they are counted as lost and told, and the rest is written.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/counter_set.h"
#include "record/file_writer.h"
#include "record/loss_report.h"
#include "record/pool.h"
#include "record/sink_set.h"
#include "record/step_data.h"
#include "record/step_decider.h"
#include "record/tag_table.h"

namespace sonde::record {

class ArtifactWriter {
 public:
  // All must outlive it. `writer`: part of the names of its files.
  ArtifactWriter(const std::string& directory, const std::string& writer, TagTable& tags, CounterSet& counters,
                 LossReport& loss_report, SinkSet& sinks);

  // A tensor as picture, sound and print, at once. `keep`: what the parts of its plan that are due keep.
  void show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, Keep keep, PayloadPtr payload,
            bool evaluation) noexcept;
  // Writes everything that is kept of a step. Its payloads return to their pool when they are written.
  void write_step(const sinks::Stamp& stamp, StepData& step, const Decision& decision, bool evaluation) noexcept;
  // A step of which nothing can be kept, since memory ran out when it ended.
  void lose_step(const sinks::Stamp& stamp, StepData& step, bool evaluation) noexcept;
  // The payload has a TableJob.
  void table(const sinks::Stamp& stamp, PayloadPtr payload);
  // Pictures that were recorded by name, with the payloads that hold them.
  using Pictures = std::vector<std::pair<FileWriter::Picture, PayloadPtr>>;
  void pictures(const sinks::Stamp& stamp, Pictures pictures);

  // Batches for FileWriter that were begun, and that are done: all is in files or in the log, or told.
  std::uint64_t files_begun() const noexcept { return begun_; }
  std::uint64_t files_done() const noexcept { return done_; }
  // Takes back what is done. Every round of the backend.
  void poll() noexcept;
  // Returns when all is done.
  void wait_for_files() noexcept;

 private:
  std::optional<sinks::Tag> tag_of(const StepData::Tensor& tensor, bool evaluation, tags::Plugin plugin);
  // The same for a histogram; the tag of a probe stays what it was found to be.
  std::optional<sinks::Tag> histogram_tag(const StepData::Tensor& tensor, bool evaluation);
  using Batch = FileWriter::Batch;
  void push(std::unique_ptr<Batch> batch) noexcept;
  // All that is kept of a tensor's elements. Makes the batch where there is none.
  void add(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep keep, PayloadPtr payload,
           bool evaluation, std::unique_ptr<Batch>& batch) noexcept;
  // Sound and print at once; the picture goes into the batch. What is done is no longer `left`.
  void show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep& left,
            const TensorView& view, Batch& batch);
  // What goes into files goes into the batch. What is done is no longer `left`.
  void store(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep& left,
             const Payload& payload, Batch& batch);
  // Hands what takes long to FileWriter.
  void hand_over(const sinks::Stamp& stamp, StepData& step, const Decision& decision, bool evaluation) noexcept;
  void write_histograms(const sinks::Stamp& stamp, const StepData& step, const Decision& decision, bool evaluation);
  void write_statistics(const sinks::Stamp& stamp, StepData& step, const Decision& decision, bool evaluation);
  void lose_for_memory(const sinks::Stamp& stamp, bool evaluation, std::uint64_t records) noexcept;
  void tell(const Batch& batch) noexcept;
  void write_picture(const Batch& batch, const FileWriter::Picture& picture);
  // False: unusable.
  bool note_files(const sinks::Stamp& stamp, bool evaluation, const FileWriter::Outcome& outcome);

  TagTable& tags_;
  CounterSet& counters_;
  LossReport& loss_report_;
  SinkSet& sinks_;
  // Tags of the histograms of probes, by the probe's id, of training and of evaluation.
  std::array<std::vector<std::optional<std::uint32_t>>, 2> histogram_tags_;
  // Reused for every step.
  std::vector<sinks::StepTensor> kept_;
  std::vector<sinks::Value> values_;
  std::uint64_t begun_ = 0;
  std::uint64_t done_ = 0;
  FileWriter files_;
};

}  // namespace sonde::record
