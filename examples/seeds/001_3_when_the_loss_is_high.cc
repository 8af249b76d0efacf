// Activations only of steps whose loss exceeds a threshold. The loss is known last, and decides over tensors that were
// recorded before it in the same step.
#include "seeds/task.h"

int main(int count, char** arguments) {
  const sonde::Policy policy = seeds::policy(R"(
      [[watch]]
      tensors = "relu_1/out"
      when    = "loss > 1.0"
      record  = "histogram"
  )");
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/001_3"), {.policy = policy});
  const sonde::Probe activation = rec.probe("relu_1/out");

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network = seeds::dense_network(32, 16);

  for (std::int64_t n = 0; n < 200; ++n) {
    const sonde::Step step = rec.step(n);
    const seeds::Score score = seeds::train(network, batches.next());
    activation.record(step, seeds::view(seeds::layer(network, "relu_1").output));
    rec.scalar("loss", score.loss, n);
  }
}
