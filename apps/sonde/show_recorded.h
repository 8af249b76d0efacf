// What a run has recorded under one tag, for `sonde show LOGDIR RUN TAG`.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "picture.h"

namespace sonde::cli {

inline constexpr std::int64_t kLastStep = std::numeric_limits<std::int64_t>::min();

struct RecordedRequest {
  std::string directory;
  std::string run;  // its name in the directory
  std::string tag;
  std::int64_t step = kLastStep;
  PictureRequest picture;  // its path is empty if none is asked for
  std::int64_t rows = 20;  // of a table
  bool full = false;       // all values of a tensor, all rows of a table
  bool json = false;
};

// The exit code.
int show_recorded(const RecordedRequest& request);

}  // namespace sonde::cli
