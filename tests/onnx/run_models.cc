// Runs many models through sonde::inspect in one process, for tests/onnx. Each line of standard input is
// MODEL<tab>INPUTS<tab>LAYERS<tab>OUTPUTS: a model, a file with its inputs, a file for all of its layers (or "-") and a
// file for its outputs. Answers with one line: "ok<tab>RUNTIME" or "error<tab>SENTENCE".
#include <cstdio>
#include <deque>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "inspect/runtime.h"
#include "sonde/tensor_io.h"
#include "tensor/tensor_data.h"

namespace {

using namespace sonde;

struct Line {
  std::string model, inputs, layers, outputs;
};

class Runner {
 public:
  Result<std::string> run(const Line& line) {
    auto opened = inspect::open_model(inspect::parse_model_name(line.model));
    if (!opened) return opened.error();
    std::unique_ptr<inspect::Runtime> runtime = *std::move(opened);
    if (line.layers != "-") {
      std::vector<std::int64_t> all(runtime->description().layers.size());
      std::iota(all.begin(), all.end(), 0);
      if (Status selected = runtime->select(all); !selected) return selected;
    }
    std::vector<NamedTensor> inputs;
    if (line.inputs != "-") {
      auto file = load_safetensors(line.inputs);
      if (!file) return file.error();
      inputs = std::move(file->tensors);
    }
    std::vector<NamedView> views;
    for (const NamedTensor& input : inputs) views.push_back(input.view());
    std::deque<NamedTensor> layers;
    std::deque<NamedTensor> outputs;
    const Status ran = runtime->run(
        views,
        [&](const inspect::Output& output) {
          if (output.tensor) layers.push_back({output.layer->value.name, tensor::to_tensor(*output.tensor)});
          return Status::success();
        },
        [&](std::string_view name, const TensorView& output) {
          outputs.push_back({std::string(name), tensor::to_tensor(output)});
          return Status::success();
        });
    if (!ran) return ran;
    if (line.layers != "-") {
      if (Status saved = save(line.layers, layers); !saved) return saved;
    }
    if (Status saved = save(line.outputs, outputs); !saved) return saved;
    std::string name = runtime->info().name;
    // A worker process lives as long as one of its models: so the next model finds it running.
    if (!runtime->info().interpreter.empty()) kept_ = std::move(runtime);
    return name;
  }

 private:
  static Status save(const std::string& path, const std::deque<NamedTensor>& tensors) {
    std::vector<NamedView> views;
    for (const NamedTensor& tensor : tensors) views.push_back(tensor.view());
    return save_safetensors(path, views);
  }
  std::unique_ptr<inspect::Runtime> kept_;
};

}  // namespace

int main() {
  Runner runner;
  Line line;
  while (std::getline(std::cin, line.model, '\t') && std::getline(std::cin, line.inputs, '\t') &&
         std::getline(std::cin, line.layers, '\t') && std::getline(std::cin, line.outputs)) {
    const auto ran = runner.run(line);
    const std::string answer = ran ? "ok\t" + *ran : "error\t" + ran.error().message();
    std::printf("%s\n", answer.c_str());
    std::fflush(stdout);
  }
  return 0;
}
