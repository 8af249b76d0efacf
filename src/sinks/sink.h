// The destination of records. A sink belongs to one recorder; its calls come one at a time, all from the backend thread
// or, for sinks with many files, all from the thread that writes those. A failure affects only the records it names:
// the sink stays usable, and the next call may succeed.
#pragma once

#include <span>

#include "sinks/values.h"
#include "sonde/status.h"

namespace sonde::sinks {

class Sink {
 public:
  virtual ~Sink() = default;

  // The values of one event; a sink ignores those that are not for it.
  virtual Status write(const Stamp& stamp, std::span<const Value> values) = 0;
  // A step is over.
  virtual Status end_step(const StepEnd&) { return Status::success(); }
  // Something was dropped before it reached the sink.
  virtual Status lose(const Loss&) { return Status::success(); }

  // Passes everything written so far to the operating system.
  virtual Status flush() = 0;
  // Flushes and closes its files. No calls follow.
  virtual Status close() = 0;
};

}  // namespace sonde::sinks
