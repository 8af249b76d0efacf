// Every layer is a probe, and a policy chooses some of them by name: no index goes wrong when a layer is added.
#include "seeds/task.h"

int main(int count, char** arguments) {
  const std::string names = count > 2 ? arguments[2] : "relu_.*";
  sonde::Policy policy;
  policy.watches.push_back({.tensors = names, .record = sonde::Keep::whole | sonde::Keep::print});
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/004_3"), {.policy = policy});

  const digits::Split data = digits::load();
  const std::vector<std::size_t> first = {0};
  const seeds::Dataset one = digits::pick(data.test, first);
  seeds::Network network = seeds::dense_network(10, 15);
  network.forward(one.images, one.labels);

  const sonde::Step pass = rec.pass(0);
  for (const auto& layer : network.layers()) {
    const sonde::Probe probe = rec.probe(layer->name);
    if (probe.wanted(pass)) probe.record(pass, seeds::view(layer->output));
  }
}
