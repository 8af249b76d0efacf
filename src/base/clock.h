// Cheap time stamps, and the wall-clock time they stand for.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sonde::base {

namespace detail {
// True only if the kernel itself uses the TSC as its clock, which means that it is constant and synchronous on all
// cores. False before choose_clock().
extern bool tsc_is_clock;
}  // namespace detail

// Selects the clock for ticks on its first call; take no stamp before, since stamps of two clocks cannot be compared.
// It reads a file, so that nothing of this happens before main.
void choose_clock() noexcept;
bool tsc_is_clock() noexcept;

inline std::uint64_t monotonic_nanoseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

// A stamp in units that only TickClock knows. It never decreases in a thread, and a call that happens after another
// one, on any thread, gets no smaller stamp: without the fence the processor may read the counter before the load by
// which the thread learns of the other call.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  if (detail::tsc_is_clock) {
    _mm_lfence();
    return __rdtsc();
  }
#endif
  return monotonic_nanoseconds();
}

// The same for a thread whose stamps are not compared with those of others: half the cost.
inline std::uint64_t thread_ticks() noexcept {
#if defined(__x86_64__)
  if (detail::tsc_is_clock) return __rdtsc();
#endif
  return monotonic_nanoseconds();
}

// Like ticks(), but no later load is executed before it.
inline std::uint64_t ticks_then_loads() noexcept {
#if defined(__x86_64__)
  if (detail::tsc_is_clock) {
    const std::uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
  }
#endif
  return monotonic_nanoseconds();
}

// Seconds since the epoch, from the system clock.
double wall_seconds() noexcept;

// Converts ticks to seconds since the epoch, within a millisecond if anchor() is called about every second. Used by one
// thread.
class TickClock {
 public:
  // Measures the rate of the ticks for a few microseconds, to about 0.1 %: the next anchor() should come after a
  // millisecond, and makes it exact.
  TickClock() noexcept;
  // Compares with the real-time clock again, which may have been set meanwhile, and measures the rate again.
  void anchor() noexcept;
  double wall(std::uint64_t ticks) const noexcept;

 private:
  struct Bearing {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic = 0;  // ns
    std::int64_t real = 0;        // ns
  };
  static Bearing take_bearing() noexcept;
  void measure_rate(const Bearing& now) noexcept;

  Bearing first_;
  Bearing last_;
  double nanoseconds_per_tick_ = 1;
};

}  // namespace sonde::base
