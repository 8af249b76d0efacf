// How much longer does a step of training take when every layer is recorded at every step?
//
// The network of `sonde demo`, its statistics and histograms; once with a processor to spare for the backend, and once
// with all of them busy. Short stretches with and without recording take turns, and each is compared with its
// neighbour: a machine that is shared changes its pace many times in a run. A third sort of stretch shows what the
// machine itself asks: nothing is recorded, but another thread reads every value once. What the trainer then pays is
// getting its cache lines back, which depends on how far away the other processor is; that is measured, too.
#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "digits/data.h"
#include "digits/network.h"
#include "digits/recording.h"
#include "measure.h"

namespace bench {
namespace {

constexpr int kStretches = 100;  // of each sort
constexpr int kSteps = 40;       // in a stretch
// Before them: a backend that had nothing to do for a while looks only every 10 ms whether there is something, which
// no training sees that continues for longer than a stretch.
constexpr int kWarmUp = 15;
constexpr std::size_t kBatch = 32;
constexpr double kRate = 1e-3;

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

// Watches a step, and is notified when each of its parts has been computed. This one ignores it.
struct Nobody {
  void begin() {}
  void forward(const digits::Score&) {}
  void backward() {}
  void learned() {}
};

class Recording {
 public:
  Recording(sonde::Recorder& recorder, const digits::Network& network) : run_(recorder, network) {}

  void begin() { step_.emplace(run_.step(steps_++)); }
  void forward(const digits::Score& score) { run_.forward(*step_, score); }
  void backward() { run_.backward(*step_); }
  void learned() {
    run_.learning(*step_, kRate);
    step_.reset();
  }
  std::int64_t steps() const { return steps_; }

 private:
  digits::TrainRun run_;
  std::optional<sonde::Step> step_;
  std::int64_t steps_ = 0;
};

// Reads what it is given at once, and returns it: the minimum for any reader of a tensor on another thread.
class Reader {
 public:
  explicit Reader(const digits::Network& network) : network_(network) {}

  void begin() {}
  void forward(const digits::Score&) {
    lend(network_.input());
    for (const auto& layer : network_.layers()) lend(layer->output);
    lend(network_.probabilities());
    post();
  }
  void backward() {
    for (const auto& layer : network_.layers()) {
      lend(layer->gradient);
      for (const digits::Parameter& parameter : layer->parameters) lend(parameter.gradient);
    }
    lend(network_.input_gradient());
    post();
  }
  void learned() {
    for (const auto& layer : network_.layers()) {
      for (const digits::Parameter& parameter : layer->parameters) {
        lend(parameter.update);
        lend(parameter.value);
      }
    }
    post();
  }

 private:
  struct Lent {
    std::span<const float> values;
    std::shared_ptr<const void> memory;
  };

  void lend(const digits::Tensor& tensor) {
    lent_.push_back({std::span(tensor.values.data(), tensor.values.size()), tensor.values.lend()});
  }
  void post() {
    const std::lock_guard lock(mutex_);
    std::ranges::move(lent_, std::back_inserter(given_));
    lent_.clear();
    posted_.fetch_add(1);
  }
  void work(const std::stop_token& stop) {
    std::uint64_t seen = 0;
    while (!stop.stop_requested()) {
      const std::uint64_t posted = posted_.load();
      if (posted == seen) {
        std::this_thread::yield();
        continue;
      }
      seen = posted;
      std::vector<Lent> mine;
      {
        const std::lock_guard lock(mutex_);
        mine.swap(given_);
      }
      for (const Lent& lent : mine) add_up(lent.values);
    }
  }
  void add_up(std::span<const float> values) {
    std::array<float, 16> sums{};
    for (; values.size() >= sums.size(); values = values.subspan(sums.size())) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
    }
    for (const float sum : sums) sum_.store(sum_.load(std::memory_order_relaxed) + sum, std::memory_order_relaxed);
  }

