#include "base/size_signal.h"

#include <cerrno>
#include <ctime>

namespace sonde::base {
namespace {

sigset_t size_signal() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

bool is_pending() noexcept {
  sigset_t set;
  return sigpending(&set) == 0 && sigismember(&set, SIGXFSZ) == 1;
}

}  // namespace

SizeSignalHeld::SizeSignalHeld() noexcept {
  const sigset_t set = size_signal();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  pending_ = is_pending();
}

SizeSignalHeld::~SizeSignalHeld() {
  const int error = errno;
  if (!pending_ && is_pending()) {
    const sigset_t set = size_signal();
    const timespec none{};
    while (sigtimedwait(&set, nullptr, &none) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace sonde::base
