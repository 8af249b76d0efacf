// What the rooms of this project may know of a run beyond sonde/log.h.
#pragma once

#include "index/run_index.h"
#include "sonde/log.h"

namespace sonde::index {

// Friend of Run.
class RunAccess {
 public:
  static RunIndex& index(const Run& run) noexcept { return *run.index_; }
};

}  // namespace sonde::index
