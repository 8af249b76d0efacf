// Saves captures (sonde/capture.h), each a directory of the run.
#pragma once

#include <string>
#include <utility>

#include "sinks/record_file.h"
#include "sinks/sink.h"

namespace sonde::sinks {

class CaptureStore final : public Sink {
 public:
  // Captures that could not be saved are counted in `tally`, which must outlive it: each is one error and one record
  // that was lost.
  CaptureStore(std::string run_directory, Tally& tally) : run_directory_(std::move(run_directory)), tally_(tally) {}

  // Saves every CaptureValue; a failure leaves nothing of it behind.
  Status write(const Stamp& stamp, std::span<const Value> values) override;
  Status flush() override { return Status::success(); }  // nothing is kept back
  Status close() override { return Status::success(); }

  // The directory of the capture that was saved last.
  const std::string& path() const noexcept { return path_; }

 private:
  const std::string run_directory_;
  Tally& tally_;
  std::string path_;
};

}  // namespace sonde::sinks
