#include "formats/onnx_cut.h"

#include <algorithm>
#include <utility>

#include "formats/onnx_encode.h"
#include "formats/wire.h"
#include "tensor/copy.h"

namespace sonde::onnx {
namespace {

constexpr std::int64_t kSmall = 64;  // elements
// Readers of protobuf refuse messages of 2 GiB.
constexpr std::size_t kLargestModel = (std::size_t{1} << 31) - (std::size_t{1} << 20);

// Fields of GraphProto and NodeProto: see onnx.h.
constexpr std::uint32_t kGraphNode = 1;
constexpr std::uint32_t kGraphName = 2;
constexpr std::uint32_t kGraphInitializer = 5;
constexpr std::uint32_t kGraphInput = 11;
constexpr std::uint32_t kGraphOutput = 12;
constexpr std::uint32_t kNodeInput = 1;
constexpr std::uint32_t kNodeOutput = 2;

bool is_integer(DType dtype) noexcept { return dtype >= DType::boolean && dtype <= DType::u64; }

template <class Sizes>
std::string tensor_proto(std::string_view name, std::int32_t type, const Sizes& sizes, std::string_view raw) {
  std::string out;
  for (const std::int64_t size : sizes) wire::put_integer(out, 1, size);
  wire::put_integer(out, 2, type);
  wire::put_bytes(out, 8, name);
  wire::put_bytes(out, 9, raw);
  return out;
}

std::string tensor_proto(std::string_view name, const TensorView& tensor) {
  std::string raw(tensor::byte_size(tensor), '\0');
  tensor::copy_dense(tensor, raw.data());
  return tensor_proto(name, type_number(tensor.dtype), tensor.shape, raw);
}

// A node with other names of its inputs.
std::string renamed_node(const Node& node, const std::vector<std::string>& inputs) {
  std::string out;
  for (const std::string& input : inputs) wire::put_bytes(out, kNodeInput, input);
  for (const std::string_view output : node.outputs) wire::put_bytes(out, kNodeOutput, output);
  wire::put_bytes_unless_empty(out, 3, node.name);
  wire::put_bytes_unless_empty(out, 4, node.op);
  for (const Attribute& attribute : node.attributes) wire::put_bytes(out, 5, base::as_text(attribute.message));
  wire::put_bytes_unless_empty(out, 7, node.domain);
  return out;
}

template <class List>
auto find_named(const List& list, std::string_view name) {
  const auto found = std::ranges::find_if(list, [&](const auto& one) { return one.name == name; });
  return found == list.end() ? nullptr : &*found;
}

const Node* producer(const Graph& graph, std::string_view value) {
  const auto found = std::ranges::find_if(
      graph.nodes, [&](const Node& node) { return std::ranges::find(node.outputs, value) != node.outputs.end(); });
  return found == graph.nodes.end() ? nullptr : &*found;
}

}  // namespace

Cutter::Cutter(const Model& model, ReadExternal read_external)
    : model_(model), read_external_(std::move(read_external)) {}

bool Cutter::needs_own_model(std::string_view output) const {
  const Node* node = producer(model_.graph, output);
  return node != nullptr && !node->outer.empty();
}

Status Cutter::add(std::string_view output, const GiveValue& give) {
  const Node* node = producer(model_.graph, output);
  if (node == nullptr) return {Code::not_found, "no operation of the file computes it"};
  const std::string key = "node " + std::string(node->outputs.front());
  if (std::ranges::find(added_, key) != added_.end()) return Status::success();
  const bool own = !node->outer.empty();
  if (keeps_names_ || (own && nodes_ > 0)) return {Code::invalid_argument, "it needs a model of its own"};
  keeps_names_ = own;
  for (const std::string_view outer : node->outer) {
    std::string same(outer);
    if (Status status = add_input(outer, give, same); !status) return status;
  }
  std::vector<std::string> inputs;
  for (const std::string_view input : node->inputs) {
    std::string renamed(input);
    if (!input.empty()) {
      if (Status status = add_input(input, give, renamed); !status) return status;
    }
    inputs.push_back(std::move(renamed));
  }
  wire::put_bytes(graph_, kGraphNode, renamed_node(*node, inputs));
  for (const std::string_view each : node->outputs) {
    if (!each.empty()) wire::put_bytes(outputs_, kGraphOutput, encode_value(each));
  }
  added_.push_back(key);
  ++nodes_;
  return Status::success();
}

Status Cutter::add_input(std::string_view name, const GiveValue& give, std::string& renamed) {
  if (find_named(model_.graph.initializers, name) != nullptr) return add_constant(name);
  const Node* node = producer(model_.graph, name);
  if (node != nullptr && node->op == "Constant" && node->domain.empty()) {
    if (std::ranges::find(added_, name) == added_.end()) {
      wire::put_bytes(graph_, kGraphNode, base::as_text(node->message));
      added_.emplace_back(name);
    }
    return Status::success();
  }
  renamed = (keeps_names_ ? "" : std::string(kCutPrefix)) + std::string(name);
  if (std::ranges::find(added_, renamed) != added_.end()) return Status::success();
  const std::optional<TensorView> value = give(name);
  if (!value) return {Code::not_found, "its input '" + std::string(name) + "' was not recorded"};
  if (is_integer(value->dtype) && value->size() <= kSmall) {
    wire::put_bytes(graph_, kGraphInitializer, tensor_proto(renamed, *value));
  } else {
    wire::put_bytes(graph_, kGraphInput, encode_value(renamed, type_number(value->dtype), value->shape));
    inputs_.push_back({renamed, std::string(name), *value});
  }
  added_.push_back(renamed);
  return Status::success();
}

Status Cutter::add_constant(std::string_view name) {
  if (std::ranges::find(added_, name) != added_.end()) return Status::success();
  const Initializer* constant = find_named(model_.graph.initializers, name);
  if (constant->external) {
    const Result<base::Bytes> raw = read_external_
                                        ? read_external_(*constant->external)
                                        : Result<base::Bytes>(Status(Code::unsupported, "it is in another file"));
    if (!raw) return {raw.error().code(), "its weight '" + std::string(name) + "': " + raw.error().message()};
    if (raw->size() > kLargestModel) {
      return {Code::unsupported, "its weight '" + std::string(name) + "' is larger than a model file can be"};
    }
    wire::put_bytes(graph_, kGraphInitializer, tensor_proto(name, constant->type, constant->dims, base::as_text(*raw)));
  } else {
    wire::put_bytes(graph_, kGraphInitializer, base::as_text(constant->message));
  }
  added_.emplace_back(name);
  return Status::success();
}

std::string Cutter::encode() const {
  std::string graph = graph_ + outputs_;
  wire::put_bytes(graph, kGraphName, "cut");
  return encode_model(model_, graph);
}

}  // namespace sonde::onnx
