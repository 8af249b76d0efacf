// Activations every 100 steps, the loss at every step. The policy says how often: it may as well be a file, and
// `sonde policy` changes it while the program runs.
#include "seeds/task.h"

int main(int count, char** arguments) {
  const sonde::Policy policy = seeds::policy(R"(
      [[watch]]
      tensors = "relu_1/out"
      every   = 100
      record  = "histogram"
  )");
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/001_1"), {.policy = policy});
  const sonde::Probe activation = rec.probe("relu_1/out");

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(64, 128);

  for (std::int64_t n = 0; n < 501; ++n) {
    const sonde::Step step = rec.step(n);
    rec.scalar("loss", seeds::train(network, batches.next()).loss, n);
    if (activation.wanted(step)) activation.record(step, seeds::view(seeds::layer(network, "relu_1").output));
  }
}
