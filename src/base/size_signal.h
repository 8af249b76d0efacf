// A write beyond the limit on the size of files (ulimit -f) sends SIGXFSZ, which ends the process. Whoever records must
// not end the training for it: here the write fails, with EFBIG, and that is all.
#pragma once

#include <csignal>

namespace sonde {

// While it lives, the signal does not reach this thread. The process's handlers stay as they are.
class SizeSignalHeld {
 public:
  SizeSignalHeld() noexcept;
  SizeSignalHeld(const SizeSignalHeld&) = delete;
  SizeSignalHeld& operator=(const SizeSignalHeld&) = delete;
  // Takes away one that came meanwhile, and lets later ones through if they were before. Keeps errno.
  ~SizeSignalHeld();

 private:
  sigset_t before_{};
  bool pending_ = false;  // one was waiting before, which is not ours
};

}  // namespace sonde
