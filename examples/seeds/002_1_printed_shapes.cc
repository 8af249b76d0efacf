// The shape of the input and of what every layer makes of it, on the console, with the range and the distribution of
// the values beside it. No log is written.
#include "seeds/task.h"

int main() {
  const digits::Split data = digits::load();
  seeds::Network network = seeds::dense_network(64, 16);
  network.forward(data.test.images, data.test.labels);

  std::cout << sonde::show("input", seeds::view(network.input()))->line << '\n';
  for (const auto& layer : network.layers()) {
    std::cout << sonde::show(layer->name, seeds::view(layer->output))->line << '\n';
  }
}
