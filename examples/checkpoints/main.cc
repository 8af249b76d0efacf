// Saves checkpoints of a training, keeping the last two and the best, and continues from the best one.
#include <sonde/checkpoint.h>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
  std::vector<float> weights = {1, 2, 3, 4};
  for (int step = 0; step <= 50; step += 10) {
    for (float& weight : weights) weight += 0.1f;
    const double loss = std::abs(step - 20) + 1.0;  // the best is at step 20
    // On disk, whatever happens to the machine, when this returns; if it fails, an existing one is unchanged.
    const sonde::Status saved = sonde::save_checkpoint("run", "model", step, {{"weights", sonde::view(weights)}},
                                                       {.keep_last = 2, .keep_best = 1, .metric = loss});
    if (!saved) {
      std::cerr << saved.message() << '\n';
      return 1;
    }
  }

  const auto list = sonde::list_checkpoints("run");  // only the heads of the files are read
  if (!list) {
    std::cerr << list.error().message() << '\n';
    return 1;
  }
  const sonde::CheckpointInfo* best = nullptr;
  for (const sonde::CheckpointInfo& one : list->checkpoints) {
    std::cout << one.name << " at step " << one.step << ": loss " << one.metric << '\n';
    if (best == nullptr || one.metric < best->metric) best = &one;
  }
  const auto loaded = sonde::load_checkpoint("run", best->step, best->name);
  if (!loaded) {
    std::cerr << loaded.error().message() << '\n';
    return 1;
  }
  std::cout << "going on from step " << best->step << " with " << loaded->tensors.size() << " tensor\n";
}
