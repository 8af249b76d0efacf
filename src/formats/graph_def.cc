#include "formats/graph_def.h"

#include <charconv>
#include <map>
#include <optional>

#include "formats/tf_dtype.h"
#include "formats/tfevents_value.h"
#include "formats/wire.h"
#include "formats/wire_reader.h"

namespace sonde::formats {

namespace {

// ---- Writing.

std::string encode_shape_proto(const Shape& shape) {
  if (shape.valid()) return tfevents::encode_shape({shape.begin(), shape.end()});
  std::string unknown;
  wire::put_integer(unknown, 3, 1);
  return unknown;
}

// AttrValue: one alternative, written even if it is the default.
std::string encode_attribute(const Node::Attribute& attribute) {
  std::string value;
  struct Visitor {
    std::string& out;
    void operator()(bool flag) const { wire::put_integer(out, 5, flag ? 1 : 0); }
    void operator()(std::int64_t integer) const { wire::put_integer(out, 3, integer); }
    void operator()(double number) const { wire::put_float(out, 4, static_cast<float>(number)); }
    void operator()(const std::string& text) const { wire::put_bytes(out, 2, text); }
    void operator()(const Shape& shape) const { wire::put_bytes(out, 7, encode_shape_proto(shape)); }
    void operator()(DType dtype) const { wire::put_integer(out, 6, tf_dtype(dtype)); }
    void operator()(const std::vector<std::int64_t>& integers) const {
      std::string packed;
      for (const std::int64_t integer : integers) base::put_varint(packed, static_cast<std::uint64_t>(integer));
      std::string list;
      wire::put_bytes_unless_empty(list, 3, packed);
      wire::put_bytes(out, 1, list);
    }
  };
  std::visit(Visitor{value}, attribute);
  return value;
}

std::string encode_node(const Node& node) {
  std::map<std::string_view, std::string> attributes;
  attributes[node.inputs.empty() ? "dtype" : "T"] = encode_attribute(node.dtype);
  if (!node.shapes.empty()) {
    std::string list;
    for (const Shape& shape : node.shapes) wire::put_bytes(list, 7, encode_shape_proto(shape));
    wire::put_bytes(attributes["_output_shapes"], 1, list);
  }
  for (const auto& [key, attribute] : node.attributes) attributes[key] = encode_attribute(attribute);

  std::string message;
  wire::put_bytes_unless_empty(message, 1, node.name);
  wire::put_bytes_unless_empty(message, 2, node.op);
  for (const std::string& input : node.inputs) wire::put_bytes(message, 3, input);
  wire::put_bytes_unless_empty(message, 4, node.device);
  for (const auto& [key, value] : attributes) {
    std::string entry;
    wire::put_bytes(entry, 1, key);
    wire::put_bytes(entry, 2, value);
    wire::put_bytes(message, 5, entry);
  }
  return message;
}

// ---- Reading.

using wire::get_text;
using wire::integer;
using wire::number32;
using wire::pbf_reader;
using wire::reader_of;
using wire::text;

std::string dtype_text(std::int64_t number_of_type) {
  if (number_of_type == kTfString) return "string";
  if (number_of_type > 0 && number_of_type < 1000) {
    if (const auto dtype = dtype_of_tf(static_cast<int>(number_of_type))) return std::string(to_string(*dtype));
  }
  return "dtype " + std::to_string(number_of_type);
}

std::string float_text(float value) {
  char text_of[32];
  const auto result = std::to_chars(text_of, text_of + sizeof text_of, value);
  return {text_of, result.ptr};
}

void append_item(std::string& list, std::string_view item) {
  if (list.size() > 1) list += ", ";
  list += item;
}

std::string shape_text(std::string_view message) {
  std::string shape = "[";
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (reader.tag_and_type() == text(2)) {
      std::int64_t size = 0;
      for (pbf_reader dim = reader_of(get_text(reader)); dim.next();) {
        if (dim.tag_and_type() == integer(1)) {
          size = dim.get_int64();
        } else {
          dim.skip();
        }
      }
      append_item(shape, std::to_string(size));
    } else if (reader.tag_and_type() == integer(3)) {
      if (reader.get_bool()) return "[?]";
    } else {
      reader.skip();
    }
  }
  return shape + "]";
}

// Only the type of a constant: its values may be megabytes.
std::string tensor_text(std::string_view message) {
  std::int64_t dtype = 0;
  std::string shape = "[]";
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (reader.tag_and_type() == integer(1)) {
      dtype = reader.get_int32();
    } else if (reader.tag_and_type() == text(2)) {
      shape = shape_text(get_text(reader));
    } else {
      reader.skip();
    }
  }
  return "tensor " + dtype_text(dtype) + shape;
}

