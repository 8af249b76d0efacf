// Does memory stay within the budget under any load?
//
// 10 GiB of tensors of many sizes against 64 MiB, faster than the backend can take them: once waiting for room, once
// dropping. The result is how much more memory was ever resident than before the recorder was opened. The first
// recorder of a process also loads the library's code, the backend's tables and the thread's ring: this one-time cost
// is measured separately.
#include <cstring>

#include "measure.h"

namespace bench {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;
constexpr std::size_t kBudget = 64 * kMebi;
constexpr std::size_t kProduced = 10240 * kMebi;

// Forgets the greatest size so far.
void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
  check(memory_status("VmHWM:") < memory_status("VmRSS:") + kMebi, "the peak of the memory cannot be reset");
}

void first_recorder() {
  const double before = memory_status("VmRSS:");
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  const std::vector<float> values = normal_values(1000);
  recorder.histogram("weights", sonde::view(values), 0);
  check_complete(recorder, 0, 1);
  report("first_recorder", (memory_status("VmRSS:") - before) / static_cast<double>(kMebi), "MiB");
}

void produce(const char* name, sonde::Overflow overflow) {
  const LogDirectory directory;
  std::vector<float> values = normal_values(2 * kMebi);  // 8 MiB
  reset_peak();
  const double before = memory_status("VmRSS:");
  sonde::Recorder recorder =
      open(directory, {.memory = kBudget, .tensors = overflow, .max_wait = std::chrono::milliseconds(60'000)});
  std::minstd_rand random(1);
  std::uniform_int_distribution<std::size_t> count(1024, values.size());
  std::size_t produced = 0;
  std::uint64_t calls = 0;
  const double begin = seconds();
  for (; produced < kProduced; ++calls) {
    const std::size_t size = count(random);
    recorder.histogram("weights", sonde::view(values.data(), {static_cast<std::int64_t>(size)}),
                       static_cast<std::int64_t>(calls));
    produced += size * sizeof(float);
  }
  const sonde::Status flushed = recorder.flush();
  const bool says_dropped = overflow != sonde::Overflow::wait && flushed.code() == sonde::Code::exhausted;
  check(flushed.ok() || says_dropped, flushed.message());
  report(std::string(name) + "/time", seconds() - begin, "s");
  report(std::string(name) + "/peak", (memory_status("VmHWM:") - before) / static_cast<double>(kMebi), "MiB");
  const sonde::Counters counters = recorder.counters();
  report(std::string(name) + "/dropped", static_cast<double>(counters.dropped_tensors), "tensors");
  check(counters.tensors + counters.dropped_tensors == calls, "tensors were lost without being counted");
  check(overflow != sonde::Overflow::wait || counters.dropped_tensors == 0, "tensors were dropped though told to wait");
}

}  // namespace
}  // namespace bench

int main() {
  bench::first_recorder();
  bench::produce("wait", sonde::Overflow::wait);
  bench::produce("drop", sonde::Overflow::drop_newest);
}
