// ONNX: the structure of a saved model, without its numbers.
//
//   ModelProto   ir_version=1, producer_name=2, producer_version=3, graph=7, opset_import=8 { domain=1, version=2 },
//                metadata_props=14 { key=1, value=2 }, functions=25
//   GraphProto   node=1, name=2, initializer=5, input=11, output=12, value_info=13, sparse_initializer=15
//   NodeProto    input=1, output=2, name=3, op_type=4, attribute=5, domain=7, metadata_props=9
//   Attribute    name=1, f=2, i=3, s=4, t=5, g=6, floats=7, ints=8, strings=9, tensors=10, graphs=11, type=20
//   TensorProto  dims=1, data_type=2, float_data=4, int32_data=5, string_data=6, int64_data=7, name=8, raw_data=9,
//                double_data=10, uint64_data=11, external_data=13 { key=1, value=2 }, data_location=14 (1: external)
//   ValueInfo    name=1, type=2 { tensor_type=1 { elem_type=1, shape=2 { dim=1 { dim_value=1, dim_param=2 } } }, ... }
//
// A name of a value is the identity of a tensor: a node reads values by name, and an empty name is an input or output
// that is left out. A graph inside an attribute (the branches of If) may also read the values around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::onnx {

// All texts and bytes point into the file.
using Properties = std::vector<std::pair<std::string_view, std::string_view>>;

// A type of elements by its number in the file: "f32", "string", "i4"; "type 99" if it is unknown.
std::string type_text(std::int32_t type);
std::optional<DType> dtype_of(std::int32_t type) noexcept;
// The number of a type that files can hold.
std::int32_t type_number(DType dtype) noexcept;

// Where the bytes of an initializer are, if they are in another file.
struct External {
  std::string_view location;  // a path relative to the model's directory, as written
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // none: up to the end
};

// A constant tensor of the file. Its elements stay where they are.
struct Initializer {
  std::string_view name;
  std::int32_t type = 0;
  std::vector<std::int64_t> dims;
  base::Bytes raw;  // little-endian and dense; empty if the elements are in `external` or in typed fields
  std::optional<External> external;
  base::Bytes message;  // the whole TensorProto

  // -1 if a dimension is negative or the product too large.
  std::int64_t elements() const noexcept;
};

// What the file says about a value.
struct ValueInfo {
  std::string_view name;
  std::int32_t type = 0;   // 0: none is given
  std::string_view other;  // "sequence", "map", "optional" or "sparse tensor" instead of a tensor
  std::optional<std::vector<std::int64_t>> dims;  // -1: the input decides; none: not even the rank is known
  base::Bytes message;                            // the whole ValueInfoProto
};

struct Attribute {
  std::string_view name;
  std::int32_t type = 0;
  base::Bytes message;                      // the whole AttributeProto
  std::optional<Initializer> tensor;        // of type 4
  std::optional<std::int64_t> integer;      // of type 2
  std::optional<std::string_view> text;     // of type 3
  std::int64_t elements = 0;                // of a list of floats, integers or texts
  std::vector<std::string_view> subgraphs;  // names of the graphs in it
};

struct Node {
  std::string_view name;
  std::string_view op;
  std::string_view domain;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<Attribute> attributes;
  std::vector<std::string_view> outer;  // values around it that the graphs in its attributes read, each once
  Properties metadata;
  base::Bytes message;  // the whole NodeProto
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Initializer> initializers;
  std::vector<std::string_view> sparse;  // names of sparse initializers
  std::vector<ValueInfo> inputs;         // also of initializers, in old files
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;
};

struct Function {
  std::string_view name;
  std::string_view domain;
  base::Bytes message;  // the whole FunctionProto
};

struct Model {
  std::int64_t ir_version = 0;
  std::string_view producer;
  std::string_view producer_version;
  std::vector<std::pair<std::string_view, std::int64_t>> opsets;  // domain, "" is ONNX's own, and version
  Graph graph;
  std::vector<Function> functions;  // defined by the model itself
  Properties metadata;
};

// `corrupt` with the reason if the bytes are not a well-formed model, or if a node reads a value that no input,
// initializer or earlier node gives. Views live as long as the bytes.
Result<Model> decode(base::Bytes file);

// The path of the module that a node was exported from, if its metadata say so (torch's name scopes); otherwise empty.
std::string module_path(const Node& node);

}  // namespace sonde::onnx
