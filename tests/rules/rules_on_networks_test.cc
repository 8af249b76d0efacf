// Every ready-made rule on networks that learn to read digits: one with the fault that it detects, and several healthy
// ones. Recorded like a real program, through the public interface.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <numbers>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/temp_dir_testing.h"
#include "digits/data.h"
#include "digits/network.h"
#include "digits/recording.h"
#include "policy/rules.h"
#include "sonde/sonde.h"

namespace digits {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// ---- Networks.

// y = f(x), with f' written in terms of y.
class Activation final : public Layer {
 public:
  using Function = float (*)(float);
  Activation(std::string layer_name, Function function, Function slope)
      : Layer(std::move(layer_name), "Activation"), function_(function), slope_(slope) {}

  void forward(const Tensor& input) override {
    output.reshape(input.shape);
    std::ranges::transform(input.values, output.values.begin(), function_);
  }
  void backward(const Tensor& input, Tensor& input_gradient) override {
    input_gradient.reshape(input.shape);
    for (std::size_t i = 0; i < input.size(); ++i) {
      input_gradient.values[i] = gradient.values[i] * slope_(output.values[i]);
    }
  }

 private:
  Function function_;
  Function slope_;
};

using MakeActivation = std::function<std::unique_ptr<Layer>(std::string name)>;

std::unique_ptr<Layer> relu(std::string name) { return std::make_unique<Relu>(std::move(name)); }
std::unique_ptr<Layer> tanh(std::string name) {
  return std::make_unique<Activation>(
      std::move(name), [](float x) { return std::tanh(x); }, [](float y) { return 1 - y * y; });
}
std::unique_ptr<Layer> sigmoid(std::string name) {
  return std::make_unique<Activation>(
      std::move(name), [](float x) { return 1 / (1 + std::exp(-x)); }, [](float y) { return y * (1 - y); });
}

// hidden_1, act_1, ..., and a last layer "logits".
Layers dense_layers(const MakeActivation& activation, std::uint64_t seed, int depth = 2, std::size_t width = 32) {
  Random random(seed);
  Layers layers;
  std::size_t inputs = 8 * 8;
  for (int i = 1; i <= depth; ++i) {
    layers.push_back(std::make_unique<Dense>("hidden_" + std::to_string(i), inputs, width, random));
    layers.push_back(activation("act_" + std::to_string(i)));
    inputs = width;
  }
  layers.push_back(std::make_unique<Dense>("logits", inputs, 10, random));
  return layers;
}

void scale(Parameter& parameter, float factor) {
  Values& values = parameter.value.values;
  const std::span<const float> before = values.advance();
  std::ranges::transform(before, values.begin(), [&](float value) { return value * factor; });
}

// ---- Training.

using BeforeStep = std::function<void(std::int64_t n, Network& network, Dataset& batch)>;

// The result of a training.
struct Training {
  std::function<Layers()> layers;
  std::int64_t steps = 1000;
  double rate = 3e-3;  // at first; within a thousand steps it falls along half a cosine
  BeforeStep before_step = {};
  std::uint64_t seed = 1;  // of the order of digits
};

// Its captures. `policy` decides what triggers one.
std::vector<sonde::CaptureInfo> captures_of(const Training& training, const sonde::Policy& policy) {
  static const Split digits = load();
  const sonde::base::TempDir dir;
  // On a machine that is busy the network waits: what rules find must not depend on it.
  auto recorder = sonde::Recorder::open(
      dir.path(), {.tensors = sonde::Overflow::wait, .max_wait = std::chrono::minutes(1), .policy = policy});
  EXPECT_TRUE(recorder) << recorder.error().message();
  Network network(training.layers());
  Batches batches(digits.train, 32, training.seed);
  TrainRun run(*recorder, network);
  for (std::int64_t n = 0; n < training.steps; ++n) {
    Dataset batch = batches.next();
    if (training.before_step) training.before_step(n, network, batch);
    const sonde::Step step = run.step(n);
    run.forward(step, network.forward(batch.images, batch.labels));
    network.backward();
    run.backward(step);
    const double rate = training.rate * (1 + std::cos(std::numbers::pi * static_cast<double>(n) / 1000)) / 2;
    network.learn(rate);
    run.learning(step, rate);
  }
  EXPECT_TRUE(recorder->close().ok());
  EXPECT_EQ(recorder->counters().dropped_tensors, 0U);
  std::vector<sonde::CaptureInfo> captures;
  const auto paths = sonde::list_captures(dir.path());
  for (const std::string& path : *paths) captures.push_back(sonde::Capture::open(path)->info());
  return captures;
}

sonde::Policy policy_of(std::span<const std::string> rules) {
  sonde::Policy policy;
  for (const std::string& rule : rules) policy.triggers.push_back({.rule = rule, .rearm = sonde::Rearm::never});
  policy.flight.bytes = 16 << 20;
  return policy;
}

std::vector<std::string> all_rules() {
  std::vector<std::string> names;
  for (const sonde::policy::Rule& rule : sonde::policy::rules()) names.emplace_back(rule.name);
  return names;
}

// ---- Something goes wrong.

struct Sick {
  std::string name;
  std::string rule;
  std::int64_t begins = 0;  // the step from which the rule has reason to fire,
  std::int64_t within = 0;  // and how many later it has to at the latest
  Training training;
};
std::ostream& operator<<(std::ostream& out, const Sick& sick) { return out << sick.name; }

constexpr std::int64_t kMiddle = 300;

// Once, before the step in the middle.
template <class Change>
BeforeStep in_the_middle(Change change) {
  return [change](std::int64_t n, Network& network, Dataset& batch) {
    if (n == kMiddle) change(network, batch);
  };
}
BeforeStep scales_a_weight(std::size_t layer, float factor) {
  return in_the_middle([=](Network& network, Dataset&) { scale(network.layers()[layer]->parameters[0], factor); });
}
BeforeStep changes_the_rate(double factor) {
  return in_the_middle([=](Network& network, Dataset&) {
    for (const auto& layer : network.layers()) layer->rate = factor;
  });
}
// The last layer learns twice as fast with every step.
void learns_faster_and_faster(std::int64_t n, Network& network, Dataset&) {
  if (n >= kMiddle) network.layers().back()->rate *= 2;
}

Layers relu_layers() { return dense_layers(relu, 1); }
Layers tanh_layers() { return dense_layers(tanh, 1); }
Layers sigmoid_layers() { return dense_layers(sigmoid, 1); }
Layers deep_sigmoid_layers() { return dense_layers(sigmoid, 1, 20, 16); }
Layers brightened_layers() {
  Layers layers = relu_layers();
  layers.insert(layers.begin(), std::make_unique<Brighten>("brighten"));
  return layers;
}
Layers tiny_layers() {
  Layers layers = dense_layers(tanh, 1, 4, 32);
  for (const auto& layer : layers) {
    if (!layer->parameters.empty()) scale(layer->parameters[0], 1e-6f);
  }
  return layers;
}

void blackens_a_picture(Network&, Dataset& batch) { std::fill_n(batch.images.values.begin(), 8 * 8, 0.0f); }
void mistakes_labels(Network&, Dataset& batch) {
  for (std::uint8_t& label : batch.labels) label = static_cast<std::uint8_t>((label + 1) % 10);
}
void silences_relus(Network& network, Dataset&) {
  Values& biases = network.layers()[2]->parameters[1].value.values;
  const std::span<const float> before = biases.advance();
  std::ranges::transform(before, biases.begin(), [](float bias) { return bias - 50; });
}

std::vector<Sick> sick_tensors() {
  return {
      {"APictureWithoutInkIsDividedByItsBrightestPixel",
       "nonfinite",
       kMiddle,
       0,
       {.layers = brightened_layers, .steps = 310, .before_step = in_the_middle(blackens_a_picture)}},
      {"TheLastLayerLearnsFasterAndFaster",
       "exploding_gradient",
       kMiddle,
       20,
       {.layers = relu_layers, .steps = 330, .before_step = learns_faster_and_faster}},
      // Not at once: if all digits of a batch are classified correctly, there is no gradient at all.
      {"AWeightIsAThousandTimesTooLarge",
       "exploding_gradient",
       kMiddle,
       10,
       {.layers = tanh_layers, .steps = 320, .before_step = scales_a_weight(4, 1000)}},
      {"TwentySigmoidsBehindEachOther", "vanishing_gradient", 9, 0, {.layers = deep_sigmoid_layers, .steps = 20}},
      {"WeightsAreAsGoodAsZero", "vanishing_gradient", 9, 0, {.layers = tiny_layers, .steps = 20, .rate = 1e-5}},
      {"ABiasIsFarBelowZero",
       "dead_relu",
       kMiddle,
       0,
       {.layers = relu_layers, .steps = 310, .before_step = in_the_middle(silences_relus)}},
      {"TheRateIsAThousandTimesTooHigh", "dead_relu", 0, 200, {.layers = relu_layers, .steps = 200, .rate = 3}},
      {"AWeightBeforeATanhIsTooLarge",
       "saturated_activation",
       kMiddle,
       0,
       {.layers = tanh_layers, .steps = 310, .before_step = scales_a_weight(0, 30)}},
      {"AWeightBeforeASigmoidIsTooLarge",
       "saturated_activation",
       kMiddle,
       0,
       {.layers = sigmoid_layers, .steps = 310, .before_step = scales_a_weight(0, 20)}},
      {"AWeightIsTooLargeForHalfPrecision",
       "fp16_overflow",
       kMiddle,
       0,
       {.layers = relu_layers, .steps = 310, .before_step = scales_a_weight(0, 5e4f)}},
  };
}

std::vector<Sick> sick_learning() {
  return {
      {"TheLastLayerLearnsFasterAndFaster",
       "update_ratio",
       kMiddle,
       20,
       {.layers = relu_layers, .steps = 330, .before_step = learns_faster_and_faster}},
      {"TheRateIsAMillionTimesTooLow", "update_ratio", 99, 0, {.layers = relu_layers, .steps = 110, .rate = 3e-9}},
      {"ABatchHasWrongLabels",
       "loss_spike",
       kMiddle,
       0,
       {.layers = relu_layers, .steps = 310, .before_step = in_the_middle(mistakes_labels)}},
      {"TheRateJumps",
       "loss_spike",
       kMiddle,
       10,
       {.layers = tanh_layers, .steps = 320, .before_step = changes_the_rate(100)}},
      {"NothingIsLearned", "loss_not_decreasing", 199, 200, {.layers = relu_layers, .steps = 500, .rate = 0}},
      {"LearningStops",
       "loss_not_decreasing",
       kMiddle,
       1100,
       {.layers = relu_layers, .steps = 1500, .before_step = changes_the_rate(0)}},
  };
}

std::vector<Sick> sick_networks() {
  std::vector<Sick> all = sick_tensors();
  std::ranges::move(sick_learning(), std::back_inserter(all));
  return all;
}

class SickNetwork : public testing::TestWithParam<Sick> {};

TEST_P(SickNetwork, IsCaughtInTimeWithTheStepsBefore) {
  const Sick& sick = GetParam();
  const auto captures = captures_of(sick.training, policy_of(std::vector{sick.rule}));
  ASSERT_EQ(captures.size(), 1U);
  const sonde::CaptureInfo& capture = captures[0];
  EXPECT_EQ(capture.reason, sick.rule);
  EXPECT_GE(capture.step, sick.begins);
  EXPECT_LE(capture.step, sick.begins + sick.within);
  ASSERT_EQ(capture.steps.size(), static_cast<std::size_t>(std::min<std::int64_t>(capture.step, 5) + 1));
  EXPECT_EQ(capture.steps.back().step, capture.step);
  EXPECT_THAT(capture.dropped, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Rules, SickNetwork, testing::ValuesIn(sick_networks()),
                         [](const auto& sick) { return sick.param.rule + "_" + sick.param.name; });

TEST(SickNetworks, ThereIsOneForEveryRule) {
  std::set<std::string> shown;
  for (const Sick& sick : sick_networks()) shown.insert(sick.rule);
  EXPECT_THAT(shown, UnorderedElementsAreArray(all_rules()));
}

// ---- Nothing goes wrong.

struct Healthy {
  std::string name;
  std::uint64_t seed = 1;
  std::function<Layers(std::uint64_t seed)> layers;
};
std::ostream& operator<<(std::ostream& out, const Healthy& healthy) { return out << healthy.name; }

class HealthyNetwork : public testing::TestWithParam<Healthy> {};

TEST_P(HealthyNetwork, SetsOffNoRuleInAWholeTraining) {
  const Healthy& healthy = GetParam();
  const Training training{.layers = [&] { return healthy.layers(healthy.seed); }, .seed = healthy.seed};
  for (const sonde::CaptureInfo& capture : captures_of(training, policy_of(all_rules()))) {
    std::string values;
    for (const auto& [part, value] : capture.values) values += "\n  " + part + " = " + std::to_string(value);
    ADD_FAILURE() << capture.reason << " fired at step " << capture.step << ": " << capture.when << values;
  }
}

std::vector<Healthy> healthy_networks() {
  std::vector<Healthy> healthy{{"Convolutional", 1, digit_layers}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto add = [&](const char* name, const MakeActivation& activation, int depth) {
      healthy.push_back(
          {name + std::to_string(seed), seed, [=](std::uint64_t s) { return dense_layers(activation, s, depth); }});
    };
    add("Relu", relu, 2);
    add("Tanh", tanh, 2);
    add("Sigmoid", sigmoid, 2);
    add("DeepRelu", relu, 6);
    add("DeepTanh", tanh, 6);
  }
  return healthy;
}

INSTANTIATE_TEST_SUITE_P(Rules, HealthyNetwork, testing::ValuesIn(healthy_networks()),
                         [](const auto& healthy) { return healthy.param.name; });

}  // namespace
}  // namespace digits
