// The outputs of several layers for one input, whole, in one file: `sonde show FILE` prints them, and NumPy, PyTorch
// and TensorFlow read it.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/004_2"));
  const digits::Split data = digits::load();
  const std::vector<std::size_t> first = {0};
  const seeds::Dataset one = digits::pick(data.test, first);
  seeds::Network network = seeds::dense_network(10, 15);
  network.forward(one.images, one.labels);

  const sonde::Step pass = rec.pass(0);
  for (const std::size_t index : {std::size_t{1}, std::size_t{3}}) {
    const digits::Layer& layer = *network.layers()[index];
    rec.probe(layer.name, {.keep = sonde::Keep::whole}).record(pass, seeds::view(layer.output));
    rec.print(layer.name, seeds::view(layer.output), 0);
  }
  rec.probe("output", {.kind = sonde::Kind::output, .keep = sonde::Keep::whole})
      .record(pass, seeds::view(network.probabilities()));
  rec.print("output", seeds::view(network.probabilities()), 0);
}
