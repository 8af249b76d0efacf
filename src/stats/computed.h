// Converts statistics that the program has computed itself (sonde/statistics.h) to the library's own types.
#pragma once

#include <optional>

#include "sonde/statistics.h"
#include "stats/summary.h"

namespace sonde::stats {

struct Computed {
  Summary summary;
  std::optional<Histogram> histogram;
};

// Fails like Statistics::check.
Result<Computed> take(const Statistics& statistics);

}  // namespace sonde::stats
