// The graph of a network: nodes by name, in any order.
//
//   sonde::Graph graph;
//   graph.add({.name = "input", .op = "Placeholder", .shapes = {{-1, 28, 28, 1}}});
//   graph.add({.name = "conv/out", .op = "Conv2D", .inputs = {"input"}, .attributes = {{"strides", std::int64_t{1}}}});
//   recorder.graph(graph);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sonde/export.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde {

struct Node {
  using Attribute = std::variant<bool, std::int64_t, double, std::string, Shape, DType, std::vector<std::int64_t>>;

  std::string name;                      // slashes make groups
  std::string op;                        // "Conv2D", "Relu", ...
  std::vector<std::string> inputs = {};  // names of nodes; "name:1" for a second output
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  std::vector<Shape> shapes = {};  // of each output; -1 for a size that varies
  DType dtype = DType::f32;
  std::string device = {};
};

class Graph {
 public:
  // Inline everywhere, so that a program compiled with SONDE_DISABLED needs no library for it.
  [[gnu::always_inline]] Graph& add(Node node) {
    nodes_.push_back(std::move(node));
    return *this;
  }
  // Fails on an empty name, a name given twice, or an input that names no node. Recorder::graph calls it first.
#if !defined(SONDE_DISABLED)
  SONDE_API Status check() const;
#else
  [[gnu::always_inline]] Status check() const { return {}; }  // checks nothing, as in Policy::check
#endif

  const std::vector<Node>& nodes() const noexcept { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

}  // namespace sonde
