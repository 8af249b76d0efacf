// An intermediate tensor as a .npy file every 100 steps: tensors/<step>.<writer>/activation/relu_2/out.npy. Another
// thread writes the files while the network trains.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/001_2"));
  const sonde::Probe intermediate = rec.probe("relu_2/out", {.keep = sonde::Keep::npy, .every = 100});

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(32, 16);

  for (std::int64_t n = 0; n < 301; ++n) {
    const sonde::Step step = rec.step(n);
    seeds::train(network, batches.next());
    if (intermediate.wanted(step)) intermediate.record(step, seeds::view(seeds::layer(network, "relu_2").output));
  }
}
