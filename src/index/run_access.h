// For the tests of this module: the index behind a run of a log that Log::open has opened.
#pragma once

#include "index/run_index.h"
#include "sonde/log.h"
#include "store/access.h"

namespace sonde::index {

class RunAccess {
 public:
  static RunIndex& index(const Run& run) noexcept { return static_cast<RunIndex&>(store::Access::source(run)); }
};

}  // namespace sonde::index
