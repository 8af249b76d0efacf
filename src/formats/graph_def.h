// The graph of a network as TensorFlow's GraphDef, which TensorBoard's graph page shows.
//
//   GraphDef   node=1 repeated, versions=4 { producer=1 }
//   NodeDef    name=1, op=2, input=3 repeated string, device=4, attr=5 map<string, AttrValue>
//   AttrValue  one of list=1, s=2 bytes, i=3, f=4 float, b=5, type=6 (formats/tf_dtype.h), shape=7, tensor=8,
//              placeholder=9, func=10 { name=1, attr=2 }; a list holds the same kinds, repeated, under the same numbers
//              (but func=9)
//   TensorShapeProto  dim=2 repeated { size=1 }, unknown_rank=3
//
// Attributes are written in the order of their keys. `_output_shapes` comes from Node::shapes; TensorBoard prints it on
// the edges. `dtype` (nodes without inputs) or `T` (the others) comes from Node::dtype. Attributes of the node itself
// take precedence.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sonde/graph.h"
#include "sonde/status.h"

namespace sonde::formats {

std::string encode_graph_def(const Graph& graph);

// A node of any GraphDef. Views live as long as the bytes.
struct NodeInfo {
  std::string_view name;
  std::string_view op;
  std::vector<std::string_view> inputs;  // "name", "name:1", "^control"
  std::string_view device;
  std::vector<std::pair<std::string_view, std::string>> attributes;  // as text: "[1, 28, 28, 1]", "f32", "true"
};
// Code::corrupt, with the reason, if the bytes are not a well-formed GraphDef. Functions of its library are left out.
Result<std::vector<NodeInfo>> decode_graph_def(base::Bytes bytes);

}  // namespace sonde::formats