  const digits::Network& network_;
  std::vector<Lent> lent_;  // by the part that was computed last
  std::mutex mutex_;
  std::vector<Lent> given_;
  std::atomic<std::uint64_t> posted_ = 0;
  std::atomic<float> sum_ = 0;  // so that the compiler keeps the reads
  std::jthread thread_{[this](const std::stop_token& stop) { work(stop); }};
};

// The time that a cache line takes to another processor and back, in ns.
double distance() {
  std::atomic<int> ball = 0;
  constexpr int kTurns = 2'000;
  const std::jthread other([&] {
    for (int turn = 1; turn < 2 * kTurns; turn += 2) {
      while (ball.load(std::memory_order_acquire) != turn) {
      }
      ball.store(turn + 1, std::memory_order_release);
    }
  });
  std::vector<double> times;
  for (int turn = 1; turn < 2 * kTurns; turn += 2) {
    const std::uint64_t begin = ticks();
    ball.store(turn, std::memory_order_release);
    while (ball.load(std::memory_order_acquire) != turn + 1) {
    }
    times.push_back(nanoseconds(ticks() - begin));
  }
  return median(times);
}

// The time of a step in a short stretch of training, in ns. The median is what most steps take; the mean also counts
// those that the backend or the machine delayed.
struct StepTime {
  double median = 0;
  double mean = 0;
};
template <class Watcher>
StepTime stretch(digits::Network& network, digits::Batches& batches, Watcher& watcher) {
  std::vector<double> times;
  for (int i = 0; i < kWarmUp + kSteps; ++i) {
    const std::uint64_t begin = ticks();
    watcher.begin();
    const digits::Dataset& batch = batches.next();
    watcher.forward(network.forward(batch.images, batch.labels));
    network.backward();
    watcher.backward();
    network.learn(kRate);
    watcher.learned();
    if (i >= kWarmUp) times.push_back(nanoseconds(ticks() - begin));
  }
  return {median(times), std::accumulate(times.begin(), times.end(), 0.0) / kSteps};
}

void longer_steps(const std::string& name, digits::Network& network, const digits::Dataset& data) {
  const LogDirectory directory;
  sonde::Policy policy;
  policy.watches.push_back({.record = sonde::Keep::stats | sonde::Keep::histogram});
  sonde::Recorder recorder = open(directory, {.policy = policy});
  Recording recording(recorder, network);
  digits::Batches batches(data, kBatch, 1);
  std::vector<double> plain;
  std::vector<double> recorded;
  std::vector<double> recorded_mean;
  std::vector<double> only_read;
  for (int i = 0; i < kStretches; ++i) {
    Nobody nobody;
    const StepTime bare = stretch(network, batches, nobody);
    plain.push_back(bare.median);
    const StepTime watched = stretch(network, batches, recording);
    recorded.push_back(watched.median / bare.median);
    recorded_mean.push_back(watched.mean / bare.mean);
    const sonde::Status flushed = recorder.flush();  // or the backend would still be at work in the next stretch
    check(flushed.ok(), flushed.message());
    Reader reader(network);
    only_read.push_back(stretch(network, batches, reader).median / bare.median);
  }
  check(recorder.counters().dropped_tensors == 0, "tensors were dropped");
  report(name + "/step", median(plain) * 1e-3, "us");
  report(name + "/tensors", static_cast<double>(recorder.counters().tensors) / static_cast<double>(recording.steps()),
         "a step");
  report(name + "/longer", (median(recorded) - 1) * 100, "%");
  report(name + "/longer_mean", (median(recorded_mean) - 1) * 100, "%");
  report(name + "/only_read", (median(only_read) - 1) * 100, "%");
}

}  // namespace
}  // namespace bench

int main() {
  const digits::Split data = digits::load();
  digits::Network network(1);
  for (int i = 0; i < 50; ++i) (void)network.forward(data.test.images, data.test.labels);  // warm
  bench::report("distance", bench::distance(), "ns");
  bench::longer_steps("spare_core", network, data.train);
  std::vector<std::unique_ptr<bench::Spinner>> spinners;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
    spinners.push_back(std::make_unique<bench::Spinner>());
  }
  bench::longer_steps("busy_cores", network, data.train);
}
