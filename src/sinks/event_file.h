// Writes the event file that TensorBoard opens (formats/tfevents.h).
#pragma once

#include <string>
#include <vector>

#include "sinks/record_file.h"
#include "sinks/sink.h"
#include "sonde/options.h"

namespace sonde::sinks {

class EventFile final : public Sink {
 public:
  EventFile(std::string path, double wall_time, Precision precision, Tally& tally);

  Status write(const Stamp& stamp, std::span<const Value> values) override;
  Status flush() override { return file_.flush(); }
  Status close() override { return file_.close(); }

 private:
  // True the first time: metadata go with the first value of a tag.
  bool first_of(const Tag& tag);
  Status add(const Value& value);  // to summary_
  Status add_image(const ImageValue& image);
  Status add_audio(const AudioValue& audio);

  RecordFile file_;
  Precision precision_;
  std::vector<bool> seen_;  // by tag id
  std::string summary_;
};

}  // namespace sonde::sinks
