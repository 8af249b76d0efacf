// Writes what a step keeps: pictures, sounds and prints of tensors, histograms and statistics through the sinks; whole
// tensors and tables through FileWriter. Belongs to the backend thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

  // Writes a tensor as picture, sound and print. `held`: the parts of its plan that count; `keep`: what they keep.
  void show(const sinks::Stamp& stamp, const StepData::Tensor& tensor, policy::Parts held, Keep keep,
            const TensorView& view, bool evaluation);
  // Writes everything that is kept of a step. Its payloads return to their pool when they are written.
  void write_step(const sinks::Stamp& stamp, StepData& step, const Decision& decision, bool evaluation);
  // The payload has a TableJob.
  void table(const sinks::Stamp& stamp, PayloadPtr payload);

  // The number of file batches that were started, and that are written.
  std::uint64_t files_begun() const noexcept { return files_.last(); }
  std::uint64_t files_written() const noexcept { return files_.done(); }
  // Reports errors of files. Called in every round of the backend.
  void poll();
  // Returns when all files are written, and reports errors.
  void wait_for_files();

 private:
  std::optional<sinks::Tag> tag_of(const StepData::Tensor& tensor, bool evaluation, tags::Plugin plugin);
  // Passes the payloads for files to their writer.
  void store(const sinks::Stamp& stamp, StepData& step, const Decision& decision, bool evaluation);
  void write_histograms(const sinks::Stamp& stamp, const StepData& step, const Decision& decision, bool evaluation);
  // `lost`: how many records of the step are missing in the files. False: unusable.
  bool note_files(const sinks::Stamp& stamp, bool evaluation, const Status& status, std::uint64_t lost);

  TagTable& tags_;
  CounterSet& counters_;
  LossReport& loss_report_;
  SinkSet& sinks_;
  std::vector<sinks::StepTensor> kept_;  // reused for every step
  FileWriter files_;
};

}  // namespace sonde::record
