// What is the cost of watching a network all the time while keeping almost nothing?
//
// Probes that the policy does not select are queried as in a training loop, 500 per step. Whole tensors for the flight
// ring are recorded at every step at a pace that the backend keeps up with, compared with memcpy of the same data: once
// with pauses, and once by a thread that computes all the time. The last run is faster than the backend.
#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "measure.h"

namespace {

// Calls of operator new, of this thread and of all.
thread_local std::uint64_t t_allocations = 0;
std::atomic<std::uint64_t> g_allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  ++t_allocations;
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace bench {
namespace {

void unselected() {
  constexpr int kProbes = 500;
  constexpr int kSteps = 2000;
  const LogDirectory directory;
  sonde::Policy policy;
  policy.watches.push_back({.tensors = "none of these"});
  sonde::Recorder recorder = open(directory, {.policy = policy});
  std::vector<sonde::Probe> probes;
  for (int i = 0; i < kProbes; ++i) probes.push_back(recorder.probe("layer_" + std::to_string(i) + "/out"));
  std::vector<double> times;
  int wanted = 0;
  for (int n = 0; n < kSteps; ++n) {
    const auto step = recorder.step(n);
    const std::uint64_t begin = ticks();
    for (const sonde::Probe& probe : probes) wanted += probe.wanted(step) ? 1 : 0;
    times.push_back(nanoseconds(ticks() - begin) / kProbes);
  }
  check(wanted == 0, "a probe that is not selected was wanted");
  report("unselected", median(times), "ns");
  check_complete(recorder, 0, 0);
}

void flight() {
  constexpr std::size_t kElements = 1 << 18;  // 1 MiB
  constexpr int kTensors = 4;
  constexpr int kWarmUp = 100;  // the ring is written around once
  constexpr int kSteps = 300;
  const LogDirectory directory;
  sonde::Policy policy;
  policy.watches.push_back({.tensors = "none of these"});
  policy.flight.use = sonde::FlightPolicy::Use::on;
  policy.flight.bytes = std::uint64_t{128} << 20;
  sonde::Recorder recorder = open(directory, {.policy = policy});
  const BackendClock backend;
  std::vector<std::vector<float>> values(kTensors, normal_values(kElements));
  std::vector<std::vector<float>> copies(kTensors, std::vector<float>(kElements, 1.0F));
  std::vector<sonde::Probe> probes;
  for (int i = 0; i < kTensors; ++i) probes.push_back(recorder.probe("layer_" + std::to_string(i) + "/out"));
  std::vector<double> memcpy_times;
  std::vector<double> flight_times;
  std::uint64_t caller_allocations = 0;
  std::uint64_t all_allocations = 0;
  double backend_seconds = 0;
  for (int n = 0; n < kWarmUp + kSteps; ++n) {
    const bool counts = n >= kWarmUp;
    for (auto& tensor : values) {
      for (float& value : tensor) value = -value;  // as a layer leaves it: just written by this thread
    }
    std::uint64_t begin = ticks();
    for (int i = 0; i < kTensors; ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::memcpy(copies[at].data(), values[at].data(), kElements * sizeof(float));
    }
    if (counts) memcpy_times.push_back(nanoseconds(ticks() - begin));
    check(copies[0].front() == values[0].front(), "memcpy copied nothing");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));

    const double backend_before = backend.seconds();
    const std::uint64_t own_before = t_allocations;
    const std::uint64_t all_before = g_allocations.load();
    {
      const auto step = recorder.step(n);
      begin = ticks();
      for (int i = 0; i < kTensors; ++i) {
        const auto at = static_cast<std::size_t>(i);
        probes[at].record(step, sonde::view(values[at], {512, 512}));
      }
      if (counts) flight_times.push_back(nanoseconds(ticks() - begin));
    }
    while (recorder.committed_step() < n) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (!counts) continue;
    caller_allocations += t_allocations - own_before;
    all_allocations += g_allocations.load() - all_before;
    backend_seconds += backend.seconds() - backend_before;
  }
  const double megabytes = static_cast<double>(kSteps) * kTensors * kElements * sizeof(float) * 1e-6;
  report("flight/memcpy", median(memcpy_times), "ns");
  report("flight/hand_off", median(flight_times), "ns");
  report("flight/allocations", static_cast<double>(caller_allocations) / kSteps, "a step, caller");
  report("flight/backend_allocations", static_cast<double>(all_allocations - caller_allocations) / kSteps, "a step");
  report("flight/backend", megabytes * 1e-3 / backend_seconds, "GB/s");
  check_complete(recorder, 0, (kWarmUp + kSteps) * kTensors);
  check(recorder.counters().flight_dropped == 0, "the ring had no room");
}

// As many small tensors as a step of a real network has, from a thread that never rests: the backend works beside it.
struct Busy {
  static constexpr std::size_t kElements = 1 << 14;  // 64 KiB
  static constexpr std::size_t kTensors = 100;

