// For tests: allocations that fail when the test says so. Replaces the global operator new and delete: include it in
// one source of a test binary only.
//
// for_each_allocation walks through a piece of code as for_each_fault (base/faults_testing.h) does: the first
// allocation fails, then the second and so on.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

namespace sonde::base {

class MemoryFaults {
 public:
  enum class On : std::uint8_t { this_thread, other_threads };

  // The calling thread is "this thread" from now on. `nth` 0: none fails.
  static void begin(On threads, std::uint64_t nth, bool persistent) noexcept {
    t_this = true;
    on_ = threads;
    persistent_ = persistent;
    seen_ = 0;
    fired_ = 0;
    nth_ = nth;
  }
  // All is well from now on.
  static void end() noexcept { nth_ = 0; }
  static std::uint64_t fired() noexcept { return fired_; }

  // Whether this allocation is to fail.
  static bool next() noexcept {
    const std::uint64_t nth = nth_.load(std::memory_order_relaxed);
    if (nth == 0 || t_exempt || t_this != (on_ == On::this_thread)) return false;
    const std::uint64_t number = seen_.fetch_add(1) + 1;
    if (number < nth || (number > nth && !persistent_)) return false;
    fired_.fetch_add(1);
    return true;
  }

  // What the calling thread does as long as this lives does not fail: the test's own work.
  class Exempt {
   public:
    Exempt() noexcept : before_(t_exempt) { t_exempt = true; }
    ~Exempt() { t_exempt = before_; }
    Exempt(const Exempt&) = delete;
    Exempt& operator=(const Exempt&) = delete;

   private:
    bool before_;
  };

 private:
  static thread_local constinit inline bool t_this = false;
  static thread_local constinit inline bool t_exempt = false;
  static inline std::atomic<On> on_{On::other_threads};
  static inline std::atomic<bool> persistent_{false};
  static inline std::atomic<std::uint64_t> nth_{0};
  static inline std::atomic<std::uint64_t> seen_{0};
  static inline std::atomic<std::uint64_t> fired_{0};
};

// Which allocations fail, one in each run.
struct AllocationWalk {
  std::uint64_t first = 1;
  std::uint64_t stride = 1;
  // All that follow fail as well. Then one allocation is much like the next, and fewer and fewer are tried.
  bool persistent = false;
};

// Calls body(begin) with each allocation of the walk failed in turn, until none is left to fail. The body calls begin()
// where faults begin and MemoryFaults::end() where they end. Returns how many were met.
template <class Body>
std::uint64_t for_each_allocation(MemoryFaults::On threads, const AllocationWalk& walk, Body body) {
  std::uint64_t met = 0;
  std::uint64_t nth = walk.first;
  for (bool fired = true; fired && !::testing::Test::HasFatalFailure();) {
    const std::string what = "allocation " + std::to_string(nth) + " fails";
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, what + (walk.persistent ? ", and all that follow" : ""));
    body([&] { MemoryFaults::begin(threads, nth, walk.persistent); });
    MemoryFaults::end();
    fired = MemoryFaults::fired() > 0;
    met += fired ? 1U : 0U;
    nth += walk.stride + (walk.persistent ? nth / 8 : 0);
  }
  return met;
}

}  // namespace sonde::base

// NOLINTBEGIN(misc-definitions-in-headers): one source includes it
void* operator new(std::size_t size) {
  void* const memory = sonde::base::MemoryFaults::next() ? nullptr : std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return sonde::base::MemoryFaults::next() ? nullptr : std::malloc(size > 0 ? size : 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  void* const memory =
      sonde::base::MemoryFaults::next() ? nullptr : std::aligned_alloc(align, (size + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto align = static_cast<std::size_t>(alignment);
  return sonde::base::MemoryFaults::next() ? nullptr : std::aligned_alloc(align, (size + align - 1) / align * align);
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return operator new(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND(misc-definitions-in-headers)
