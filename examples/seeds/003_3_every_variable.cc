// A training loop of one's own: the loss, and the distribution of everything that the network learns, at every step.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/003_3/train"));

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 10, 1);
  seeds::Network network = seeds::dense_network(64, 16);

  for (std::int64_t n = 0; n < 100; ++n) {
    const seeds::Score score = seeds::train(network, batches.next());
    rec.scalar("loss", score.loss, n);
    for (const auto& layer : network.layers()) {
      for (const auto& variable : layer->parameters) rec.histogram(variable.name, seeds::view(variable.value), n);
    }
  }
}
