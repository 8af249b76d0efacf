// A job that runs until it is stopped, for commands that change a running job: a falling loss, and two changing
// tensors.
//
//   live_recorder RUN [POLICY [STEPS]]   prints "running" once it runs; ends after STEPS steps, or when standard input
//                                        ends, and prints the number of steps and of saved captures
//
// The loss is 1 / (1 + step); a j on standard input makes it 100 for one step.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sonde/sonde.h"

namespace {

int failed(const sonde::Status& status) { return std::fprintf(stderr, "%s\n", status.message().c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) return std::fputs("usage: live_recorder RUN [POLICY [STEPS]]\n", stderr), 2;
  sonde::RecorderOptions options;
  options.console = nullptr;
  options.on_error = [](const sonde::Status& status) { std::fprintf(stderr, "%s\n", status.message().c_str()); };
  if (argc > 2) {
    const auto policy = sonde::Policy::load(argv[2]);
    if (!policy) return failed(policy.error());
    options.policy = *policy;
  }
  auto opened = sonde::Recorder::open(argv[1], options);
  if (!opened) return failed(opened.error());
  sonde::Recorder& recorder = *opened;
  const sonde::Scalar loss = recorder.series("loss");
  const sonde::Probe out = recorder.probe("dense_1/out", {.inputs = {"images"}});
  const sonde::Probe gradient = recorder.probe("dense_1/kernel", {.kind = sonde::Kind::gradient});

  std::atomic<bool> jump = false;
  std::atomic<bool> ended = false;
  const std::int64_t steps = argc > 3 ? std::atoll(argv[3]) : std::numeric_limits<std::int64_t>::max();
  std::jthread listener([&] {  // of standard input, until it ends
    char byte = 0;
    while (::read(0, &byte, 1) == 1) {
      if (byte == 'j') jump = true;
    }
    ended = true;
  });
  std::puts("running");
  std::fflush(stdout);
  std::int64_t n = 0;
  for (; n < steps && (argc > 3 || !ended); ++n) {
    const sonde::Step step = recorder.step(n);
    std::vector<float> values;
    for (std::int64_t i = 0; i < 64; ++i) values.push_back(static_cast<float>(i - n % 64) / 16);
    if (out.wanted(step)) out.record(step, sonde::view(values, {8, 8}));
    if (gradient.wanted(step)) gradient.record(step, sonde::view(values));
    loss.record(jump.exchange(false) ? 100 : 1.0 / static_cast<double>(1 + n), n);
    if (argc == 4) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (const sonde::Status status = recorder.close(); !status.ok()) return failed(status);
  return std::printf("%lld steps, %llu captures\n", static_cast<long long>(n),
                     static_cast<unsigned long long>(recorder.counters().captures)),
         0;
}
