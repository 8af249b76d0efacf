// A random sample of ten held-out digits every second epoch: the true label and the ten outputs, printed and appended
// to tables/validation.<writer>.csv.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/003_1"));

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(32, 16);

  for (std::int64_t epoch = 0; epoch < 6; ++epoch) {
    for (int n = 0; n < 45; ++n) seeds::train(network, batches.next());
    if (epoch % 2 != 0) continue;
    network.forward(data.test.images, data.test.labels);
    rec.table("validation",
              {{"label", sonde::view(data.test.labels)}, {"output", seeds::view(network.probabilities())}}, epoch,
              {.sample = {.rows = 10, .random = true}, .print = true});
  }
}
