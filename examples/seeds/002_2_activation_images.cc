// What every layer of a convolutional network makes of one digit, as pictures, once an epoch.
#include "seeds/task.h"

int main(int count, char** arguments) {
  sonde::Recorder rec = seeds::open(seeds::directory(count, arguments, "logs/002_2"));

  const digits::Split data = digits::load();
  seeds::Batches batches(data.train, 32, 1);
  seeds::Network network(1);  // conv_1, relu_1, pool_1, dense_1, relu_2, dense_2
  const std::vector<std::size_t> first = {0};
  const seeds::Dataset one = digits::pick(data.test, first);

  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int n = 0; n < 45; ++n) seeds::train(network, batches.next());
    network.forward(one.images, one.labels);
    for (const auto& layer : network.layers()) {
      const sonde::TensorView out = seeds::view(layer->output);
      // A picture for each channel of [1, height, width, channels]; a dense layer, [1, n], is one row of pixels.
      rec.image(layer->name, out, epoch, layer->output.shape.size() == 4 ? sonde::Layout::NHWC : sonde::Layout::HW,
                {.colors = sonde::ColorMap::viridis});
    }
  }
}
