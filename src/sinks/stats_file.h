// Writes `stats.<writer>.tfrecord` (formats/stats_record.h): one record a step. The file is made with the first step.
#pragma once

#include <string>
#include <vector>

#include "formats/stats_record.h"
#include "sinks/record_file.h"
#include "sinks/sink.h"

namespace sonde::sinks {

class StatsFile final : public Sink {
 public:
  StatsFile(std::string path, stats_record::Header header, Tally& tally);

  Status write(const Stamp&, std::span<const Value>) override { return Status::success(); }
  Status end_step(const StepEnd& step) override;
  Status lose(const Loss& loss) override;
  Status flush() override { return file_.flush(); }
  Status close() override { return file_.close(); }

 private:
  void begin();
  void define(const ProbeName& probe, const stats_record::Form& form);

  RecordFile file_;
  stats_record::Header header_;
  bool begun_ = false;
  std::vector<std::optional<stats_record::Form>> defined_;  // by the probe's id
};

}  // namespace sonde::sinks
