// The distribution of what a layer puts out, at every step of training. A probe names the place once; without a policy
// it records statistics and a histogram whenever it is given the tensor.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/000_3/train"));
  const sonde::Probe activation = rec.probe("relu_1/out");

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(32, 16);

  for (std::int64_t n = 0; n < 100; ++n) {
    const sonde::Step step = rec.step(n);
    rec.scalar("loss", seeds::train(network, batches.next()).loss, n);
    activation.record(step, seeds::view(seeds::layer(network, "relu_1").output));
  }
}
