// Saves tensors for NumPy and PyTorch, and looks into a file without reading all of it.
#include <sonde/tensor_io.h>

#include <iostream>
#include <vector>

int main() {
  const std::vector<float> kernel = {1, 2, 3, 4, 5, 6}, bias = {0.5f, -0.5f, 0};
  const sonde::Status saved = sonde::save_safetensors(
      "model.safetensors", {{"dense/kernel", sonde::view(kernel, {2, 3})}, {"dense/bias", sonde::view(bias)}},
      {{"epoch", "3"}});
  // A column of the kernel: strides, in elements, are followed.
  const sonde::Status column = sonde::save_npy("column.npy", sonde::view(kernel.data(), {2}, {3}));
  for (const sonde::Status& status : {saved, column}) {
    if (!status) {
      std::cerr << status.message() << '\n';
      return 1;
    }
  }

  auto file = sonde::TensorFile::open("model.safetensors");  // npy, npz or safetensors; mapped, not read
  if (!file) {
    std::cerr << file.error().message() << '\n';
    return 1;
  }
  for (const auto& [key, value] : file->metadata()) std::cout << key << ": " << value << '\n';
  for (const std::string& name : file->names()) {
    const auto info = file->info(name);  // from the header
    std::cout << name << ": " << to_string(info->dtype) << ", " << element_count(info->shape) << " elements\n";
  }
  auto first_column = sonde::load_npy("column.npy");  // a copy
  if (!first_column) {
    std::cerr << first_column.error().message() << '\n';
    return 1;
  }
  const auto* values = reinterpret_cast<const float*>(first_column->data.data());
  std::cout << "the first column: " << values[0] << ", " << values[1] << '\n';
}
