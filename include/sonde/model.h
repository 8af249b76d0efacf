// Saved models: the outputs of any of their layers, without changing them.
//
//   auto model = sonde::Model::open("model.onnx");
//   if (!model) { std::cerr << model.error().message() << '\n'; return 1; }
//   for (const sonde::ModelLayer& layer : model->layers()) std::cout << layer.index << ' ' << layer.name << '\n';
//
//   auto outputs = model->run({{"x", sonde::view(pixels, {1, 8, 8, 1})}}, {.names = {"dense_.*"}});
//   for (const sonde::NamedTensor& each : *outputs) std::cout << sonde::show(each.name, each.tensor.view())->line <<
//   '\n';
//
// Reads ONNX (.onnx) and OpenVINO IR (.xml) and runs them with OpenVINO, in f32. Names and layouts are those of the
// file. OpenVINO is loaded by `open`; where it is missing, the error says how to get it. The calls throw nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/tensor.h"
#include "sonde/tensor_io.h"

namespace sonde {

// An input or output of a model, as its file declares it.
struct ModelValue {
  std::string name;
  std::string type;  // "f32"; also of types that Sonde does not have, as "string"; empty: the file does not say
  std::optional<Shape> shape;  // -1 is a size that the input decides; none: the file does not say
};

// The output of one operation.
struct ModelLayer {
  std::int64_t index = 0;
  std::string name;
  std::string type;
  std::optional<Shape> shape;
  std::string node;             // the operation's name; may be empty
  std::string op;               // "Conv"
  std::int64_t parameters = 0;  // trained values that the operation reads
};

// Which layers; those that any of the lists selects. All lists empty: all layers.
struct LayerSelection {
  std::vector<std::string> names = {};     // exact names, or regular expressions (RE2) that match all of a name
  std::vector<std::int64_t> indices = {};  // negative ones count from the end
  std::vector<std::string> ops = {};       // types of operations
};

namespace inspect {
class OpenModel;
}  // namespace inspect

// A handle: copies share the model. Calls of all copies must come from one thread at a time.
class Model {
 public:
  // "model.onnx", or "model.onnx@RUNTIME".
  SONDE_API static Result<Model> open(std::string_view name);

  SONDE_API const std::string& path() const noexcept;
  SONDE_API const std::vector<ModelValue>& inputs() const noexcept;
  SONDE_API const std::vector<ModelValue>& outputs() const noexcept;
  SONDE_API const std::vector<ModelLayer>& layers() const noexcept;  // in order of execution
  // Who computes: "openvino 2026.4.1, executed in f32".
  SONDE_API const std::string& runtime() const noexcept;

  // One pass: copies of the selected layers' outputs, in order of execution. A model with one input takes one of any
  // name. Fails if an input does not fit, with what is expected, or if a selected layer does not exist in the runtime.
  SONDE_API Result<std::vector<NamedTensor>> run(const std::vector<NamedView>& inputs, const LayerSelection& selection);
  // The model's own outputs.
  SONDE_API Result<std::vector<NamedTensor>> run(const std::vector<NamedView>& inputs);

  // Writes a copy of an ONNX model whose outputs are these layers: an inspection model for any other program.
  SONDE_API Status save(std::string_view path, const LayerSelection& selection) const;

 private:
  explicit Model(std::shared_ptr<inspect::OpenModel> opened) noexcept;
  std::shared_ptr<inspect::OpenModel> opened_;
};

}  // namespace sonde
