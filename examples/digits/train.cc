#include "digits/train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <numbers>
#include <span>
#include <sstream>
#include <utility>

#include "digits/data.h"
#include "digits/recording.h"

namespace digits {
namespace {

constexpr std::size_t kBatchSize = 32;
constexpr double kLearningRate = 3e-3;  // at first; then it falls along half a cosine
constexpr std::int64_t kTestEvery = 20;
constexpr std::int64_t kDrawEvery = 100;
constexpr std::int64_t kStepsOfFault = 30;  // then training ends: there is nothing more to see

double learning_rate_at(std::int64_t n, std::int64_t steps) {
  return kLearningRate * (1 + std::cos(std::numbers::pi * static_cast<double>(n) / static_cast<double>(steps))) / 2;
}

// For the person who opens the log next year. Markdown.
std::string note_about(const Network& network, const Split& digits, const TrainOptions& options) {
  std::ostringstream note;
  note << "# Handwritten digits\n\n"
       << "A convolutional network of " << network.parameter_count() << " parameters learns from "
       << digits.train.labels.size() << " digits of 8x8 pixels and is tested on " << digits.test.labels.size()
       << " others: " << options.steps << " steps, " << kBatchSize << " digits each, seed " << options.seed << ".\n\n"
       << "| layer | operation | output | parameters |\n|---|---|---|---|\n";
  for (const auto& layer : network.layers()) {
    std::size_t parameters = 0;
    for (const Parameter& parameter : layer->parameters) parameters += parameter.value.size();
    note << "| " << layer->name << " | " << layer->op << " | ";
    for (std::size_t i = 1; i < layer->output.shape.size(); ++i) note << (i > 1 ? "x" : "") << layer->output.shape[i];
    note << " | " << parameters << " |\n";
  }
  return note.str();
}

sonde::HParams hparams_of(const TrainOptions& options) {
  return {.values = {{"learning_rate", kLearningRate},
                     {"batch_size", static_cast<std::int64_t>(kBatchSize)},
                     {"steps", options.steps},
                     {"seed", static_cast<std::int64_t>(options.seed)},
                     {"optimizer", "adam"}},
          .metrics = {"accuracy", "loss"}};
}

double processor_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Of all threads but this one; in this program that is Sonde's.
double other_threads_seconds() {
  return processor_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor_seconds(CLOCK_THREAD_CPUTIME_ID);
}

// Adds up the wall time of the calls that it is given.
class Stopwatch {
 public:
  template <class Call>
  void time(Call call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
};

// Plants a fault into an otherwise identical training. It has no effect before `begin`.
class Saboteur {
 public:
  Saboteur(Fault fault, std::int64_t begin) : fault_(fault), begin_(begin) {}

  bool active(std::int64_t n) const { return fault_ != Fault::none && n >= begin_; }

  // For nan the network gets a layer that no picture of a digit harms.
  Layers layers(std::uint64_t seed) const {
    Layers layers = digit_layers(seed);
    if (fault_ == Fault::nan) layers.insert(layers.begin(), std::make_unique<Brighten>("brighten_1"));
    return layers;
  }

  // nan: a picture without any ink, such as a file that was not read to its end, is divided by its brightest pixel,
  // which is 0.
  void spoil(std::int64_t n, Dataset& batch) const {
    if (fault_ != Fault::nan || n != begin_) return;
    const std::size_t pixels = batch.images.size() / batch.labels.size();
    std::ranges::fill(std::span(batch.images.values).subspan(7 * pixels, pixels), 0.0f);
  }

  // explode: the last layer has its own schedule, 0.5 to the power of the steps since, and somebody got the sign
  // of the exponent wrong.
  void before_learning(std::int64_t n, Network& network) const {
    if (fault_ == Fault::explode && n >= begin_) network.layers().back()->rate *= 2;
  }