  // Records steps that take `compute` ns at least, and keeps the times of those from `warm_up` on.
  void record(int warm_up, int steps, double compute) {
    const LogDirectory directory;
    sonde::Policy policy;
    policy.flight.use = sonde::FlightPolicy::Use::on;
    policy.flight.bytes = std::uint64_t{64} << 20;
    sonde::Recorder recorder = open(directory, {.policy = policy});
    std::vector<sonde::Probe> probes;
    for (std::size_t i = 0; i < kTensors; ++i) probes.push_back(recorder.probe("layer_" + std::to_string(i) + "/out"));
    for (int n = 0; n < warm_up + steps; ++n) {
      const std::uint64_t start = ticks();
      change();
      std::uint64_t begin = ticks();
      for (std::size_t i = 0; i < kTensors; ++i) {
        std::memcpy(copies[i].data(), values[i].data(), kElements * sizeof(float));
      }
      const double copying = nanoseconds(ticks() - begin);
      check(copies[0].front() == values[0].front(), "memcpy copied nothing");
      change();
      const auto step = recorder.step(n);
      begin = ticks();
      for (std::size_t i = 0; i < kTensors; ++i) probes[i].record(step, sonde::view(values[i], {128, 128}));
      const double recording = nanoseconds(ticks() - begin);
      while (nanoseconds(ticks() - start) < compute) change();
      if (n < warm_up) continue;
      memcpy_times.push_back(copying);
      record_times.push_back(recording);
    }
    check_complete(recorder, 0, static_cast<std::uint64_t>(warm_up + steps) * kTensors);
  }

  void report_as(const std::string& name) {
    report(name + "/memcpy", median(memcpy_times), "ns");
    report(name + "/hand_off", median(record_times), "ns");
    std::ranges::sort(record_times);
    report(name + "/hand_off_p90", record_times[record_times.size() * 9 / 10], "ns");
  }

  // As a layer leaves its output: just written by this thread.
  void change() {
    for (auto& tensor : values) {
      for (float& value : tensor) value = -value;
    }
  }

  std::vector<std::vector<float>> values{kTensors, normal_values(kElements)};
  std::vector<std::vector<float>> copies{kTensors, std::vector<float>(kElements, 1.0F)};
  std::vector<double> memcpy_times;
  std::vector<double> record_times;
};

void busy() {
  constexpr double kCompute = 12e6;  // ns a step: the backend keeps up
  Busy busy;
  busy.record(60, 200, kCompute);
  busy.report_as("busy");
}

// Steps so short that the backend falls behind: every step needs memory that was not used before.
void outrun() {
  Busy busy;
  for (int i = 0; i < 8; ++i) busy.record(2, 28, 0);  // all of them fit into the memory that a recorder has
  busy.report_as("outrun");
}

}  // namespace
}  // namespace bench

int main() {
  bench::unselected();
  bench::flight();
  bench::busy();
  bench::outrun();
}
