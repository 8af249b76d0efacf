// A network is trained and saved, and loaded again as another program would do it; what it makes of held-out digits
// goes into outputs.npy, and every output into a picture of the log.
#include "seeds/task.h"

namespace {

std::vector<sonde::NamedView> parameters(const seeds::Network& network) {
  std::vector<sonde::NamedView> named;
  for (const auto& layer : network.layers()) {
    for (const auto& parameter : layer->parameters) named.push_back({parameter.name, seeds::view(parameter.value)});
  }
  return named;
}

sonde::Status train_and_save(const std::string& run, const digits::Split& data) {
  seeds::Network network = seeds::dense_network(32, 16);
  seeds::Batches batches(data.train, 32, 1);
  for (int n = 0; n < 300; ++n) seeds::train(network, batches.next());
  return sonde::save_checkpoint(run, "model", 300, parameters(network));
}

// Puts the saved values into a network of the same shape.
sonde::Status load_into(const std::string& run, seeds::Network& network) {
  const auto saved = sonde::load_checkpoint(run, 300);
  if (!saved) return saved.error();
  for (const sonde::NamedTensor& tensor : saved->tensors) {
    const auto* values = reinterpret_cast<const float*>(tensor.tensor.data.data());
    for (const auto& layer : network.layers()) {
      for (auto& parameter : layer->parameters) {
        if (parameter.name == tensor.name) std::copy_n(values, parameter.value.size(), parameter.value.values.begin());
      }
    }
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  const std::string run = seeds::directory(count, arguments, "logs/003_2");
  sonde::Recorder rec = seeds::open(run);
  const digits::Split data = digits::load();
  seeds::Network network = seeds::dense_network(32, 16);
  sonde::Status status = train_and_save(run, data);
  if (status) status = load_into(run, network);

  const seeds::Score score = network.forward(data.test.images, data.test.labels);
  const sonde::TensorView outputs = seeds::view(network.probabilities());
  if (status) status = sonde::save_npy(run + "/outputs.npy", outputs);
  if (!status) {
    std::cerr << status.message() << '\n';
    return 1;
  }
  for (std::size_t i = 0; i < 10; ++i) {  // the first ten: one row of ten pixels each
    rec.image("outputs", sonde::view(network.probabilities().values.data() + 10 * i, {1, 10}),
              static_cast<std::int64_t>(i), sonde::Layout::HW);
  }
  std::cout << "accuracy of the loaded network: " << score.accuracy << '\n';
}
