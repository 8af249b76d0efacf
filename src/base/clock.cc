#include "base/clock.h"

#include "base/file.h"

namespace sonde::base {
namespace detail {

constinit bool tsc_is_clock = false;

}  // namespace detail

namespace {

bool kernel_uses_tsc() noexcept {
#if defined(__x86_64__)
  try {
    const auto source = read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    return source.ok() && source->starts_with("tsc");
  } catch (...) {  // out of memory: the system's clock is always right
    return false;
  }
#else
  return false;
#endif
}

std::int64_t real_nanoseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

constexpr std::uint64_t kFirstMeasure = 50'000;  // ns

}  // namespace

void choose_clock() noexcept {
  static const bool chosen = detail::tsc_is_clock = kernel_uses_tsc();
  (void)chosen;
}

bool tsc_is_clock() noexcept {
  choose_clock();
  return detail::tsc_is_clock;
}

double wall_seconds() noexcept { return static_cast<double>(real_nanoseconds()) * 1e-9; }

// The tightest of a few tries, so that being interrupted between the readings does no harm.
TickClock::Bearing TickClock::take_bearing() noexcept {
  Bearing best;
  std::uint64_t tightest = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = ticks_then_loads();
    const std::uint64_t monotonic = monotonic_nanoseconds();
    const std::int64_t real = real_nanoseconds();
    const std::uint64_t after = ticks_then_loads();
    if (after - before < tightest) {
      tightest = after - before;
      best = {before + (after - before) / 2, monotonic, real};
    }
  }
  return best;
}

TickClock::TickClock() noexcept {
  choose_clock();
  first_ = last_ = take_bearing();
  if (!tsc_is_clock()) return;
  Bearing now = first_;
  while (now.monotonic - first_.monotonic < kFirstMeasure) now = take_bearing();
  measure_rate(now);
  last_ = now;
}

void TickClock::measure_rate(const Bearing& now) noexcept {
  if (now.ticks <= first_.ticks) return;
  nanoseconds_per_tick_ =
      static_cast<double>(now.monotonic - first_.monotonic) / static_cast<double>(now.ticks - first_.ticks);
}

void TickClock::anchor() noexcept {
  last_ = take_bearing();
  if (tsc_is_clock()) measure_rate(last_);
}

double TickClock::wall(std::uint64_t ticks) const noexcept {
  // Stamps may be before the last anchor.
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - last_.ticks)) * nanoseconds_per_tick_;
  return static_cast<double>(last_.real + static_cast<std::int64_t>(since)) * 1e-9;
}

}  // namespace sonde::base