std::string function_name(std::string_view message) {
  std::string name;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (reader.tag_and_type() == text(1)) {
      name = get_text(reader);
    } else {
      reader.skip();
    }
  }
  return name;
}

// One field of AttrValue or of its ListValue, which have mostly the same numbers. Empty: another field; it was skipped.
std::optional<std::string> attribute_field(pbf_reader& reader) {
  switch (reader.tag_and_type()) {
    case text(2): return std::string(get_text(reader));
    case integer(3): return std::to_string(reader.get_int64());
    case number32(4): return float_text(reader.get_float());
    case integer(5): return reader.get_bool() ? "true" : "false";
    case integer(6): return dtype_text(reader.get_int32());
    case text(7): return shape_text(get_text(reader));
    case text(8): return tensor_text(get_text(reader));
    default: reader.skip(); return std::nullopt;
  }
}

// Packed numbers of a list; false if the field is none of them.
bool append_packed(pbf_reader& reader, std::string& list) {
  switch (reader.tag_and_type()) {
    case text(3):
      for (const std::int64_t value : reader.get_packed_int64()) append_item(list, std::to_string(value));
      return true;
    case text(4):
      for (const float value : reader.get_packed_float()) append_item(list, float_text(value));
      return true;
    case text(5):
      for (const bool value : reader.get_packed_bool()) append_item(list, value ? "true" : "false");
      return true;
    case text(6):
      for (const std::int32_t value : reader.get_packed_int32()) append_item(list, dtype_text(value));
      return true;
    default: return false;
  }
}

std::string list_text(std::string_view message) {
  std::string list = "[";
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (append_packed(reader, list)) continue;
    if (reader.tag_and_type() == text(9)) {
      append_item(list, function_name(get_text(reader)));
    } else if (const auto item = attribute_field(reader)) {
      append_item(list, *item);
    }
  }
  return list + "]";
}

std::string attribute_text(std::string_view message) {
  std::string result;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): result = list_text(get_text(reader)); break;
      case text(9): result = get_text(reader); break;
      case text(10): result = function_name(get_text(reader)); break;
      default:
        if (auto field = attribute_field(reader)) result = *std::move(field);
    }
  }
  return result;
}

std::pair<std::string_view, std::string> decode_attribute(std::string_view message) {
  std::pair<std::string_view, std::string> attribute;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): attribute.first = get_text(reader); break;
      case text(2): attribute.second = attribute_text(get_text(reader)); break;
      default: reader.skip();
    }
  }
  return attribute;
}

NodeInfo decode_node(std::string_view message) {
  NodeInfo node;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): node.name = get_text(reader); break;
      case text(2): node.op = get_text(reader); break;
      case text(3): node.inputs.push_back(get_text(reader)); break;
      case text(4): node.device = get_text(reader); break;
      case text(5): node.attributes.push_back(decode_attribute(get_text(reader))); break;
      default: reader.skip();
    }
  }
  return node;
}

}  // namespace

std::string encode_graph_def(const Graph& graph) {
  std::string message;
  for (const Node& node : graph.nodes()) wire::put_bytes(message, 1, encode_node(node));
  std::string versions;
  wire::put_integer(versions, 1, 22);  // a producer that every reader takes
  wire::put_bytes(message, 4, versions);
  return message;
}

Result<std::vector<NodeInfo>> decode_graph_def(base::Bytes bytes) {
  std::vector<NodeInfo> nodes;
  try {
    for (pbf_reader reader = reader_of(base::as_text(bytes)); reader.next();) {
      if (reader.tag_and_type() == text(1)) {
        nodes.push_back(decode_node(get_text(reader)));
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return Status(Code::corrupt, std::string("the graph is not well-formed protobuf: ") + error.what());
  }
  return nodes;
}

}  // namespace sonde::formats
