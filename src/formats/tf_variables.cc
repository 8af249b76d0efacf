#include "formats/tf_variables.h"

#include <algorithm>
#include <vector>

namespace sonde::formats::tf {
namespace {

using Places = std::unordered_map<std::string_view, const NodeDef*>;
using Keys = std::unordered_map<std::string_view, std::string_view>;

Places places_of(const std::vector<NodeDef>& nodes) {
  Places places;
  for (const NodeDef& node : nodes) places.try_emplace(node.name, &node);
  return places;
}

const NodeDef* find(const Places& places, std::string_view input) {
  const auto reference = parse_reference(input);
  const auto found = reference ? places.find(reference->node) : places.end();
  return found == places.end() ? nullptr : found->second;
}

// The key that output `index` of a RestoreV2 reads.
std::string_view restored_key(const Places& places, const NodeDef& restore, std::int64_t index) {
  if (restore.inputs.size() < 2) return {};
  const NodeDef* names = find(places, restore.inputs[1]);
  const auto tensor = names == nullptr ? std::nullopt : tensor_attribute(*names, "value");
  if (!tensor) return {};
  const auto keys = tensor_strings(*tensor);
  if (!keys || index >= static_cast<std::int64_t>(keys->size())) return {};
  return (*keys)[static_cast<std::size_t>(index)];
}

// What the assignments of a list of nodes restore: the name of the variable, or of the argument that holds it -> key.
Keys restored_by(const std::vector<NodeDef>& nodes) {
  Keys keys;
  if (std::ranges::none_of(nodes, [](const NodeDef& node) { return node.op == "RestoreV2"; })) return keys;
  const Places places = places_of(nodes);
  for (const NodeDef& node : nodes) {
    if ((node.op != "AssignVariableOp" && node.op != "Assign") || node.inputs.size() < 2) continue;
    std::string_view value = node.inputs[1];
    const NodeDef* source = find(places, value);
    if (source != nullptr && source->op == "Identity" && !source->inputs.empty()) {
      value = source->inputs[0];
      source = find(places, value);
    }
    const auto variable = parse_reference(node.inputs[0]);
    if (source == nullptr || source->op != "RestoreV2" || !variable) continue;
    const std::string_view key = restored_key(places, *source, parse_reference(value)->index);
    if (!key.empty()) keys.try_emplace(variable->node, key);
  }
  return keys;
}

// Keras 3 saves a copy of each variable, which is what the graph restores: the copy is initialised from the variable
// that the functions read. The variable has the key of its copy.
void add_originals(const GraphDef& graph, Keys& keys) {
  const Places places = places_of(graph.nodes);
  for (const NodeDef& node : graph.nodes) {
    if (node.op != "AssignVariableOp" || node.inputs.size() < 2) continue;
    const NodeDef* read = find(places, node.inputs[1]);
    if (read == nullptr || read->op != "ReadVariableOp" || read->inputs.empty()) continue;
    const auto copy = parse_reference(node.inputs[0]);
    const auto original = parse_reference(read->inputs[0]);
    const auto key = copy ? keys.find(copy->node) : keys.end();
    if (key != keys.end() && original) keys.try_emplace(original->node, key->second);
  }
}

}  // namespace

Keys variable_keys(const GraphDef& graph) {
  Keys keys = restored_by(graph.nodes);
  std::unordered_map<std::string_view, const FunctionDef*> functions;
  for (const FunctionDef& function : graph.functions) functions.try_emplace(function.name, &function);
  for (const NodeDef& node : graph.nodes) {
    const auto name = function_attribute(node, "f");
    const auto found = name ? functions.find(*name) : functions.end();
    if (found == functions.end()) continue;
    const FunctionDef& function = *found->second;
    const Keys of_arguments = restored_by(function.nodes);
    if (of_arguments.empty()) continue;
    for (std::size_t i = 0; i < std::min(node.inputs.size(), function.inputs.size()); ++i) {
      const auto key = of_arguments.find(function.inputs[i].name);
      const auto variable = parse_reference(node.inputs[i]);
      if (key != of_arguments.end() && variable) keys.try_emplace(variable->node, key->second);
    }
  }
  add_originals(graph, keys);
  return keys;
}

}  // namespace sonde::formats::tf
