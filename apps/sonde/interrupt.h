// Ctrl-C and SIGTERM in commands that write a temporary file or folder: it is removed before they end.
//
// After catch_interrupts() both only set a flag. Loops check not_interrupted() from time to time and end with its
// error, so that destructors clean up; then main lets the signal end the process, as its sender expects. A second
// signal ends it at once.
#pragma once

#include "sonde/status.h"

namespace sonde::cli {

void catch_interrupts() noexcept;
bool interrupted() noexcept;
Status not_interrupted();
// Does not return if there was a signal.
void end_if_interrupted() noexcept;

}  // namespace sonde::cli
