// Work that may run out of memory on a thread of the library, where that costs no more than the work itself.
#pragma once

#include "record/counter_set.h"

namespace sonde::record {

// False where it did; then it is counted.
template <class Work>
bool attempt(CounterSet& counters, Work&& work) noexcept {
  try {
    work();
    return true;
  } catch (...) {
    counters.count_out_of_memory();
    return false;
  }
}

}  // namespace sonde::record
