// How much longer does a step of training take when every layer is recorded at every step?
//
// The network of `sonde demo`, its statistics and histograms. Stretches with and without recording take turns, so that
// both see the same machine; once with a processor to spare for the backend, and once with all of them busy.
#include <atomic>
#include <thread>

#include "digits/data.h"
#include "digits/network.h"
#include "digits/recording.h"
#include "measure.h"

namespace bench {
namespace {

constexpr int kStretches = 24;  // of each sort
constexpr int kSteps = 50;      // in a stretch
constexpr std::size_t kBatch = 32;

// Keeps a processor busy as long as it lives.
class Spinner {
 public:
  Spinner()
      : thread_([](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
          }
        }) {}

 private:
  std::jthread thread_;
};

void longer_steps(const std::string& name, digits::Network& network, const digits::Dataset& data) {
  const LogDirectory directory;
  sonde::Policy policy;
  policy.watches.push_back({.record = sonde::Keep::stats | sonde::Keep::histogram});
  sonde::Recorder recorder = open(directory, {.policy = policy});
  digits::TrainRun run(recorder, network);
  digits::Batches batches(data, kBatch, 1);
  std::vector<double> plain;
  std::vector<double> recorded;
  std::int64_t n = 0;
  for (int stretch = 0; stretch < 2 * kStretches; ++stretch) {
    const bool records = stretch % 2 == 1;
    for (int i = 0; i < kSteps; ++i) {
      const std::uint64_t begin = ticks();
      const digits::Dataset& batch = batches.next();
      const digits::Score score = network.forward(batch.images, batch.labels);
      network.backward();
      network.learn(1e-3);
      if (records) run.record(n++, score, 1e-3);
      (records ? recorded : plain).push_back(nanoseconds(ticks() - begin));
    }
    const sonde::Status flushed = recorder.flush();  // or the backend would still be at work in the next stretch
    check(flushed.ok(), flushed.message());
  }
  check(recorder.counters().dropped_tensors == 0, "tensors were dropped");
  const double a = median(plain);
  const double b = median(recorded);
  report(name + "/step", a * 1e-3, "us");
  report(name + "/tensors", static_cast<double>(recorder.counters().tensors) / static_cast<double>(n), "a step");
  report(name + "/longer", (b / a - 1) * 100, "%");
}

}  // namespace
}  // namespace bench

int main() {
  const digits::Split data = digits::load();
  digits::Network network(1);
  for (int i = 0; i < 50; ++i) (void)network.forward(data.test.images, data.test.labels);  // warm
  bench::longer_steps("spare_core", network, data.train);
  std::vector<std::unique_ptr<bench::Spinner>> spinners;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
    spinners.push_back(std::make_unique<bench::Spinner>());
  }
  bench::longer_steps("busy_cores", network, data.train);
}
