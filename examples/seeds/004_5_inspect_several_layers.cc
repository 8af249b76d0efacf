// The outputs of several layers of a saved model in one file; and an inspection model, which any other program can run:
// a copy of the model whose outputs are these layers.
#include "seeds/saved_model.h"

int main(int count, char** arguments) {
  const std::string folder = seeds::directory(count, arguments, "logs/004_5");
  std::filesystem::create_directories(folder);
  sonde::Model model = seeds::open_model("digits");
  const sonde::LayerSelection layers = {.names = {"relu_.*", "output"}};
  const seeds::Tensor digits = seeds::held_out_digits(4);
  const auto outputs = model.run({{"x", seeds::view(digits)}}, layers);
  if (!outputs) return seeds::failed(outputs.error());

  std::vector<sonde::NamedView> tensors;
  for (const sonde::NamedTensor& each : *outputs) {
    std::cout << sonde::show(each.name, each.tensor.view())->line << '\n';
    tensors.push_back(each.view());
  }
  sonde::Status status = sonde::save_safetensors(folder + "/layers.safetensors", tensors);
  if (status) status = model.save(folder + "/inspection.onnx", layers);
  return status ? 0 : seeds::failed(status);
}
