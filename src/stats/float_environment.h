// The floating-point environment that the statistics need, whatever the calling program has set.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace sonde::stats {

// As long as it lives this thread rounds to nearest, keeps subnormals and traps nothing: a job that flushes subnormals
// to zero gets the same statistics, and one that traps NaN to find it is not killed by the probe. Then the old state is
// restored, including the sticky exception flags. The work must be a call that is not inlined next to it: the compiler
// does not know about the registers that this changes.
class FloatEnvironment {
 public:
#if defined(__x86_64__)
  FloatEnvironment() noexcept : saved_(_mm_getcsr()) {
    if ((saved_ & ~kFlags) != kDefault) _mm_setcsr(kDefault);
  }
  ~FloatEnvironment() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }
#else
  FloatEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
#endif
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  static constexpr unsigned kFlags = 0x3f;      // the sticky ones
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, nearest, neither DAZ nor FTZ
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace sonde::stats
