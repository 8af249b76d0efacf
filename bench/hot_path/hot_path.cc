// What does a thread that records pay?
//
// Calls are paced as a training loop paces them, scalars at random every 2 to 10 us, tensors so slowly that the backend
// keeps up and nothing is dropped. Each is timed alone; what reading the clock costs is measured with nothing in
// between and subtracted.
#include <cstring>
#include <memory>
#include <thread>

#include "measure.h"

namespace bench {
namespace {

constexpr std::size_t kMillion = 1'000'000;
constexpr int kPacedCalls = 200'000;
constexpr int kTensorCalls = 200;

struct Pace {
  std::uint64_t shortest;  // us
  std::uint64_t longest;
};
constexpr Pace kScalars = {2, 10};

template <class Call>
std::vector<double> paced(Pace pace, int calls, Call&& call) {
  const auto per_microsecond = static_cast<std::uint64_t>(1e3 / nanoseconds(1));
  std::minstd_rand random(1);
  std::uniform_int_distribution<std::uint64_t> gap(pace.shortest * per_microsecond, pace.longest * per_microsecond);
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    spin_for(gap(random));
    const std::uint64_t begin = ticks();
    call(i);
    times.push_back(nanoseconds(ticks() - begin));
  }
  return times;
}

double clock_cost() {
  static const double cost = [] {
    std::vector<double> times = paced(kScalars, 20'000, [](int) {});
    return median(times);
  }();
  return cost;
}

void report_paced(const std::string& name, std::vector<double> times) {
  for (double& time : times) time = std::max(0.0, time - clock_cost());
  report(name + "/p50", median(times), "ns");
  report(name + "/p99", quantile(times, 0.99), "ns");
  report(name + "/p99.9", quantile(times, 0.999), "ns");
  report(name + "/max", quantile(times, 1), "ns");
}

void scalars() {
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  const sonde::Scalar loss = recorder.series("loss");
  for (int i = 0; i < 1000; ++i) loss.record(0.5, i);
  report_paced("scalar", paced(kScalars, kPacedCalls, [&](int i) { loss.record(0.5, i); }));
  report_paced("scalar_by_name", paced(kScalars, kPacedCalls, [&](int i) { recorder.scalar("train/loss", 0.5, i); }));

  // One after the other, in bursts that the ring holds: what the call takes of the processor's throughput.
  constexpr int kBursts = 500;
  constexpr int kBurst = 1000;
  std::vector<double> times;
  for (int burst = 0; burst < kBursts; ++burst) {
    const std::uint64_t begin = ticks();
    for (int i = 0; i < kBurst; ++i) loss.record(0.5, i);
    times.push_back(nanoseconds(ticks() - begin) / kBurst);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  report("scalar/burst", median(times), "ns");
  check_complete(recorder, 1000 + 2 * kPacedCalls + kBursts * kBurst, 0);
}

// From the second thread on, stamps must also be in order between threads.
void scalars_of_two_threads() {
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  const sonde::Scalar loss = recorder.series("loss");
  std::uint64_t others = 0;
  std::jthread other([&](const std::stop_token& stop) {
    for (; !stop.stop_requested(); ++others) {
      loss.record(0.5, 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  report_paced("scalar_two_threads", paced(kScalars, kPacedCalls, [&](int i) { loss.record(0.5, i); }));
  other.request_stop();
  other.join();
  check_complete(recorder, kPacedCalls + others, 0);
}

void probes() {
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  const sonde::Probe out = recorder.probe("dense_1/out");
  const sonde::Probe rare = recorder.probe("dense_2/out", {.every = 1 << 30});
  const std::vector<float> values = normal_values(4096);
  {
    const auto step = recorder.step(1);
    int wanted = 0;
    report_paced("probe_wanted", paced(kScalars, kPacedCalls, [&](int) { wanted += rare.wanted(step) ? 1 : 0; }));
    check(wanted == 0, "a probe wanted a step that is not due");
  }
  constexpr int kSteps = 10'000;
  report_paced("step", paced(kScalars, kSteps, [&](int i) { const auto step = recorder.step(2 + i); }));
  report_paced("step_with_probe", paced({50, 100}, kSteps, [&](int i) {
                 const auto step = recorder.step(2 + kSteps + i);
                 out.record(step, sonde::view(values, {32, 128}));
               }));
  check_complete(recorder, 0, kSteps);
  check(recorder.committed_step() == 1 + 2 * kSteps, "the last step was not committed");
}

// The values as a layer leaves them: just written by this thread.
void refresh(std::vector<float>& values) {
  for (float& value : values) value = -value;
}

void tensors() {
  const LogDirectory directory;
  sonde::Recorder recorder = open(directory);
  const auto values = std::make_shared<std::vector<float>>(normal_values(kMillion));
  std::vector<float> copy(kMillion, 1.0F);  // touched, so that memcpy meets no page fault
  std::vector<double> memcpy_times;
  std::vector<double> histogram_times;
  std::vector<double> frozen_times;
  const auto timed = [&](std::vector<double>& times, auto&& call) {
    refresh(*values);
    const std::uint64_t begin = ticks();
    call();
    times.push_back(nanoseconds(ticks() - begin) - clock_cost());
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  };
  for (int i = 0; i < kTensorCalls; ++i) {
    timed(memcpy_times, [&] { std::memcpy(copy.data(), values->data(), kMillion * sizeof(float)); });
    check(copy.front() == values->front() && copy.back() == values->back(), "memcpy copied nothing");
    timed(histogram_times, [&] { recorder.histogram("copied", sonde::view(*values), i); });
    const sonde::TensorArg shared = sonde::frozen(sonde::view(*values), values);
    timed(frozen_times, [&] { recorder.histogram("frozen", shared, i); });
    const sonde::Status flushed = recorder.flush();  // the frozen values change next
    check(flushed.ok(), flushed.message());
  }
  report("histogram_1m/first", histogram_times.front(), "ns");
  report("memcpy_1m/p50", median(memcpy_times), "ns");
  report("memcpy_1m/p99", quantile(memcpy_times, 0.99), "ns");
  report("histogram_1m/p50", median(histogram_times), "ns");
  report("histogram_1m/p99", quantile(histogram_times, 0.99), "ns");
  report("histogram_1m_frozen/p50", median(frozen_times), "ns");
  report("histogram_1m_frozen/p99", quantile(frozen_times, 0.99), "ns");
  check_complete(recorder, 0, 2 * kTensorCalls);
}

}  // namespace
}  // namespace bench

int main() {
  bench::report("clock", bench::clock_cost(), "ns");
  bench::scalars();
  bench::probes();
  bench::tensors();
  bench::scalars_of_two_threads();
}
