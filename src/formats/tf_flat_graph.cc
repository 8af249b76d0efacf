#include "formats/tf_flat_graph.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "formats/tf_op_outputs.h"
#include "formats/tf_variables.h"

namespace sonde::formats::tf {
namespace {

constexpr int kDeepestCall = 64;
constexpr std::size_t kMostNodes = 4'000'000;

bool is_call(std::string_view op) noexcept { return op == "PartitionedCall" || op == "StatefulPartitionedCall"; }

FlatNode::Kind kind_of(std::string_view op) noexcept {
  if (op == "Const") return FlatNode::Kind::constant;
  if (op == "Placeholder" || op == "PlaceholderV2" || op == "PlaceholderWithDefault") return FlatNode::Kind::input;
  if (op == "VarHandleOp" || op == "VariableV2" || op == "Variable") return FlatNode::Kind::variable;
  if (op == "ReadVariableOp") return FlatNode::Kind::read;
  return FlatNode::Kind::operation;
}

// "Identity", "Identity_3": the name that a node gets when nobody gives it one.
bool returns_only(const NodeDef& node) noexcept {
  constexpr std::string_view kName = "Identity";
  if (node.op != kName || !node.name.starts_with(kName)) return false;
  const std::string_view rest = node.name.substr(kName.size());
  return rest.empty() || (rest.starts_with('_') && rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

bool assigns(std::string_view op) noexcept {
  return op == "AssignVariableOp" || op == "AssignAddVariableOp" || op == "AssignSubVariableOp" || op == "Assign" ||
         op == "AssignAdd" || op == "AssignSub" || op.starts_with("ResourceScatter");
}

using NodesByName = std::unordered_map<std::string_view, std::size_t>;

NodesByName by_name(const std::vector<NodeDef>& nodes) {
  NodesByName places;
  for (std::size_t i = 0; i < nodes.size(); ++i) places.try_emplace(nodes[i].name, i);
  return places;
}

// The nodes of a list that `wanted` need, in order of execution, and in the order of the list where that is free.
// Back edges of TensorFlow 1's loops do not count.
std::vector<std::size_t> order_of_execution(const std::vector<NodeDef>& nodes, const NodesByName& places,
                                            const std::vector<std::size_t>& wanted) {
  const auto reads = [&](std::size_t node) {
    std::vector<std::size_t> found;
    for (const std::string_view input : nodes[node].inputs) {
      const auto reference = parse_reference(input);
      if (!reference) continue;
      const auto place = places.find(reference->node);
      if (place == places.end()) continue;
      if (nodes[node].op == "Merge" && nodes[place->second].op == "NextIteration") continue;
      found.push_back(place->second);
    }
    return found;
  };
  std::vector<std::size_t> pending = wanted;
  std::vector<bool> needed(nodes.size());
  std::vector<std::size_t> missing(nodes.size());  // inputs that are not in the order yet
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  while (!pending.empty()) {
    const std::size_t node = pending.back();
    pending.pop_back();
    if (needed[node]) continue;
    needed[node] = true;
    const std::vector<std::size_t> inputs = reads(node);
    missing[node] = inputs.size();
    if (inputs.empty()) ready.push(node);
    for (const std::size_t input : inputs) {
      readers[input].push_back(node);
      pending.push_back(input);
    }
    // The other half of a loop is reached through the back edge only.
    if (nodes[node].op == "Merge") {
      for (const std::string_view input : nodes[node].inputs) {
        const auto reference = parse_reference(input);
        const auto place = reference ? places.find(reference->node) : places.end();
        if (place != places.end()) pending.push_back(place->second);
      }
    }
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const std::size_t reader : readers[node]) {
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  return order;
}

class Flattener {
 public:
  explicit Flattener(const GraphDef& graph)
      : graph_(graph), main_places_(by_name(graph.nodes)), keys_(variable_keys(graph)) {
    for (const FunctionDef& function : graph.functions) functions_.try_emplace(function.name, &function);
  }

  Result<FlatGraph> signature(const Signature& signature);
  Result<FlatGraph> whole();

 private:
  // A graph or the body of a function, while its nodes are put into the result.
  struct Scope {
    const std::vector<NodeDef>& nodes;
    const NodesByName& places;
    const FunctionDef* function = nullptr;  // none: the main graph
    std::string path;                       // of the calls, each with a '/'
    int depth = 0;
    std::unordered_map<std::string_view, FlatTensor> arguments = {};
    std::unordered_map<std::string_view, std::vector<FlatTensor>> tensors = {};  // of nodes that are done
  };

  Status expand(Scope& scope, const std::vector<std::size_t>& wanted);
  Status add(Scope& scope, const NodeDef& node);
  Result<std::vector<FlatTensor>> call(const Scope& scope, const NodeDef& node);
  Result<FlatTensor> resolve(const Scope& scope, std::string_view input) const;
  void note_assignments(const Scope& scope);
  void close_loops();
  void name_nodes();
  void keep_needed();

  const GraphDef& graph_;
  NodesByName main_places_;
  std::unordered_map<std::string_view, std::string_view> keys_;
  std::unordered_map<std::string_view, const FunctionDef*> functions_;
  std::unordered_map<std::string_view, NodesByName> function_places_;
  FlatGraph flat_;
  std::vector<std::string> paths_;                               // beside flat_.nodes
  std::vector<std::pair<std::size_t, std::string_view>> loops_;  // a Merge, and the node behind its back edge
};

Result<FlatTensor> Flattener::resolve(const Scope& scope, std::string_view input) const {
  const auto reference = parse_reference(input);
  if (reference && scope.function != nullptr) {
    if (const auto argument = scope.arguments.find(reference->node); argument != scope.arguments.end()) {
      return argument->second;
    }
  }
  const auto done = reference ? scope.tensors.find(reference->node) : scope.tensors.end();
  if (done == scope.tensors.end()) {
    return Status(Code::corrupt,
                  "the graph refers to '" + std::string(input) + "', which is not in it, or in a circle");
  }
  const NodeDef& node = scope.nodes[scope.places.at(reference->node)];
  std::optional<std::int64_t> index = reference->index;
  if (scope.function != nullptr && !reference->output.empty()) {
    index = output_index(node, reference->output, reference->index);
  }
  const std::vector<FlatTensor>& outputs = done->second;
  // A call has a list of tensors; one tensor stands for all outputs of another operation.
  if (index && !is_call(node.op)) return FlatTensor{outputs[0].node, outputs[0].output + *index};
  if (!index || *index >= static_cast<std::int64_t>(outputs.size())) {
    return Status(Code::corrupt, "the graph refers to '" + std::string(input) + "', which its operation does not give");
  }
  return outputs[static_cast<std::size_t>(*index)];
}

Result<std::vector<FlatTensor>> Flattener::call(const Scope& scope, const NodeDef& node) {
  const auto name = function_attribute(node, "f");
  const auto found = name ? functions_.find(*name) : functions_.end();
  if (found == functions_.end()) {
    return Status(Code::corrupt,
                  "the graph calls function '" + std::string(name.value_or("")) + "', which is not in it");
  }
  const FunctionDef& function = *found->second;
  if (scope.depth >= kDeepestCall) {
    return Status(Code::unsupported, "function '" + std::string(*name) + "' calls itself; recursion is not supported");
  }
  const auto [places, fresh] = function_places_.try_emplace(function.name);
  if (fresh) places->second = by_name(function.nodes);
  Scope body{function.nodes, places->second, &function, scope.path + std::string(node.name) + "/", scope.depth + 1};
  std::size_t next = 0;
  for (const std::string_view input : node.inputs) {
    if (input.starts_with('^')) continue;
    const Result<FlatTensor> tensor = resolve(scope, input);
    if (!tensor) return tensor.error();
    if (next < function.inputs.size()) body.arguments.emplace(function.inputs[next].name, *tensor);
    ++next;
  }
  if (next != function.inputs.size()) {
    return Status(Code::corrupt, "a call of function '" + std::string(*name) + "' has the wrong number of arguments");
  }
  std::vector<std::string_view> returned;
  std::vector<std::size_t> wanted;
  for (const ArgDef& output : function.outputs) {
    const auto reference = function.returns.find(output.name);
    if (reference == function.returns.end()) {
      return Status(Code::corrupt,
                    "function '" + std::string(*name) + "' does not return '" + std::string(output.name) + "'");
    }
    returned.push_back(reference->second);
    const auto parsed = parse_reference(reference->second);
    const auto place = parsed ? body.places.find(parsed->node) : body.places.end();
    if (place != body.places.end()) wanted.push_back(place->second);
  }
  if (Status status = expand(body, wanted); !status) return status;
  note_assignments(body);
  std::vector<FlatTensor> outputs;
  for (const std::string_view reference : returned) {
    const Result<FlatTensor> tensor = resolve(body, reference);
    if (!tensor) return tensor.error();
    outputs.push_back(*tensor);
  }
  return outputs;
}

// A variable that the body of a function changes, whether or not its outputs need that.
void Flattener::note_assignments(const Scope& scope) {
  for (const NodeDef& node : scope.nodes) {
    if (!assigns(node.op) || node.inputs.empty()) continue;
    const Result<FlatTensor> variable = resolve(scope, node.inputs[0]);
    if (variable) flat_.nodes[variable->node].assigned = true;
  }
}

Status Flattener::add(Scope& scope, const NodeDef& node) {
  if (is_call(node.op)) {
    Result<std::vector<FlatTensor>> outputs = call(scope, node);
    if (!outputs) return outputs.error();
    scope.tensors.emplace(node.name, *std::move(outputs));
    return Status::success();
  }
  if (scope.function != nullptr && returns_only(node) && !node.inputs.empty()) {
    const Result<FlatTensor> passed = resolve(scope, node.inputs[0]);
    if (!passed) return passed.error();
    scope.tensors.emplace(node.name, std::vector{*passed});
    return Status::success();
  }
  if (flat_.nodes.size() >= kMostNodes) return {Code::exhausted, "the graph has more than 4 million operations"};
  FlatNode flat;
  flat.definition = &node;
  flat.kind = kind_of(node.op);
  if (scope.function == nullptr && flat.kind == FlatNode::Kind::variable) {
    if (const auto key = keys_.find(node.name); key != keys_.end()) flat.key = key->second;
  }
  for (const std::string_view input : node.inputs) {
    const auto reference = parse_reference(input);
    if (!reference) continue;
    const auto place = node.op == "Merge" ? scope.places.find(reference->node) : scope.places.end();
    if (place != scope.places.end() && scope.nodes[place->second].op == "NextIteration") {
      loops_.emplace_back(flat_.nodes.size(), reference->node);
      flat.inputs.push_back({flat_.nodes.size(), 0});  // until close_loops
      continue;
    }
    const Result<FlatTensor> tensor = resolve(scope, input);
    if (!tensor) return tensor.error();
    flat.inputs.push_back(*tensor);
  }
  // A frozen graph has the value of a variable as a constant, and an Identity where it was read.
  if (node.op == "Identity" && flat.inputs.size() == 1 && flat.inputs[0].node < flat_.nodes.size() &&
      flat_.nodes[flat.inputs[0].node].kind != FlatNode::Kind::operation &&
      flat_.nodes[flat.inputs[0].node].kind != FlatNode::Kind::input) {
    flat.kind = FlatNode::Kind::read;
  }
  scope.tensors.emplace(node.name, std::vector{FlatTensor{flat_.nodes.size(), 0}});
  flat_.nodes.push_back(std::move(flat));
  paths_.push_back(scope.path);
  return Status::success();
}

Status Flattener::expand(Scope& scope, const std::vector<std::size_t>& wanted) {
  for (const std::size_t place : order_of_execution(scope.nodes, scope.places, wanted)) {
    if (Status status = add(scope, scope.nodes[place]); !status) return status;
  }
  return Status::success();
}

void Flattener::close_loops() {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < flat_.nodes.size(); ++i) places.try_emplace(flat_.nodes[i].definition->name, i);
  for (const auto& [merge, name] : loops_) {
    const auto found = places.find(name);
    if (found == places.end()) continue;
    for (FlatTensor& input : flat_.nodes[merge].inputs) {
      if (input.node == merge) {
        input = {found->second, 0};
        break;
      }
    }
  }
}

// Drops what no output needs: outputs of functions that nobody reads.
void Flattener::keep_needed() {
  std::vector<bool> needed(flat_.nodes.size());
  std::vector<std::size_t> pending;
  pending.reserve(flat_.outputs.size() + flat_.inputs.size());
  for (const FlatGraph::Port& port : flat_.outputs) pending.push_back(port.tensor.node);
  for (const FlatGraph::Port& port : flat_.inputs) pending.push_back(port.tensor.node);
  while (!pending.empty()) {
    const std::size_t node = pending.back();
    pending.pop_back();
    if (needed[node]) continue;
    needed[node] = true;
    for (const FlatTensor& input : flat_.nodes[node].inputs) pending.push_back(input.node);
  }
  std::vector<std::size_t> place(flat_.nodes.size());
  std::vector<FlatNode> kept;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < flat_.nodes.size(); ++i) {
    place[i] = kept.size();
    if (!needed[i]) continue;
    kept.push_back(std::move(flat_.nodes[i]));
    paths.push_back(std::move(paths_[i]));
  }
  for (FlatNode& node : kept) {
    for (FlatTensor& input : node.inputs) input.node = place[input.node];
  }
  for (FlatGraph::Port& port : flat_.inputs) port.tensor.node = place[port.tensor.node];
  for (FlatGraph::Port& port : flat_.outputs) port.tensor.node = place[port.tensor.node];
  flat_.nodes = std::move(kept);
  paths_ = std::move(paths);
}

void Flattener::name_nodes() {
  std::unordered_map<std::string_view, int> uses;
  for (const FlatNode& node : flat_.nodes) ++uses[node.definition->name];
  std::unordered_set<std::string> taken;
  for (std::size_t i = 0; i < flat_.nodes.size(); ++i) {
    FlatNode& node = flat_.nodes[i];
    const bool unique = uses[node.definition->name] == 1;
    const std::string wanted = (unique ? std::string() : paths_[i]) + std::string(node.definition->name);
    node.name = wanted;
    for (int n = 1; !taken.insert(node.name).second; ++n) node.name = wanted + "_" + std::to_string(n);
  }
}

Result<FlatGraph> Flattener::signature(const Signature& signature) {
  Scope main{graph_.nodes, main_places_, nullptr, "", 0};
  std::vector<std::size_t> wanted;
  for (const std::vector<TensorInfo>* side : {&signature.inputs, &signature.outputs}) {
    for (const TensorInfo& info : *side) {
      const auto reference = parse_reference(info.tensor);
      const auto place = reference ? main_places_.find(reference->node) : main_places_.end();
      if (place == main_places_.end()) {
        return Status(Code::unsupported, "'" + std::string(info.key) + "' of signature '" +
                                             std::string(signature.name) + "' is no tensor of the graph");
      }
      wanted.push_back(place->second);
    }
  }
  if (Status status = expand(main, wanted); !status) return status;
  for (const auto& [side, ports] :
       {std::pair(&signature.inputs, &flat_.inputs), std::pair(&signature.outputs, &flat_.outputs)}) {
    for (const TensorInfo& info : *side) {
      const Result<FlatTensor> tensor = resolve(main, info.tensor);
      if (!tensor) return tensor.error();
      ports->push_back({std::string(info.key), *tensor, info.type, info.shape});
    }
  }
  close_loops();
  keep_needed();
  name_nodes();
  return std::move(flat_);
}

Result<FlatGraph> Flattener::whole() {
  Scope main{graph_.nodes, main_places_, nullptr, "", 0};
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (graph_.nodes[i].op != "NoOp" && main_places_.at(graph_.nodes[i].name) == i) wanted.push_back(i);
  }
  if (Status status = expand(main, wanted); !status) return status;
  close_loops();
  std::vector<bool> read(flat_.nodes.size());
  for (const FlatNode& node : flat_.nodes) {
    for (const FlatTensor& input : node.inputs) read[input.node] = true;
  }
  for (std::size_t i = 0; i < flat_.nodes.size(); ++i) {
    const FlatNode& node = flat_.nodes[i];
    const FlatTensor tensor{i, 0};
    const std::vector<int> types = output_types(*node.definition);
    const auto shapes = output_shapes(*node.definition);
    FlatGraph::Port port{std::string(node.definition->name), tensor, types.empty() ? 0 : types[0],
                         shapes.empty() ? std::nullopt : shapes[0]};
    if (node.kind == FlatNode::Kind::input) {
      if (const auto message = node.definition->attribute("shape"); message && !port.shape) {
        const Result<Attribute> shape = decode_attribute(*message);
        if (shape && !shape->shapes.empty()) port.shape = shape->shapes[0];
      }
      flat_.inputs.push_back(port);
    } else if (!read[i] && node.kind == FlatNode::Kind::operation && !types.empty()) {
      flat_.outputs.push_back(port);
    }
  }
  name_nodes();
  return std::move(flat_);
}

}  // namespace

std::string FlatGraph::tensor_name(const FlatTensor& tensor) const {
  const std::string& name = nodes[tensor.node].name;
  return tensor.output == 0 ? name : name + ":" + std::to_string(tensor.output);
}

Result<FlatGraph> flatten(const GraphDef& graph, const Signature& signature) {
  return Flattener(graph).signature(signature);
}

Result<FlatGraph> flatten(const GraphDef& graph) { return Flattener(graph).whole(); }

bool is_control_flow(std::string_view op) noexcept {
  static constexpr std::string_view kOps[] = {
      "If",     "StatelessIf", "While", "StatelessWhile", "Case",          "StatelessCase", "For",
      "Switch", "Merge",       "Enter", "Exit",           "NextIteration", "LoopCond"};
  return std::ranges::find(kOps, op) != std::end(kOps);
}

}  // namespace sonde::formats::tf
