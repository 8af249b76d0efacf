// The output of one layer beside that of the network, for one input. A layer of one's own network keeps its output, so
// nothing has to be built around it.
#include "seeds/task.h"

int main() {
  const digits::Split data = digits::load();
  const std::vector<std::size_t> first = {0};
  const seeds::Dataset one = digits::pick(data.test, first);
  seeds::Network network = seeds::dense_network(10, 5);
  network.forward(one.images, one.labels);

  const sonde::TensorView intermediate = seeds::view(network.layers()[1]->output);
  std::cout << sonde::show("relu_1", intermediate)->line << '\n' << *sonde::values_text(intermediate) << '\n';
  std::cout << sonde::show("output", seeds::view(network.probabilities()))->line << '\n';
}
