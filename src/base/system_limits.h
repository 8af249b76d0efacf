// Limits of the system.
#pragma once

#include <cstdint>
#include <optional>

namespace sonde::base {

// The number of dirty page cache bytes, of all processes together, above which the kernel constantly writes them to the
// disk; below it, it writes only pages that are some seconds old. Empty if the system does not tell.
std::optional<std::uint64_t> background_dirty_limit();

}  // namespace sonde::base
