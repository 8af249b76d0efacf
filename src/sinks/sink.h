// Where records go. A sink belongs to one recorder; its calls come one at a time, all from the backend thread or, for
// sinks with many files, all from the thread that writes those. A failure costs the records it names and nothing else:
// the sink stays usable, and the next call may succeed again.
#pragma once

#include <span>

#include "sinks/values.h"
#include "sonde/status.h"

namespace sonde::sinks {

class Sink {
 public:
  virtual ~Sink() = default;

  // The values of one event; those that are not for this sink are passed over.
  virtual Status write(const Stamp& stamp, std::span<const Value> values) = 0;
  // A step is over.
  virtual Status end_step(const StepEnd&) { return Status::success(); }
  // Something was dropped on the way here.
  virtual Status lose(const Loss&) { return Status::success(); }

  // Hands everything written so far to the operating system.
  virtual Status flush() = 0;
  // Flushes, and ends what it writes to. Nothing follows.
  virtual Status close() = 0;
};

}  // namespace sonde::sinks
