// A signal that a program is sent from outside, for a thread that looks now and then.
#pragma once

#include <cstdint>

#include "sonde/status.h"

namespace sonde {

// Whether count_signal would take this one, without any effect.
Status check_signal(int signal);
// From now on this signal is counted, and has no other effect. One signal a process: a second, different one fails.
Status count_signal(int signal);
// How often it came.
std::uint64_t signal_count() noexcept;

}  // namespace sonde
