// Writes the event file that TensorBoard opens (formats/tfevents.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sinks/record_file.h"
#include "sinks/sink.h"
#include "sonde/options.h"

namespace sonde::sinks {

class EventFile final : public Sink {
 public:
  // `purge_step`: readers leave out what earlier files hold from it on.
  EventFile(std::string path, double wall_time, Precision precision, Tally& tally,
            std::optional<std::int64_t> purge_step = {});

  Status write(const Stamp& stamp, std::span<const Value> values) override;
  Status flush() override { return file_.flush(); }
  Status close() override { return file_.close(); }

 private:
  Status append(const Stamp& stamp, std::span<const Value> values);
  // Whether this value needs its metadata: the first of a tag has them, and later ones from time to time, and after
  // records were lost.
  bool needs_metadata(const Tag& tag);
  void repeat_if_needed();
  Status add(const Value& value);  // to summary_
  Status add_audio(const AudioValue& audio);

  RecordFile file_;
  void begin();

  double start_time_;
  Precision precision_;
  std::optional<std::int64_t> purge_step_;
  std::vector<bool> said_;  // by tag id, whether its metadata are in the file
  std::string summary_;
};

}  // namespace sonde::sinks
