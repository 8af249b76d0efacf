#include "inspect/selection.h"

#include <algorithm>
#include <set>

#include "base/suggest.h"
#include "regexp/regexp.h"

namespace sonde::inspect {
namespace {

Status add_named(const Description& model, const std::string& name, std::set<std::int64_t>& chosen) {
  const std::size_t before = chosen.size();
  bool found = false;
  for (const Layer& layer : model.layers) {
    if (layer.value.name != name && layer.node != name) continue;
    chosen.insert(layer.index);
    found = true;
  }
  if (found) return {};
  const Result<regexp::Regexp> pattern = regexp::Regexp::compile(name, regexp::Extent::whole);
  if (!pattern) {
    return {Code::invalid_argument,
            "'" + name + "' is neither the name of a layer nor a valid pattern: " + pattern.error().message()};
  }
  for (const Layer& layer : model.layers) {
    if (!pattern->matches(layer.value.name) && (layer.node.empty() || !pattern->matches(layer.node))) continue;
    chosen.insert(layer.index);
    found = true;
  }
  if (found || chosen.size() > before) return {};
  std::vector<std::string> names;
  for (const Layer& layer : model.layers) {
    names.push_back(layer.value.name);
    if (!layer.node.empty() && layer.node != layer.value.name) names.push_back(layer.node);
  }
  return {Code::not_found, "no layer of '" + model.path + "' matches '" + name + "'" + base::nearest(name, names)};
}

Status add_op(const Description& model, const std::string& op, std::set<std::int64_t>& chosen) {
  std::set<std::string> types;
  bool found = false;
  for (const Layer& layer : model.layers) {
    types.insert(layer.op);
    if (layer.op != op) continue;
    chosen.insert(layer.index);
    found = true;
  }
  if (found) return {};
  return {Code::not_found, "'" + model.path + "' has no operation of type '" + op + "'; it has " +
                               base::enumerated(std::vector<std::string>(types.begin(), types.end()))};
}

}  // namespace

Result<std::vector<std::int64_t>> select_layers(const Description& model, const Selection& selection) {
  std::set<std::int64_t> chosen;
  const auto count = static_cast<std::int64_t>(model.layers.size());
  for (const std::string& name : selection.names) {
    if (Status added = add_named(model, name, chosen); !added) return added;
  }
  for (const std::int64_t index : selection.indices) {
    if (index < -count || index >= count) {
      return Status(Code::not_found, "there is no layer " + std::to_string(index) + " in '" + model.path +
                                         "', which has " + std::to_string(count) + (count == 1 ? " layer" : " layers") +
                                         ", counted from 0");
    }
    chosen.insert(index < 0 ? index + count : index);
  }
  for (const std::string& op : selection.ops) {
    if (Status added = add_op(model, op, chosen); !added) return added;
  }
  std::vector<std::int64_t> indices(chosen.begin(), chosen.end());
  if (selection.empty()) {
    for (std::int64_t i = 0; i < count; ++i) indices.push_back(i);
  }
  return indices;
}

}  // namespace sonde::inspect
