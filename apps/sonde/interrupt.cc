#include "interrupt.h"

#include <csignal>

namespace sonde::cli {
namespace {

volatile std::sig_atomic_t caught = 0;  // the signal

void remember(int signal) {
  caught = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void catch_interrupts() noexcept {
  for (int signal : {SIGINT, SIGTERM}) {
    // If the caller made the command ignore Ctrl-C, as for background jobs, that stays so.
    if (std::signal(signal, remember) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

bool interrupted() noexcept { return caught != 0; }

Status not_interrupted() {
  return interrupted() ? Status(Code::io, "interrupted: nothing was written") : Status::success();
}

void end_if_interrupted() noexcept {
  if (interrupted()) std::raise(caught);
}

}  // namespace sonde::cli
