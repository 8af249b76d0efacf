// What the system allows or tolerates.
#pragma once

#include <cstdint>
#include <optional>

namespace sonde {

// Bytes of changed pages of files, of all processes together, from which on the kernel writes them to the disk at once
// and all the time; below it does so only when they are some seconds old. Nothing where the system does not say.
std::optional<std::uint64_t> background_dirty_limit();

}  // namespace sonde
