// How much longer does a step of training take when every layer is recorded at every step?
//
// The network of `sonde demo`, its statistics and histograms; once with a processor to spare for the backend, and once
// with all of them busy. Short stretches with and without recording take turns, and each is compared with its
// neighbour: a machine that is shared changes its pace many times in a run. A third sort of stretch shows what the
// machine itself asks: nothing is recorded, but another thread reads every value once. What the trainer then pays is
// getting its cache lines back, and where two processors share no cache that alone can be 6 %.
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "digits/data.h"
#include "digits/network.h"
#include "digits/recording.h"
#include "measure.h"

namespace bench {
namespace {

constexpr int kStretches = 100;  // of each sort
constexpr int kSteps = 20;       // in a stretch
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

// Reads what it is given as soon as it is given it, and gives it back: the least that anybody who looks at a tensor on
// another thread can do.
class Reader {
 public:
  void read(const digits::Network& network) {
    std::vector<Lent> all;
    const auto lend = [&](const digits::Tensor& tensor) {
      all.push_back({std::span(tensor.values.data(), tensor.values.size()), tensor.values.lend()});
    };
    lend(network.input());
    for (const auto& layer : network.layers()) {
      lend(layer->output);
      lend(layer->gradient);
      for (const digits::Parameter& parameter : layer->parameters) {
        lend(parameter.gradient);
        lend(parameter.update);
      }
    }
    lend(network.probabilities());
    lend(network.input_gradient());
    const std::lock_guard lock(mutex_);
    given_.swap(all);
    posted_.fetch_add(1);
  }

 private:
  struct Lent {
    std::span<const float> values;
    std::shared_ptr<const void> memory;
  };

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

  std::mutex mutex_;
  std::vector<Lent> given_;
  std::atomic<std::uint64_t> posted_ = 0;
  std::atomic<float> sum_ = 0;  // so that nobody leaves the reading out
  std::jthread thread_{[this](const std::stop_token& stop) { work(stop); }};
};

void longer_steps(const std::string& name, digits::Network& network, const digits::Dataset& data) {
  const LogDirectory directory;
  sonde::Policy policy;
  policy.watches.push_back({.record = sonde::Keep::stats | sonde::Keep::histogram});
  sonde::Recorder recorder = open(directory, {.policy = policy});
  digits::TrainRun run(recorder, network);
  digits::Batches batches(data, kBatch, 1);
  std::int64_t n = 0;
  // The median time of a step, with something done at its end.
  const auto stretch = [&](const auto& at_end) {
    std::vector<double> times;
    for (int i = 0; i < kSteps; ++i) {
      const std::uint64_t begin = ticks();
      const digits::Dataset& batch = batches.next();
      const digits::Score score = network.forward(batch.images, batch.labels);
      network.backward();
      network.learn(1e-3);
      at_end(score);
      times.push_back(nanoseconds(ticks() - begin));
    }
    return median(times);
  };
  std::vector<double> plain;
  std::vector<double> recorded;
  std::vector<double> only_read;
  for (int i = 0; i < kStretches; ++i) {
    plain.push_back(stretch([](const digits::Score&) {}));
    recorded.push_back(stretch([&](const digits::Score& score) { run.record(n++, score, 1e-3); }) / plain.back());
    const sonde::Status flushed = recorder.flush();  // or the backend would still be at work in the next stretch
    check(flushed.ok(), flushed.message());
    Reader reader;
    only_read.push_back(stretch([&](const digits::Score&) { reader.read(network); }) / plain.back());
  }
  check(recorder.counters().dropped_tensors == 0, "tensors were dropped");
  report(name + "/step", median(plain) * 1e-3, "us");
  report(name + "/tensors", static_cast<double>(recorder.counters().tensors) / static_cast<double>(n), "a step");
  report(name + "/longer", (median(recorded) - 1) * 100, "%");
  report(name + "/only_read", (median(only_read) - 1) * 100, "%");
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
