// The distribution of a layer's weights at every step of training.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/000_2/train"));

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(32, 16);
  const seeds::Tensor& weights = seeds::layer(network, "dense_1").parameters.front().value;

  for (std::int64_t n = 0; n < 100; ++n) {
    rec.scalar("loss", seeds::train(network, batches.next()).loss, n);
    rec.histogram("weights", seeds::view(weights), n);
  }
}
