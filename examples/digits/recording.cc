#include "digits/recording.h"

#include <cmath>

namespace digits {
namespace {

constexpr std::size_t kMostShown = 64;    // digits that were misread
constexpr std::int64_t kProbeEvery = 20;  // steps: in 1,000, the 50 histograms of a tag that TensorBoard shows
constexpr std::uint64_t kRingBytes = std::uint64_t{32} << 20;  // some 40 steps of 0.8 MB

// Sonde accepts any memory as a tensor; this is all it needs to know about our own type.
sonde::TensorView view(const Tensor& tensor) {
  sonde::Shape shape;
  for (std::size_t size : tensor.shape) shape.push_back(static_cast<std::int64_t>(size));
  return sonde::view(tensor.values, shape);
}

sonde::Shape any_batch_of(const Tensor& tensor) {
  sonde::Shape shape = view(tensor).shape;
  shape[0] = -1;
  return shape;
}

// A group for each layer, with its parameters and outputs.
sonde::Graph graph_of(const Network& network) {
  sonde::Graph graph;
  graph.add({.name = "input", .op = "Placeholder", .shapes = {any_batch_of(network.input())}});
  graph.add({.name = "labels", .op = "Placeholder", .shapes = {{-1}}, .dtype = sonde::DType::u8});
  std::string previous = "input";
  for (const auto& layer : network.layers()) {
    sonde::Node node{.name = layer->name + "/out", .op = layer->op, .inputs = {previous}};
    node.shapes = {any_batch_of(layer->output)};
    for (const Parameter& parameter : layer->parameters) {
      graph.add({.name = parameter.name, .op = "Variable", .shapes = {view(parameter.value).shape}});
      node.inputs.push_back(parameter.name);
    }
    previous = node.name;
    graph.add(std::move(node));
  }
  graph.add({.name = "loss", .op = "SoftmaxCrossEntropy", .inputs = {previous, "labels"}, .shapes = {sonde::Shape{}}});
  return graph;
}

std::vector<std::string> with_weights(std::vector<std::string> inputs, const Layer& layer) {
  for (const Parameter& parameter : layer.parameters) inputs.push_back("weight/" + parameter.name);
  return inputs;
}

}  // namespace

sonde::Policy train_policy() {
  sonde::Policy policy;
  for (const char* rule : {"nonfinite", "exploding_gradient", "dead_relu"}) {
    policy.triggers.push_back({.rule = rule, .before = 5, .rearm = sonde::Rearm::never});
  }
  policy.flight.use = sonde::FlightPolicy::Use::on;
  policy.flight.bytes = kRingBytes;
  return policy;
}

void Probes::add(const std::string& name, sonde::Kind kind, std::vector<std::string> inputs, const Tensor& tensor) {
  const sonde::ProbeOptions options{.kind = kind, .inputs = std::move(inputs), .every = every_};
  probes_.push_back({recorder_.probe(name, options), &tensor});
}

void Probes::record(const sonde::Step& step) const {
  for (const auto& [probe, tensor] : probes_) {
    if (probe.wanted(step)) probe.record(step, sonde::frozen(view(*tensor), tensor->values.lend()));
  }
}

TrainRun::TrainRun(sonde::Recorder& recorder, const Network& network)
    : recorder_(recorder),
      network_(network),
      loss_(recorder.series("loss")),
      accuracy_(recorder.series("accuracy")),
      learning_rate_(recorder.series("optimizer/learning_rate")),
      forward_(recorder, kProbeEvery),
      backward_(recorder, kProbeEvery),
      learning_(recorder, kProbeEvery) {
  // In the order of execution: the first tensors of a step cannot depend on those recorded later.
  add_forward();
  add_backward();
  add_learning();
}

void TrainRun::add_forward() {
  forward_.add("input", sonde::Kind::input, {}, network_.input());
  std::string previous = "input/input";
  for (const auto& layer : network_.layers()) {
    forward_.add(layer->name + "/out", sonde::Kind::activation, with_weights({previous}, *layer), layer->output);
    previous = "activation/" + layer->name + "/out";
  }
  forward_.add("probabilities", sonde::Kind::output, {previous}, network_.probabilities());
}

void TrainRun::add_backward() {
  const Layers& layers = network_.layers();
  std::vector<std::string> from{"output/probabilities"};
  for (std::size_t i = layers.size(); i-- > 0;) {
    const std::string out = layers[i]->name + "/out";
    backward_.add(out, sonde::Kind::gradient, std::move(from), layers[i]->gradient);
    const std::string input = i > 0 ? "activation/" + layers[i - 1]->name + "/out" : "input/input";
    for (const Parameter& parameter : layers[i]->parameters) {
      backward_.add(parameter.name, sonde::Kind::gradient, {"gradient/" + out, input}, parameter.gradient);
    }
    from = with_weights({"gradient/" + out, input}, *layers[i]);
  }
  backward_.add("input", sonde::Kind::gradient, std::move(from), network_.input_gradient());
}

void TrainRun::add_learning() {
  for (const auto& layer : network_.layers()) {
    for (const Parameter& parameter : layer->parameters) {
      const std::string& name = parameter.name;
      learning_.add(name, sonde::Kind::update, {"gradient/" + name}, parameter.update);
      learning_.add(name, sonde::Kind::weight, {"weight/" + name, "update/" + name}, parameter.value);
    }
  }
}

void TrainRun::describe(const std::string& note, const sonde::HParams& hparams) {
  recorder_.hparams(hparams);
  recorder_.text("about", note, 0);
  recorder_.graph(graph_of(network_));
  recorder_.custom_scalars({{.title = "Learning",
                             .charts = {{.title = "loss", .tags = {"loss"}},
                                        {.title = "accuracy", .tags = {"accuracy"}},
                                        {.title = "learning rate", .tags = {"optimizer/learning_rate"}}}}});
}

void TrainRun::forward(const sonde::Step& step, const Score& score) {
  loss_.record(score.loss, step.number());
  accuracy_.record(score.accuracy, step.number());
  forward_.record(step);
}

void TrainRun::backward(const sonde::Step& step) { backward_.record(step); }

void TrainRun::learning(const sonde::Step& step, double rate) {
  learning_rate_.record(rate, step.number());
  learning_.record(step);
}

TestRun::TestRun(sonde::Recorder& recorder, const Network& network, const Dataset& digits)
    : recorder_(recorder), network_(network), digits_(digits), probes_(recorder, 1) {
  std::string previous = "input";
  for (const auto& layer : network.layers()) {
    const std::string out = layer->name + "/out";
    probes_.add(out, sonde::Kind::activation, {previous}, layer->output);
    previous = out;
  }
}

void TestRun::describe(const sonde::HParams& hparams) { recorder_.hparams(hparams); }

void TestRun::record(std::int64_t n, const Score& score) {
  const sonde::Step step = recorder_.step(n);
  sonde::Group group = recorder_.group(n);  // several values, one record
  group.scalar("loss", score.loss);
  group.scalar("accuracy", score.accuracy);
  group.end();
  probes_.record(step);
}

void TestRun::draw_features(std::int64_t n) {
  // Its features for the first digit, one cell per channel. A view can be a part of a tensor: here one of many.
  recorder_.image("features/input", sonde::view(digits_.images.values.data(), {8, 8}), n, sonde::Layout::HW);
  for (const auto& layer : network_.layers()) {
    if (layer->output.shape.size() != 4) continue;
    sonde::TensorView first = view(layer->output);
    first.shape[0] = 1;
    recorder_.image("features/" + layer->name, first, n, sonde::Layout::NHWC);
    if (layer->op != "Conv2D") continue;
    // The filters that the network looks through: blue takes away, red adds.
    const Tensor& kernel = layer->parameters.front().value;
    recorder_.image("features/kernels", sonde::view(kernel.values, {3, 3, 16}), n, sonde::Layout::HWC);
  }
}

void TestRun::draw_errors(std::int64_t n) {
  const Tensor& probabilities = network_.probabilities();
  const Labels read = largest(probabilities);
  std::vector<std::uint8_t> truth(probabilities.size());  // like the probabilities, but certain and right
  std::vector<float> confusion(10 * 10);                  // rows: the true digit; columns: the predicted one
  std::vector<std::size_t> misread;
  std::string list = "| digit | read as |\n|---|---|\n";
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::size_t digit = digits_.labels[i];
    truth[10 * i + digit] = 1;
    ++confusion[10 * digit + read[i]];
    if (read[i] == digit || misread.size() == kMostShown) continue;
    misread.push_back(i);
    list += "| " + std::to_string(digit) + " | " + std::to_string(read[i]) + " |\n";
  }
  // Logarithms, so that a single mistake can be seen beside many right answers.
  for (float& count : confusion) count = std::log1p(count);
  recorder_.image("errors/confusion", sonde::view(confusion, {10, 10}), n, sonde::Layout::HW,
                  {.colors = sonde::ColorMap::viridis});
  recorder_.pr_curve("all_digits", sonde::view(truth), sonde::view(probabilities.values), n);
  if (misread.empty()) return;
  recorder_.image("errors/misread", view(pick(digits_, misread).images), n, sonde::Layout::NHWC);
  recorder_.text("errors/list", list, n);
}

void TestRun::print(std::int64_t n) {
  for (const auto& layer : network_.layers()) recorder_.print(layer->name + "/out", view(layer->output), n);
}

}  // namespace digits
