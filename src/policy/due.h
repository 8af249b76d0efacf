// When a probe is due.
#pragma once

#include <cstdint>

namespace sonde::policy {

// Whether a probe with this interval is due at this step; an interval of 0 or less never is.
constexpr bool due(std::int64_t step, std::int64_t every) noexcept {
  return every > 0 && (every == 1 || step % every == 0);
}

}  // namespace sonde::policy
