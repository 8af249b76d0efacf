// Counts a signal that is sent to the program, for a thread that polls the count.
#pragma once

#include <cstdint>

#include "sonde/status.h"

namespace sonde::base {

// Whether count_signal would accept this signal; has no effect.
Status check_signal(int signal);
// From now on this signal is counted, and has no other effect. One signal per process: a second, different one fails.
Status count_signal(int signal);
// How often it arrived.
std::uint64_t signal_count() noexcept;

}  // namespace sonde::base
