#include "stats/target.h"

#include <hwy/targets.h>

#include <cstdint>

namespace sonde::stats {

std::string simd_target() {
  // Lower bits are better targets; the dispatcher takes the best that is compiled in and that the CPU has.
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);
}

}  // namespace sonde::stats
