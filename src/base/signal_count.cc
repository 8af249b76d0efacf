#include "base/signal_count.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>

#include "base/file.h"

namespace sonde::base {
namespace {

std::atomic<std::uint64_t> g_count{0};
std::atomic<int> g_signal{0};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

extern "C" void sonde_count_signal(int) { g_count.fetch_add(1, std::memory_order_relaxed); }

Status taken_by(int known, int signal) {
  return {Code::invalid_argument, "signal " + std::to_string(signal) + " cannot trigger captures: signal " +
                                      std::to_string(known) + " does so already in this process"};
}

}  // namespace

Status check_signal(int signal) {
  if (const int known = g_signal.load(); known != 0 && known != signal) return taken_by(known, signal);
  struct sigaction action{};
  // Asked without a handler the system does not mind the two that cannot be caught.
  if (signal != SIGKILL && signal != SIGSTOP && ::sigaction(signal, nullptr, &action) == 0) return Status::success();
  return system_error("catch", "signal " + std::to_string(signal), EINVAL);
}

Status count_signal(int signal) {
  int known = 0;
  if (!g_signal.compare_exchange_strong(known, signal)) {
    return known == signal ? Status::success() : taken_by(known, signal);
  }
  struct sigaction action{};
  action.sa_handler = &sonde_count_signal;
  action.sa_flags = SA_RESTART;
  if (::sigaction(signal, &action, nullptr) == 0) return Status::success();
  g_signal.store(0);
  return system_error("catch", "signal " + std::to_string(signal), errno);
}

std::uint64_t signal_count() noexcept { return g_count.load(std::memory_order_relaxed); }

}  // namespace sonde::base
