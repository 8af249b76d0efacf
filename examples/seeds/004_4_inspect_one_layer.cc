// The output of one layer of a saved model, beside that of the model: no new model is built for it.
#include "seeds/saved_model.h"

int main() {
  sonde::Model model = seeds::open_model("digits");
  const seeds::Tensor digit = seeds::held_out_digits(1);
  const auto outputs = model.run({{"x", seeds::view(digit)}}, {.names = {"relu_1", "output"}});
  if (!outputs) return seeds::failed(outputs.error());
  for (const sonde::NamedTensor& each : *outputs) {
    std::cout << sonde::show(each.name, each.tensor.view())->line << '\n'
              << *sonde::values_text(each.tensor.view()) << '\n';
  }
}
