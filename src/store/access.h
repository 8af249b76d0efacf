// Internal access to a log and its runs, beyond sonde/log.h.
#pragma once

#include <memory>
#include <utility>

#include "sonde/log.h"
#include "store/source.h"

namespace sonde::store {

// Friend of Log and Run.
class Access {
 public:
  static RunSource& source(const Run& run) noexcept { return *run.source_; }
  static LogSource& source(const Log& log) noexcept { return *log.source_; }
  static Log log(std::shared_ptr<LogSource> source) { return Log(std::move(source)); }
};

}  // namespace sonde::store
