// Fetches cache lines before they are needed.
#pragma once

#include <cstddef>

namespace sonde {

// Lines that will be written, from wherever they are. Does not wait.
inline void prefetch_for_writing(const void* data, std::size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i < bytes; i += 64) {
#if defined(__x86_64__)
    // What the compiler has for this is prefetchw only where the processor is known to have it. The others do nothing.
    __asm__ volatile("prefetchw %0" ::"m"(at[i]));
#else
    __builtin_prefetch(at + i, 1);
#endif
  }
}

}  // namespace sonde
