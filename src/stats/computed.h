// Statistics that the program has computed itself (sonde/statistics.h), as the rest of the library has them.
#pragma once

#include <optional>

#include "sonde/statistics.h"
#include "stats/summary.h"

namespace sonde::stats {

struct Computed {
  Summary summary;
  std::optional<Histogram> histogram;
};

// Fails as Statistics::check does.
Result<Computed> take(const Statistics& statistics);

}  // namespace sonde::stats
