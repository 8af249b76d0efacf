// Allocates large arrays with a short life as pages of the system, which gets them back at once. malloc keeps some of
// the memory after arrays of that size were freed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <new>

namespace sonde::base {

template <class T>
struct PageAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name
  static constexpr std::size_t kFrom = std::size_t{256} << 10;  // bytes; smaller arrays come from the heap

  PageAllocator() noexcept = default;
  template <class Other>
  explicit PageAllocator(const PageAllocator<Other>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kFrom) return std::allocator<T>().allocate(count);
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* array, std::size_t count) noexcept {
    if (count * sizeof(T) < kFrom) return std::allocator<T>().deallocate(array, count);
    ::munmap(array, count * sizeof(T));
  }
  friend bool operator==(const PageAllocator&, const PageAllocator&) noexcept { return true; }
};

}  // namespace sonde::base
