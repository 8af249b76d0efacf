// The structure of TensorFlow's GraphDef: nodes with their attributes, and the functions of its library.
//
//   GraphDef            node=1 repeated NodeDef, library=2 { function=1 repeated FunctionDef }
//   NodeDef             name=1, op=2, input=3 repeated string, attr=5 map<string, AttrValue>
//   FunctionDef         signature=1 OpDef, node_def=3 repeated NodeDef, ret=4 map<output, reference>
//   OpDef               name=1, input_arg=2 and output_arg=3 repeated ArgDef { name=1, type=3, type_attr=4,
//                       number_attr=5, type_list_attr=6 }
//   AttrValue           see formats/graph_def.h
//   TensorProto         dtype=1, tensor_shape=2, tensor_content=4 (little-endian, row-major), or values in a field of
//                       their type: half_val=13, float_val=5, double_val=6, int_val=7, string_val=8, scomplex_val=9,
//                       int64_val=10, bool_val=11, dcomplex_val=12, uint32_val=16, uint64_val=17, float8_val=18; the
//                       last value stands for all that are missing
//
// An input is "node", "node:1" or "^node" (a control dependency) in a graph. In a function it is "argument",
// "node:output:0", where `output` names an argument of the operation's definition, or "^node".
//
// Nothing is copied: texts and tensors are views of the bytes, and live as long as those.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::formats::tf {

struct NodeDef {
  std::string_view name;
  std::string_view op;
  std::vector<std::string_view> inputs;
  // Messages AttrValue, not decoded: constants are megabytes. Sorted by name.
  std::vector<std::pair<std::string_view, std::string_view>> attributes;

  // The message, or empty if there is no such attribute. Writers leave out attributes that have their default value.
  std::optional<std::string_view> attribute(std::string_view key) const noexcept;
};

struct ArgDef {
  std::string_view name;
  int type = 0;          // number of a type, formats/tf_dtype.h; 0: an attribute of the caller gives it
  bool several = false;  // a list of tensors
};

struct FunctionDef {
  std::string_view name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<NodeDef> nodes;
  std::map<std::string_view, std::string_view> returns;  // output -> reference in the body
};

struct GraphDef {
  std::vector<NodeDef> nodes;
  std::vector<FunctionDef> functions;
};
// Code::corrupt, with the reason, if the bytes are not well-formed. A graph without nodes is valid.
Result<GraphDef> decode_graph(base::Bytes bytes);

// A tensor of any type and rank.
struct TensorDef {
  int type = 0;
  std::vector<std::int64_t> shape;
  std::string_view content;  // tensor_content; empty if the values are in the fields below
  std::string_view message;  // the whole TensorProto
};

// The value of an attribute. A single value is a list of one in the field of its kind.
struct Attribute {
  enum class Kind : std::uint8_t { none, text, integer, number, boolean, type, shape, tensor, function };
  Kind kind = Kind::none;
  bool list = false;
  std::vector<std::string_view> texts;  // text; function: its name
  std::vector<std::int64_t> integers;   // integer, boolean, type
  std::vector<float> numbers;
  std::vector<std::optional<std::vector<std::int64_t>>> shapes;  // none: unknown rank; -1: unknown size
  std::optional<TensorDef> tensor;                               // the last one of a list
};
Result<Attribute> decode_attribute(std::string_view message);

// Of an attribute that holds one value of the kind; none if it is missing or of another kind.
std::optional<std::int64_t> integer_attribute(const NodeDef& node, std::string_view name);
std::optional<int> type_attribute(const NodeDef& node, std::string_view name);
std::optional<std::string_view> function_attribute(const NodeDef& node, std::string_view name);
std::optional<std::string_view> text_attribute(const NodeDef& node, std::string_view name);
std::optional<TensorDef> tensor_attribute(const NodeDef& node, std::string_view name);
// `_output_shapes`, which TensorFlow writes into functions; empty if it is missing.
std::vector<std::optional<std::vector<std::int64_t>>> output_shapes(const NodeDef& node);

// The number of elements; none if it is negative or over 2^62.
std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape) noexcept;

// The elements of a tensor of a numeric type, dense. `storage` holds them if they are not in `content` as they stand.
// Fails with Code::corrupt if the values do not fit the shape, and with `unsupported` for types without a DType.
Result<base::Bytes> tensor_bytes(const TensorDef& tensor, std::string& storage);
// The elements of a tensor of strings.
Result<std::vector<std::string_view>> tensor_strings(const TensorDef& tensor);

// The node and the index in an input of a graph: "a" is {a, 0}, "a:2" is {a, 2}; and none for "^a".
struct TensorReference {
  std::string_view node;
  std::string_view output;  // in functions only: "node:output:0"
  std::int64_t index = 0;
};
std::optional<TensorReference> parse_reference(std::string_view input) noexcept;

}  // namespace sonde::formats::tf
