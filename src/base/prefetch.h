// Fetches cache lines before they are needed.
#pragma once

#include <cstddef>

namespace sonde::base {

// Prefetches lines that will be written. Does not wait.
inline void prefetch_for_writing(const void* data, std::size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i < bytes; i += 64) {
#if defined(__x86_64__)
    // The compiler's builtin emits prefetchw only for processors that are known to have it. Others ignore it.
    __asm__ volatile("prefetchw %0" ::"m"(at[i]));
#else
    __builtin_prefetch(at + i, 1);
#endif
  }
}

}  // namespace sonde::base
