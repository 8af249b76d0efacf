// Layers that are too wide to look at value by value: the distribution of each, once an epoch.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/002_3"));

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(128, 256);

  for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
    for (int n = 0; n < 45; ++n) seeds::train(network, batches.next());
    network.forward(data.test.images, data.test.labels);
    for (const char* name : {"relu_1", "relu_2"}) {
      rec.histogram(name, seeds::view(seeds::layer(network, name).output), epoch);
    }
  }
}
