#include "base/page_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace sonde::base {
namespace {

using Numbers = std::vector<std::uint64_t, PageAllocator<std::uint64_t>>;

TEST(PageAllocator, HoldsArraysOfEverySize) {
  Numbers numbers;
  for (std::uint64_t i = 0; i < 300'000; ++i) numbers.push_back(i);  // through the heap to pages of its own
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}), 299'999ULL * 150'000);
  const Numbers moved = std::move(numbers);
  EXPECT_EQ(moved.back(), 299'999U);
}

TEST(PageAllocator, SaysThatThereIsNoMemoryAsNewDoes) {
  PageAllocator<std::uint64_t> allocator;
  EXPECT_THROW(static_cast<void>(allocator.allocate(SIZE_MAX / 16)), std::bad_alloc);
  EXPECT_THROW(static_cast<void>(allocator.allocate(SIZE_MAX)), std::bad_array_new_length);
}

}  // namespace
}  // namespace sonde::base
