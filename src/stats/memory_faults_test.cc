#include <gtest/gtest.h>

#include <cmath>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "base/memory_faults_testing.h"
#include "stats/reference.h"
#include "stats/summary.h"

namespace sonde::stats {
namespace {

using base::MemoryFaults;

// Of all magnitudes, so that each kind of table has counts.
std::vector<double> numbers(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(5000);
  for (double& value : values) {
    const int exponent = static_cast<int>(random() % 2000) - 1050;
    value = std::ldexp(random() % 2 == 0 ? 1.0 : -1.0, exponent);
  }
  return values;
}

// A thread of its own for each fault, since what is reused is allocated once a thread.
TEST(SummarizeWithoutMemory, LeavesNoCountsToTheNextTensor) {
  const std::vector<double> first = numbers(1);
  const std::vector<double> second = numbers(2);
  const Histogram expected = reference_histogram(second);
  const std::uint64_t met = base::for_each_allocation(MemoryFaults::On::this_thread, {}, [&](auto begin) {
    std::thread([&] {
      try {
        Histogram histogram;
        begin();
        (void)summarize(view(first), histogram);
      } catch (const std::bad_alloc&) {
        // what a caller does with it is tested there
      }
      MemoryFaults::end();
      Histogram histogram;
      ASSERT_TRUE(summarize(view(second), histogram).ok());
      EXPECT_EQ(histogram, expected);
    }).join();
  });
  EXPECT_GE(met, 3U);
}

}  // namespace
}  // namespace sonde::stats
