#include "inspect/openvino/tensorflow_graph.h"

#include <map>
#include <openvino/frontend/tensorflow/special_types.hpp>
#include <openvino/runtime/tensor.hpp>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "formats/tf_dtype.h"
#include "formats/tf_op_outputs.h"

namespace sonde::inspect::openvino {
namespace {

namespace tf = formats::tf;

// Undefined for types that OpenVINO lacks.
ov::element::Type element_type(int tf_type) {
  if (tf_type == formats::kTfString) return ov::element::string;
  const auto dtype = formats::dtype_of_tf(tf_type);
  if (!dtype) return ov::element::dynamic;
  switch (*dtype) {
    case DType::boolean: return ov::element::boolean;
    case DType::i8: return ov::element::i8;
    case DType::i16: return ov::element::i16;
    case DType::i32: return ov::element::i32;
    case DType::i64: return ov::element::i64;
    case DType::u8: return ov::element::u8;
    case DType::u16: return ov::element::u16;
    case DType::u32: return ov::element::u32;
    case DType::u64: return ov::element::u64;
    case DType::f8_e4m3: return ov::element::f8e4m3;
    case DType::f8_e5m2: return ov::element::f8e5m2;
    case DType::f16: return ov::element::f16;
    case DType::bf16: return ov::element::bf16;
    case DType::f32: return ov::element::f32;
    case DType::f64: return ov::element::f64;
    default: return ov::element::dynamic;
  }
}

ov::PartialShape partial_shape(const std::optional<std::vector<std::int64_t>>& shape) {
  if (!shape) return ov::PartialShape::dynamic();
  std::vector<ov::Dimension> dims;
  for (const std::int64_t size : *shape) dims.emplace_back(size < 0 ? ov::Dimension::dynamic() : ov::Dimension(size));
  return dims;
}

ov::Shape static_shape(const std::vector<std::int64_t>& shape) { return {shape.begin(), shape.end()}; }

// Memory of somebody else as a tensor. The constant that the frontend makes of it holds the owner.
ov::Tensor shared_tensor(ov::element::Type type, const std::vector<std::int64_t>& shape, base::Bytes bytes) {
  // OpenVINO writes into no constant, but its interface knows only writable memory.
  void* data = const_cast<std::byte*>(bytes.data());
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (!bytes.empty() && address % std::max<std::size_t>(type.size(), 1) == 0) return {type, static_shape(shape), data};
  ov::Tensor copy(type, static_shape(shape));  // the file does not align its constants
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

ov::Tensor constant_tensor(const tf::TensorDef& definition) {
  if (definition.type == formats::kTfString) {
    const auto strings = tf::tensor_strings(definition);
    if (!strings) throw std::runtime_error(strings.error().message());
    ov::Tensor tensor(ov::element::string, static_shape(definition.shape));
    auto* to = tensor.data<std::string>();
    for (std::size_t i = 0; i < tensor.get_size() && !strings->empty(); ++i) {
      to[i] = (*strings)[std::min(i, strings->size() - 1)];
    }
    return tensor;
  }
  std::string storage;
  const auto bytes = tf::tensor_bytes(definition, storage);
  if (!bytes) throw std::runtime_error(bytes.error().message());
  const ov::element::Type type = element_type(definition.type);
  if (!storage.empty()) {
    ov::Tensor copy(type, static_shape(definition.shape));
    std::memcpy(copy.data(), storage.data(), storage.size());
    return copy;
  }
  return shared_tensor(type, definition.shape, *bytes);
}

ov::Any list_value(const tf::Attribute& attribute) {
  using Kind = tf::Attribute::Kind;
  switch (attribute.kind) {
    case Kind::text:
    case Kind::function: return std::vector<std::string>(attribute.texts.begin(), attribute.texts.end());
    case Kind::integer: return attribute.integers;
    case Kind::number: return attribute.numbers;
    case Kind::boolean: return std::vector<bool>(attribute.integers.begin(), attribute.integers.end());
    case Kind::type: {
      std::vector<ov::element::Type> types;
      types.reserve(attribute.integers.size());
      for (const std::int64_t type : attribute.integers) types.push_back(element_type(static_cast<int>(type)));
      return types;
    }
    case Kind::shape: {
      std::vector<ov::PartialShape> shapes;
      shapes.reserve(attribute.shapes.size());
      for (const auto& shape : attribute.shapes) shapes.push_back(partial_shape(shape));
      return shapes;
    }
    default: return ov::frontend::tensorflow::EmptyList();
  }
}

ov::Any value(const tf::Attribute& attribute) {
  using Kind = tf::Attribute::Kind;
  if (attribute.list) return list_value(attribute);
  switch (attribute.kind) {
    case Kind::text:
    case Kind::function: return std::string(attribute.texts.back());
    case Kind::integer: return attribute.integers.back();
    case Kind::number: return attribute.numbers.back();
    case Kind::boolean: return attribute.integers.back() != 0;
    case Kind::type: return element_type(static_cast<int>(attribute.integers.back()));
    case Kind::shape: return partial_shape(attribute.shapes.back());
    case Kind::tensor: return constant_tensor(*attribute.tensor);
    default: return {};
  }
}

// One node as the frontend sees it.
struct Node {
  std::string name;
  std::string op;
  const tf::NodeDef* definition = nullptr;         // its attributes; may be none
  std::map<std::string, ov::Any> attributes = {};  // take precedence
  std::vector<std::pair<std::string, std::size_t>> inputs = {};
};

class Decoder final : public ov::frontend::DecoderBase {
 public:
  Decoder(std::shared_ptr<const void> owner, std::shared_ptr<const Node> node)
      : owner_(std::move(owner)), node_(std::move(node)) {}

  ov::Any get_attribute(const std::string& name) const override {
    if (const auto found = node_->attributes.find(name); found != node_->attributes.end()) return found->second;
    const auto message = node_->definition == nullptr ? std::nullopt : node_->definition->attribute(name);
    if (!message) return {};
    const auto attribute = tf::decode_attribute(*message);
    if (!attribute) throw std::runtime_error(attribute.error().message());
    return value(*attribute);
  }
  std::size_t get_input_size() const override { return node_->inputs.size(); }
  void get_input_node(std::size_t place, std::string& name, std::string& port_name, std::size_t& port) const override {
    const auto& input = node_->inputs.at(place);
    name = input.first;
    port_name.clear();
    port = input.second;
  }
  const std::string& get_op_type() const override { return node_->op; }
  const std::string& get_op_name() const override { return node_->name; }

 private:
  std::shared_ptr<const void> owner_;  // of what the node points into
  std::shared_ptr<const Node> node_;
};

class Iterator final : public ov::frontend::GraphIterator {
 public:
  Iterator(std::shared_ptr<TensorFlowModel> model, std::vector<Node> nodes, std::vector<std::string> inputs,
           std::vector<std::string> outputs)
      : model_(std::move(model)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    for (Node& node : nodes) nodes_.push_back(std::make_shared<const Node>(std::move(node)));
  }

  std::size_t size() const override { return nodes_.size(); }
  void reset() override { place_ = 0; }
  void next() override { ++place_; }
  bool is_end() const override { return place_ >= nodes_.size(); }
  std::shared_ptr<ov::frontend::DecoderBase> get_decoder() const override {
    return std::make_shared<Decoder>(model_, nodes_[place_]);
  }
  std::shared_ptr<ov::frontend::GraphIterator> get_body_graph_iterator(const std::string& name) const override;
  std::vector<std::string> get_input_names() const override { return inputs_; }
  std::vector<std::string> get_output_names() const override { return outputs_; }

 private:
  std::shared_ptr<TensorFlowModel> model_;
  std::vector<std::shared_ptr<const Node>> nodes_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
  std::size_t place_ = 0;
};

// ---- The body of a function that control flow executes.

class Body {
 public:
  explicit Body(const tf::FunctionDef& function) : function_(function) {
    for (const tf::NodeDef& node : function.nodes) places_.try_emplace(node.name, &node);
  }

  std::pair<std::string, std::size_t> input(std::string_view text) const {
    const auto reference = tf::parse_reference(text);
    if (!reference) throw std::runtime_error("a control dependency is no input");
    const auto place = places_.find(reference->node);
    if (place == places_.end()) return {std::string(reference->node), 0};  // an argument
    const auto index = tf::output_index(*place->second, reference->output, reference->index);
    if (!index)
      throw std::runtime_error("function '" + std::string(function_.name) + "' refers to '" + std::string(text) + "'");
    return {std::string(reference->node), static_cast<std::size_t>(*index)};
  }

  std::vector<Node> nodes() const {
    std::vector<Node> nodes;
    for (const tf::ArgDef& argument : function_.inputs) {
      Node node{std::string(argument.name), "input_arg"};
      node.attributes["type"] = element_type(argument.type);
      nodes.push_back(std::move(node));
    }
    for (const tf::NodeDef& definition : function_.nodes) {
      if (definition.op == "NoOp") continue;
      const bool read = definition.op == "ReadVariableOp";
      Node node{std::string(definition.name), read ? "Identity" : std::string(definition.op), &definition};
      for (const std::string_view text : definition.inputs) {
        if (!text.starts_with('^')) node.inputs.push_back(input(text));
      }
      nodes.push_back(std::move(node));
    }
    for (const tf::ArgDef& argument : function_.outputs) {
      Node node{std::string(argument.name), "output_arg"};
      node.inputs.push_back(input(function_.returns.at(argument.name)));
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  static std::vector<std::string> names(const std::vector<tf::ArgDef>& arguments) {
    std::vector<std::string> names;
    names.reserve(arguments.size());
    for (const tf::ArgDef& argument : arguments) names.emplace_back(argument.name);
    return names;
  }

 private:
  const tf::FunctionDef& function_;
  std::unordered_map<std::string_view, const tf::NodeDef*> places_;
};

std::shared_ptr<ov::frontend::GraphIterator> Iterator::get_body_graph_iterator(const std::string& name) const {
  for (const tf::FunctionDef& function : model_->graph().functions) {
    if (function.name != name) continue;
    return std::make_shared<Iterator>(model_, Body(function).nodes(), Body::names(function.inputs),
                                      Body::names(function.outputs));
  }
  return nullptr;
}

// ---- The main graph.

std::vector<bool> needed_by(const tf::FlatGraph& graph, const std::vector<tf::FlatTensor>& outputs) {
  std::vector<bool> needed(graph.nodes.size());
  std::vector<std::size_t> pending;
  pending.reserve(outputs.size() + graph.inputs.size());
  for (const tf::FlatTensor& tensor : outputs) pending.push_back(tensor.node);
  for (const tf::FlatGraph::Port& port : graph.inputs) pending.push_back(port.tensor.node);
  while (!pending.empty()) {
    const std::size_t node = pending.back();
    pending.pop_back();
    if (needed[node]) continue;
    needed[node] = true;
    for (const tf::FlatTensor& input : graph.nodes[node].inputs) pending.push_back(input.node);
  }
  return needed;
}

std::vector<std::int64_t> variable_shape(const tf::FlatNode& node) {
  const auto message = node.definition->attribute("shape");
  const auto shape = message ? tf::decode_attribute(*message) : Result<tf::Attribute>(tf::Attribute{});
  if (!shape || shape->shapes.empty() || !shape->shapes[0]) {
    throw std::runtime_error("variable '" + node.name + "' has no shape");
  }
  return *shape->shapes[0];
}

// A variable becomes a constant.
Node constant_of(TensorFlowModel& model, const tf::FlatNode& node) {
  const auto bytes = model.variable(node);
  if (!bytes) throw std::runtime_error(bytes.error().message());
  const ov::element::Type type = element_type(tf::type_attribute(*node.definition, "dtype").value_or(0));
  Node constant{node.name, "Const"};
  constant.attributes["dtype"] = type;
  constant.attributes["value"] = shared_tensor(type, variable_shape(node), *bytes);
  return constant;
}

// A look-up in a variable, which is a constant now.
void add_gather(std::vector<Node>& nodes, Node gather) {
  Node axis{gather.name + "/axis", "Const"};
  ov::Tensor zero(ov::element::i32, ov::Shape{});
  *zero.data<std::int32_t>() = 0;
  axis.attributes = {{"dtype", ov::Any(ov::element::Type(ov::element::i32))}, {"value", ov::Any(zero)}};
  gather.inputs.emplace_back(axis.name, 0);
  gather.op = "GatherV2";
  nodes.push_back(std::move(axis));
  nodes.push_back(std::move(gather));
}

}  // namespace

std::string frontend_name(const tf::FlatGraph& graph, const tf::FlatTensor& tensor) {
  return graph.nodes[tensor.node].name + ":" + std::to_string(tensor.output);
}

std::shared_ptr<ov::frontend::GraphIterator> graph_iterator(std::shared_ptr<TensorFlowModel> model,
                                                            const std::vector<tf::FlatTensor>& outputs) {
  const tf::FlatGraph& graph = model->flat();
  const std::vector<bool> needed = needed_by(graph, outputs);
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const tf::FlatNode& flat = graph.nodes[i];
    if (!needed[i]) continue;
    if (flat.kind == tf::FlatNode::Kind::variable) {
      nodes.push_back(constant_of(*model, flat));
      continue;
    }
    const bool read = flat.kind == tf::FlatNode::Kind::read;
    Node node{flat.name, read ? "Identity" : std::string(flat.definition->op), flat.definition};
    for (const tf::FlatTensor& input : flat.inputs) {
      node.inputs.emplace_back(graph.nodes[input.node].name, static_cast<std::size_t>(input.output));
    }
    if (node.op == "ResourceGather") {
      add_gather(nodes, std::move(node));
    } else {
      nodes.push_back(std::move(node));
    }
  }
  return std::make_shared<Iterator>(std::move(model), std::move(nodes), std::vector<std::string>(),
                                    std::vector<std::string>());
}

}  // namespace sonde::inspect::openvino
