// Layers by name, by pattern, by index and by operation. The second argument is a name or a pattern; without one, every
// layer is listed.
#include "seeds/saved_model.h"

int main(int count, char** arguments) {
  sonde::Model model = seeds::open_model("digits");
  sonde::LayerSelection layers = {.indices = {0, -1}, .ops = {"Relu"}};
  if (count > 2) layers = {.names = {arguments[2]}};
  if (count <= 2) {
    for (const sonde::ModelLayer& layer : model.layers()) {
      std::cout << layer.index << ' ' << layer.name << ' ' << layer.op << ' ' << layer.parameters << " parameters\n";
    }
  }
  const seeds::Tensor digit = seeds::held_out_digits(1);
  const auto outputs = model.run({{"x", seeds::view(digit)}}, layers);
  if (!outputs) return seeds::failed(outputs.error());
  for (const sonde::NamedTensor& each : *outputs) std::cout << sonde::show(each.name, each.tensor.view())->line << '\n';
}
