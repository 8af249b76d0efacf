#include "sonde/graph.h"

#include <set>
#include <string>
#include <string_view>

namespace sonde {
namespace {

// "name:1" and "^name" name the node `name`.
std::string_view node_of_input(std::string_view input) noexcept {
  if (input.starts_with('^')) input.remove_prefix(1);
  const std::size_t colon = input.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == input.size()) return input;
  const std::string_view output = input.substr(colon + 1);
  return output.find_first_not_of("0123456789") == std::string_view::npos ? input.substr(0, colon) : input;
}

}  // namespace

Status Graph::check() const {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::string& name = nodes_[i].name;
    if (name.empty()) {
      return {Code::invalid_argument, "node " + std::to_string(i) + " of the graph has no name; give it one"};
    }
    if (!names.insert(name).second) {
      return {Code::invalid_argument, "the graph has two nodes named '" + name + "'; names must differ"};
    }
  }
  for (const Node& node : nodes_) {
    for (const std::string& input : node.inputs) {
      if (!names.contains(input) && !names.contains(node_of_input(input))) {
        return {Code::invalid_argument,
                "input '" + input + "' of node '" + node.name + "' names no node of the graph; add that node"};
      }
    }
  }
  return {};
}

}  // namespace sonde
