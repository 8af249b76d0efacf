// A trained model in a file cleans noisy digits that it has never seen: its outputs go into outputs.npy, and each of
// them into a picture, prediction_0.png and so on.
#include "seeds/saved_model.h"

int main(int count, char** arguments) {
  const std::string folder = seeds::directory(count, arguments, "logs/003_4");
  sonde::Model model = seeds::open_model("clean");
  const seeds::Tensor noisy = seeds::noisy_digits(10);
  const auto outputs = model.run({{"x", sonde::view(noisy.values, {10, 1, 8, 8})}});
  if (!outputs) return seeds::failed(outputs.error());
  const sonde::TensorView predictions = outputs->front().tensor.view();

  std::filesystem::create_directories(folder);
  sonde::Status status = sonde::save_npy(folder + "/outputs.npy", predictions);
  const auto* values = static_cast<const float*>(predictions.data);
  for (int i = 0; i < 10 && status; ++i) {
    status = sonde::save_picture(folder + "/prediction_" + std::to_string(i) + ".png",
                                 sonde::view(values + 64 * i, {8, 8}), {.low = 0, .high = 1});
  }
  if (!status) return seeds::failed(status);
  std::cout << model.runtime() << '\n' << sonde::show("outputs", predictions)->line << '\n';
}
