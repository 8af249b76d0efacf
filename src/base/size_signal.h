// A write beyond the file size limit (ulimit -f) sends SIGXFSZ, which ends the process. Recording must not end the
// training: with this class the write only fails with EFBIG.
#pragma once

#include <csignal>

namespace sonde::base {

// While it lives, this thread does not get the signal. The process's handlers stay as they are.
class SizeSignalHeld {
 public:
  SizeSignalHeld() noexcept;
  SizeSignalHeld(const SizeSignalHeld&) = delete;
  SizeSignalHeld& operator=(const SizeSignalHeld&) = delete;
  // Discards a signal that came meanwhile, and restores the signal mask. Keeps errno.
  ~SizeSignalHeld();

 private:
  sigset_t before_{};
  bool pending_ = false;  // one was already pending before
};

}  // namespace sonde::base
