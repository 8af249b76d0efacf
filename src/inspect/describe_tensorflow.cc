// What a SavedModel, a frozen graph and a TFLite file say about their layers.
#include <algorithm>
#include <string>

#include "formats/tf_dtype.h"
#include "formats/tf_op_outputs.h"
#include "formats/tflite.h"
#include "inspect/describe.h"
#include "inspect/tensorflow_model.h"
#include "inspect/tflite_model.h"

namespace sonde::inspect {
namespace {

namespace tf = formats::tf;
namespace tflite = formats::tflite;

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

Value value_of(std::string name, int type, const std::optional<std::vector<std::int64_t>>& shape) {
  Value value;
  value.name = std::move(name);
  value.dtype = formats::dtype_of_tf(type);
  if (value.dtype) {
    value.type = to_string(*value.dtype);
  } else if (type != 0) {
    value.type = lower(formats::tf_dtype_text(type).substr(3));  // "DT_STRING"
  }
  if (shape && shape->size() <= kMaxRank) value.shape = Shape(*shape);
  return value;
}

// ---- Graphs of TensorFlow.

class GraphDescriber {
 public:
  explicit GraphDescriber(const tf::FlatGraph& graph) : graph_(graph) {}

  Description run() {
    Description made;
    for (const tf::FlatGraph::Port& port : graph_.inputs)
      made.inputs.push_back(value_of(port.name, port.type, port.shape));
    for (const tf::FlatGraph::Port& port : graph_.outputs)
      made.outputs.push_back(value_of(port.name, port.type, port.shape));
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].kind == tf::FlatNode::Kind::operation) add_layers(i, made.layers);
    }
    return made;
  }

 private:
  void add_layers(std::size_t place, std::vector<Layer>& layers) const {
    const tf::FlatNode& node = graph_.nodes[place];
    const std::vector<int> types = tf::output_types(*node.definition);
    const auto shapes = tf::output_shapes(*node.definition);
    std::int64_t parameters = 0;
    std::vector<std::string> inputs;
    for (const tf::FlatTensor& input : node.inputs) {
      inputs.push_back(graph_.tensor_name(input));
      parameters += trained_values(input.node);
    }
    for (std::size_t output = 0; output < types.size(); ++output) {
      Layer layer;
      layer.index = static_cast<std::int64_t>(layers.size());
      layer.value = value_of(graph_.tensor_name({place, static_cast<std::int64_t>(output)}), types[output],
                             output < shapes.size() ? shapes[output] : std::nullopt);
      layer.node = node.name;
      layer.op = node.definition->op;
      layer.parameters = output == 0 ? parameters : 0;
      layer.inputs = inputs;
      layers.push_back(std::move(layer));
    }
  }

  // Of a variable, or of a constant of real numbers that is more than one number: a frozen graph has no variables.
  std::int64_t trained_values(std::size_t place) const {
    const tf::FlatNode* node = &graph_.nodes[place];
    while ((node->kind == tf::FlatNode::Kind::read || node->definition->op == "Identity") && !node->inputs.empty() &&
           node->inputs[0].node < place) {
      place = node->inputs[0].node;
      node = &graph_.nodes[place];
    }
    if (node->kind == tf::FlatNode::Kind::variable) {
      const auto message = node->definition->attribute("shape");
      const auto shape = message ? tf::decode_attribute(*message) : Result<tf::Attribute>(tf::Attribute{});
      if (!shape || shape->shapes.empty() || !shape->shapes[0]) return 0;
      return tf::element_count(*shape->shapes[0]).value_or(0);
    }
    if (node->kind != tf::FlatNode::Kind::constant) return 0;
    const auto tensor = tf::tensor_attribute(*node->definition, "value");
    const auto dtype = tensor ? formats::dtype_of_tf(tensor->type) : std::nullopt;
    const bool real = dtype && *dtype >= DType::f8_e4m3 && *dtype <= DType::f64;
    return real && !tensor->shape.empty() ? tf::element_count(tensor->shape).value_or(0) : 0;
  }

  const tf::FlatGraph& graph_;
};

// ---- TFLite.

std::optional<Quantization> quantization_of(const tflite::Tensor& tensor) {
  if (!tensor.quantization) return std::nullopt;
  Quantization made;
  made.scales.assign(tensor.quantization->scales.begin(), tensor.quantization->scales.end());
  made.zero_points = tensor.quantization->zero_points;
  if (made.scales.size() > 1) made.axis = static_cast<int>(tensor.quantization->axis);
  return made;
}

Value value_of(const tflite::Tensor& tensor) {
  Value value;
  value.name = tensor.name;
  value.type = tflite::type_text(tensor.type);
  value.dtype = tflite::dtype_of(tensor.type);
  if (tensor.shape.size() <= kMaxRank) value.shape = Shape(tensor.shape);
  return value;
}

// Weights are real numbers, or integers that stand for them; other integers are shapes and axes.
std::int64_t trained_values(const tflite::Tensor& tensor) {
  const auto dtype = tflite::dtype_of(tensor.type);
  const bool real = dtype && *dtype >= DType::f8_e4m3 && *dtype <= DType::f64;
  if (tensor.data.empty() || (!real && !tensor.quantization)) return 0;
  return std::max<std::int64_t>(element_count(Shape(tensor.shape)), 0);
}

Description describe(const tflite::Subgraph& graph) {
  Description made;
  const auto tensor = [&](std::int64_t index) -> const tflite::Tensor& {
    return graph.tensors[static_cast<std::size_t>(index)];
  };
  for (const std::int64_t index : graph.inputs) made.inputs.push_back(value_of(tensor(index)));
  for (const std::int64_t index : graph.outputs) made.outputs.push_back(value_of(tensor(index)));
  for (const tflite::Operator& each : graph.operators) {
    std::int64_t parameters = 0;
    std::vector<std::string> inputs;
    for (const std::int64_t input : each.inputs) {
      if (input < 0) continue;
      inputs.emplace_back(tensor(input).name);
      parameters += trained_values(tensor(input));
    }
    for (std::size_t i = 0; i < each.outputs.size(); ++i) {
      const tflite::Tensor& output = tensor(each.outputs[i]);
      Layer layer;
      layer.index = static_cast<std::int64_t>(made.layers.size());
      layer.value = value_of(output);
      layer.node = output.name;
      layer.op = each.op;
      layer.parameters = i == 0 ? parameters : 0;
      layer.inputs = inputs;
      layer.quantization = quantization_of(output);
      made.layers.push_back(std::move(layer));
    }
  }
  return made;
}

}  // namespace

Result<Description> describe_saved_model(const std::string& path, const OpenOptions& options) {
  const auto model = TensorFlowModel::open_saved_model(path, options.signature);
  if (!model) return model.error();
  Description made = GraphDescriber((*model)->flat()).run();
  made.path = path;
  made.format = "saved_model";
  return made;
}

Result<Description> describe_frozen_graph(const std::string& path, const OpenOptions& options) {
  if (!options.signature.empty()) {
    return Status(Code::invalid_argument, "'" + path + "' is a frozen graph, which has no signatures");
  }
  const auto model = TensorFlowModel::open_graph(path);
  if (!model) return model.error();
  Description made = GraphDescriber((*model)->flat()).run();
  made.path = path;
  made.format = "frozen_graph";
  return made;
}

Result<Description> describe_tflite(const std::string& path, const OpenOptions& options) {
  const Result<LiteModel> model = open_tflite(path, options.signature);
  if (!model) return model.error();
  Description made = describe(model->graph());
  made.path = path;
  made.format = "tflite";
  return made;
}

}  // namespace sonde::inspect