  // dead: a penalty on large biases of dense_1 with a factor that is far too large: one step subtracts 50 from each of
  // them, after which no ReLU after them is ever active again.
  void after_learning(std::int64_t n, Network& network) const {
    if (fault_ != Fault::dead || n != begin_) return;
    for (const auto& layer : network.layers()) {
      if (layer->name != "dense_1") continue;
      Parameter& bias = layer->parameters[1];
      for (float& value : bias.update.values) value -= 50;
      for (float& value : bias.value.values) value -= 50;
    }
  }

 private:
  Fault fault_;
  std::int64_t begin_;
};

// Trains with both recorders open, and closes them.
Outcome run(const TrainOptions& options, sonde::Recorder& train_log, sonde::Recorder& test_log) {
  const std::int64_t half = options.steps / 2;
  const Saboteur saboteur(options.fault, half);
  const std::int64_t end = options.fault == Fault::none ? options.steps : std::min(options.steps, half + kStepsOfFault);
  const Split digits = load();
  Network network(saboteur.layers(options.seed));
  Batches batches(digits.train, kBatchSize, options.seed);
  TrainRun train_run(train_log, network);
  TestRun test_run(test_log, network, digits.test);
  Stopwatch recording;

  Progress progress{.test = network.forward(digits.test.images, digits.test.labels)};
  recording.time([&] {
    train_run.describe(note_about(network, digits, options), hparams_of(options));
    test_run.describe(hparams_of(options));
  });
  for (std::int64_t n = 0; n < end; ++n) {
    Dataset batch = batches.next();
    saboteur.spoil(n, batch);
    const double rate = learning_rate_at(n, options.steps);
    sonde::Step step = train_run.step(n);
    progress.train = network.forward(batch.images, batch.labels);
    recording.time([&] { train_run.forward(step, progress.train); });
    network.backward();
    recording.time([&] { train_run.backward(step); });
    saboteur.before_learning(n, network);
    network.learn(rate);
    saboteur.after_learning(n, network);
    recording.time([&] {
      train_run.learning(step, rate);
      step.end();
    });

    progress.last = n + 1 == end;
    if (!saboteur.active(n) && (n % kTestEvery == 0 || progress.last)) {
      progress.test = network.forward(digits.test.images, digits.test.labels);
      recording.time([&] {
        test_run.record(n, progress.test);
        if (n % kDrawEvery == 0 || progress.last) {
          test_run.draw_features(n);
          test_run.draw_errors(n);
        }
      });
    }
    progress.done = n + 1;
    if (options.on_progress) options.on_progress(progress);
  }

  Outcome outcome{.test = progress.test, .steps = end};
  if (options.fault != Fault::none) outcome.fault_step = half;
  outcome.train_directory = train_log.directory();
  recording.time([&] {
    if (options.fault == Fault::none) test_run.print(end - 1);
    outcome.recorded = train_log.close();
    if (sonde::Status status = test_log.close(); outcome.recorded.ok()) outcome.recorded = std::move(status);
  });
  outcome.recording_seconds = recording.seconds();
  for (const sonde::Counters& counters : {train_log.counters(), test_log.counters()}) {
    outcome.bytes_written += counters.bytes_written;
    outcome.dropped += counters.dropped_scalars + counters.dropped_tensors + counters.rejected + counters.lost_records +
                       counters.flight_dropped;
  }
  return outcome;
}

}  // namespace

sonde::Result<Outcome> train(const TrainOptions& options) {
  auto train_log = sonde::Recorder::open(options.directory + "/train", {.policy = train_policy()});
  if (!train_log) return train_log.error();
  auto test_log = sonde::Recorder::open(options.directory + "/test");
  if (!test_log) return test_log.error();

  const double backend_before = other_threads_seconds();
  Stopwatch all;
  Outcome outcome;
  all.time([&] { outcome = run(options, *train_log, *test_log); });
  outcome.seconds = all.seconds();
  outcome.backend_seconds = other_threads_seconds() - backend_before;
  return outcome;
}

}  // namespace digits
