// Prints tensors as numpy_style does. Reads from standard input, any number of times: a line "dtype threshold rank
// size..." and the raw elements, dense and row-major; answers each with the length of the text in a line, and the text.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "render/array.h"
#include "tensor/copy.h"

namespace {

bool parse_dtype(const std::string& name, sonde::DType& dtype) {
  for (int i = 0; i < sonde::kDTypeCount; ++i) {
    dtype = static_cast<sonde::DType>(i);
    if (sonde::to_string(dtype) == name) return true;
  }
  return false;
}

}  // namespace

int main() {
  std::string name;
  sonde::render::ArrayOptions options;
  int rank = 0;
  while (std::cin >> name >> options.threshold >> rank) {
    sonde::DType dtype{};
    if (!parse_dtype(name, dtype)) return 1;
    sonde::Shape shape;
    for (int i = 0; i < rank; ++i) {
      std::int64_t size = 0;
      std::cin >> size;
      shape.push_back(size);
    }
    std::string end_of_line;
    std::getline(std::cin, end_of_line);
    sonde::TensorView view = sonde::view(nullptr, dtype, shape);
    std::vector<char> bytes(sonde::tensor::byte_size(view) + 1);
    std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size() - 1));
    if (!std::cin) return 1;
    view.data = bytes.data();
    const std::string text = sonde::render::numpy_style(view, options);
    std::cout << text.size() << '\n' << text;
  }
  return std::cin.eof() ? 0 : 1;
}
