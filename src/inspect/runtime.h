// A saved model in a runtime: its layers, and their outputs for some input.
//
// A runtime is OpenVINO, in a library of its own that is loaded when it is needed, or a worker process of the Python
// package (onnxruntime, TensorFlow, Keras, torch). Both implement this interface; commands know nothing else of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/status.h"
#include "sonde/tensor.h"
#include "sonde/tensor_io.h"

namespace sonde::inspect {

// A tensor of a model as the model's file declares it.
struct Value {
  std::string name;            // the model's own
  std::string type;            // to_string of its DType, or the name of a type that has none: "string", "i4"
  std::optional<DType> dtype;  // none: Sonde has no such type, and the value cannot be given
  std::optional<Shape> shape;  // -1 is a dimension that the input decides; none: not even the rank is known
};

// How integers of a quantised tensor stand for real numbers: (integer - zero_point) * scale.
struct Quantization {
  std::vector<double> scales;  // one, or one for each index of `axis`
  std::vector<std::int64_t> zero_points;
  int axis = -1;  // -1: the same for the whole tensor
};

// One output of one operation. An operation with several outputs is several layers.
struct Layer {
  std::int64_t index = 0;  // its place in Description::layers
  Value value;
  std::string node;                 // the operation's name in the file; may be empty
  std::string op;                   // its type: "Conv", "MatMul"
  std::int64_t parameters = 0;      // trained values that the operation itself reads
  std::vector<std::string> inputs;  // names of the values that it reads: layers, inputs of the model, constants
  std::string scope;                // path of its module, if the exporter wrote one: "encoder.layers.0.attention"
  std::optional<Quantization> quantization;
};

// What the file says, without running it.
struct Description {
  std::string path;
  std::string format;  // "onnx", "saved_model", "frozen_graph", "tflite", "openvino", "keras", "torch_export"
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Layer> layers;  // in order of execution
};

// Who computed the numbers.
struct RuntimeInfo {
  std::string name;  // "openvino", "onnxruntime", "tensorflow", "keras", "torch"
  std::string version;
  std::string precision;    // executed: "f32"
  std::string interpreter;  // path of the Python that runs the worker; empty if there is none
  std::string settings;     // what else may decide the numbers: "graph optimisation: all"; may be empty
  std::string note;         // why this runtime and no other, if it was not the first choice; may be empty
};

// The output of a selected layer in one run.
struct Output {
  const Layer* layer = nullptr;
  std::optional<TensorView> tensor;
  std::string missing;   // why there is no tensor: "the runtime folded it into 'conv_2'"
  std::size_t kept = 0;  // the tensor is valid until so many later runs begin; 0: only during the call that gives it
};
using TakeOutput = std::function<Status(const Output&)>;
// An output of the whole model.
using TakeResult = std::function<Status(std::string_view name, const TensorView& tensor)>;

struct LayerTime {
  std::int64_t layer = 0;  // index; -1: time that belongs to no layer
  std::string name;        // what the runtime executed: a fused operation has a name of its own
  std::int64_t nanoseconds = 0;
};

// Calls come from one thread at a time.
class Runtime {
 public:
  Runtime() = default;
  virtual ~Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  virtual const RuntimeInfo& info() const noexcept = 0;
  // Valid as long as the runtime.
  virtual const Description& description() const noexcept = 0;

  // The layers that later runs give, as indices. Loads the model again where taps are part of it.
  virtual Status select(const std::vector<std::int64_t>& layers) = 0;
  // One pass. Calls `take` once for each selected layer in order of execution, and `result` for each output of the
  // model; either may be empty. An error of theirs ends the run and is returned.
  virtual Status run(const std::vector<NamedView>& inputs, const TakeOutput& take, const TakeResult& result) = 0;
  // The types and shapes of all layers, as far as the runtime infers them before a run; `unsupported` if it does not.
  virtual Result<std::vector<Value>> infer_values() = 0;
  // For each layer the index of the layer that the runtime fuses it into as long as nobody looks at it; its own index
  // if it is computed on its own. A tap at a fused layer splits the fusion. `unsupported` if the runtime does not tell.
  virtual Result<std::vector<std::int64_t>> fusions() = 0;
  // Of the last run, if OpenOptions::profile was set; `unsupported` if the runtime does not count.
  virtual Result<std::vector<LayerTime>> times() = 0;
};

struct ModelName {
  std::string path;
  std::string runtime;  // empty: the one that fits the file
};
// "model.onnx@onnxruntime". A path that exists as it stands is one, whatever it contains.
ModelName parse_model_name(std::string_view text);

struct OpenOptions {
  std::string precision = "f32";  // executed; "f16" and "bf16" if the runtime can
  std::string signature;          // of a SavedModel; empty: the only one, or "serving_default"
  bool profile = false;
  // Where the runtime lacks an operation: open the part of the model that does without it. Layers that need it can then
  // not be selected.
  bool partly = false;
  // Of how many runs in a row a runtime that keeps outputs keeps them, so that one can be read during the next. Each
  // takes the memory of all selected layers.
  std::size_t kept_runs = 1;
};

// Reads the file's structure only: no runtime is loaded.
Result<Description> describe_model(std::string_view path, const OpenOptions& options = {});
// Asks OpenVINO for the types and shapes of layers that an ONNX file does not say, where it is installed. Runs nothing.
void infer_types(Description& description);
Result<std::unique_ptr<Runtime>> open_model(const ModelName& model, const OpenOptions& options = {});

}  // namespace sonde::inspect
