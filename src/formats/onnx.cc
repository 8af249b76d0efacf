#include "formats/onnx.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <unordered_set>

#include "formats/wire_reader.h"
#include "tensor/tensor_data.h"

namespace sonde::onnx {
namespace {

using wire::get_bytes;
using wire::get_text;
using wire::integer;
using wire::pbf_reader;
using wire::reader_of;
using wire::text;

// Graphs in attributes may hold nodes with graphs; deeper ones than any exporter writes are an attack on the stack.
constexpr int kMaxDepth = 32;

// Ends decoding, like protozero's own exceptions.
struct Invalid : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Type {
  std::string_view name;
  std::optional<DType> dtype;
};
// By number. The types without DType are shown by name only.
constexpr std::array<Type, 27> kTypes = {{{"unknown", {}},
                                          {"f32", DType::f32},
                                          {"u8", DType::u8},
                                          {"i8", DType::i8},
                                          {"u16", DType::u16},
                                          {"i16", DType::i16},
                                          {"i32", DType::i32},
                                          {"i64", DType::i64},
                                          {"string", {}},
                                          {"bool", DType::boolean},
                                          {"f16", DType::f16},
                                          {"f64", DType::f64},
                                          {"u32", DType::u32},
                                          {"u64", DType::u64},
                                          {"c64", DType::c64},
                                          {"c128", DType::c128},
                                          {"bf16", DType::bf16},
                                          {"f8_e4m3", DType::f8_e4m3},
                                          {"f8_e4m3fnuz", {}},
                                          {"f8_e5m2", DType::f8_e5m2},
                                          {"f8_e5m2fnuz", {}},
                                          {"u4", {}},
                                          {"i4", {}},
                                          {"f4_e2m1", {}},
                                          {"f8_e8m0", {}},
                                          {"u2", {}},
                                          {"i2", {}}}};

std::pair<std::string_view, std::string_view> decode_property(pbf_reader reader) {
  std::pair<std::string_view, std::string_view> property;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case text(1): property.first = get_text(reader); break;
      case text(2): property.second = get_text(reader); break;
      default: reader.skip();
    }
  }
  return property;
}

void add_dims(pbf_reader& reader, std::vector<std::int64_t>& dims) {
  for (const std::int64_t dim : reader.get_packed_int64()) dims.push_back(dim);
}

std::uint64_t number_in(std::string_view digits, std::string_view what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw Invalid("the " + std::string(what) + " of external data is not a number");
  }
  return value;
}

void add_external(pbf_reader entry, External& external) {
  const auto [key, value] = decode_property(entry);
  if (key == "location") external.location = value;
  if (key == "offset") external.offset = number_in(value, key);
  if (key == "length") external.length = number_in(value, key);
}

Initializer decode_tensor(base::Bytes message) {
  Initializer made;
  made.message = message;
  External external;
  bool elsewhere = false;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case integer(1): made.dims.push_back(reader.get_int64()); break;
      case text(1): add_dims(reader, made.dims); break;
      case integer(2): made.type = reader.get_int32(); break;
      case text(8): made.name = get_text(reader); break;
      case text(9): made.raw = get_bytes(reader); break;
      case text(13): add_external(reader.get_message(), external); break;
      case integer(14): elsewhere = reader.get_int32() == 1; break;
      default: reader.skip();
    }
  }
  if (elsewhere) made.external = external;
  return made;
}

std::string_view sparse_name(pbf_reader reader) {
  while (reader.next(1, wire::pbf_wire_type::length_delimited)) return decode_tensor(get_bytes(reader)).name;
  return {};
}

std::int64_t decode_dim(pbf_reader reader) {
  std::int64_t size = -1;
  while (reader.next()) {
    if (reader.tag_and_type() == integer(1)) {
      size = reader.get_int64();
    } else {
      reader.skip();
    }
  }
  return size < 0 ? -1 : size;
}

void decode_tensor_type(pbf_reader reader, ValueInfo& info) {
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case integer(1): info.type = reader.get_int32(); break;
      case text(2): {
        info.dims.emplace();
        pbf_reader shape = reader.get_message();
        while (shape.next()) {
          if (shape.tag_and_type() == text(1)) {
            info.dims->push_back(decode_dim(shape.get_message()));
          } else {
            shape.skip();
          }
        }
        break;
      }
      default: reader.skip();
    }
  }
}

void decode_type(pbf_reader reader, ValueInfo& info) {
  while (reader.next()) {
    const std::uint32_t field = reader.tag_and_type();
    if (field == text(1)) {
      decode_tensor_type(reader.get_message(), info);
      continue;
    }
    if (field == text(4)) info.other = "sequence";
    if (field == text(5)) info.other = "map";
    if (field == text(8)) info.other = "sparse tensor";
    if (field == text(9)) info.other = "optional";
    reader.skip();
  }
}

ValueInfo decode_value_info(base::Bytes message) {
  ValueInfo info;
  info.message = message;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): info.name = get_text(reader); break;
      case text(2): decode_type(reader.get_message(), info); break;
      default: reader.skip();
    }
  }
  return info;
}

using Names = std::unordered_set<std::string_view>;
void collect_outer(base::Bytes graph, std::vector<std::string_view>& outer, std::vector<std::string_view>& names,
                   int depth);

// Elements of a repeated field that may be packed.
template <class Packed>
std::int64_t count_of(const Packed& packed) {
  return static_cast<std::int64_t>(packed.size());
}

Attribute decode_attribute(base::Bytes message, std::vector<std::string_view>& outer, int depth) {
  Attribute made;
  made.message = message;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): made.name = get_text(reader); break;
      case integer(3): made.integer = reader.get_int64(); break;
      case text(4): made.text = get_text(reader); break;
      case text(5): made.tensor = decode_tensor(get_bytes(reader)); break;
      case text(6):
      case text(11): collect_outer(get_bytes(reader), outer, made.subgraphs, depth + 1); break;
      case text(7): made.elements += count_of(reader.get_packed_float()); break;
      case text(8): made.elements += count_of(reader.get_packed_int64()); break;
      case wire::number32(7):
      case integer(8):
      case text(9): {
        ++made.elements;
        reader.skip();
        break;
      }
      case integer(20): made.type = reader.get_int32(); break;
      default: reader.skip();
    }
  }
  return made;
}

Node decode_node(base::Bytes message, int depth) {
  Node node;
  node.message = message;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): node.inputs.push_back(get_text(reader)); break;
      case text(2): node.outputs.push_back(get_text(reader)); break;
      case text(3): node.name = get_text(reader); break;
      case text(4): node.op = get_text(reader); break;
      case text(5): node.attributes.push_back(decode_attribute(get_bytes(reader), node.outer, depth)); break;
      case text(7): node.domain = get_text(reader); break;
      case text(9): node.metadata.push_back(decode_property(reader.get_message())); break;
      default: reader.skip();
    }
  }
  std::ranges::sort(node.outer);
  node.outer.erase(std::ranges::unique(node.outer).begin(), node.outer.end());
  return node;
}

// Adds the values that a graph in an attribute reads and does not define itself, and the graph's name.
void collect_outer(base::Bytes graph, std::vector<std::string_view>& outer, std::vector<std::string_view>& names,
                   int depth) {
  if (depth > kMaxDepth) throw Invalid("its graphs are nested too deep");
  Names defined;
  std::vector<std::string_view> read;
  std::string_view name;
  for (pbf_reader reader = reader_of(graph); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): {
        const Node node = decode_node(get_bytes(reader), depth);
        read.insert(read.end(), node.inputs.begin(), node.inputs.end());
        read.insert(read.end(), node.outer.begin(), node.outer.end());
        defined.insert(node.outputs.begin(), node.outputs.end());
        break;
      }
      case text(2): name = get_text(reader); break;
      case text(5): defined.insert(decode_tensor(get_bytes(reader)).name); break;
      case text(11): defined.insert(decode_value_info(get_bytes(reader)).name); break;
      case text(12): read.push_back(decode_value_info(get_bytes(reader)).name); break;
      case text(15): defined.insert(sparse_name(reader.get_message())); break;
      default: reader.skip();
    }
  }
  names.push_back(name);
  for (const std::string_view value : read) {
    if (!value.empty() && !defined.contains(value)) outer.push_back(value);
  }
}

Graph decode_graph(pbf_reader reader) {
  Graph graph;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case text(1): graph.nodes.push_back(decode_node(get_bytes(reader), 0)); break;
      case text(2): graph.name = get_text(reader); break;
      case text(5): graph.initializers.push_back(decode_tensor(get_bytes(reader))); break;
      case text(11): graph.inputs.push_back(decode_value_info(get_bytes(reader))); break;
      case text(12): graph.outputs.push_back(decode_value_info(get_bytes(reader))); break;
      case text(13): graph.values.push_back(decode_value_info(get_bytes(reader))); break;
      case text(15): graph.sparse.push_back(sparse_name(reader.get_message())); break;
      default: reader.skip();
    }
  }
  return graph;
}

std::pair<std::string_view, std::int64_t> decode_opset(pbf_reader reader) {
  std::pair<std::string_view, std::int64_t> opset;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case text(1): opset.first = get_text(reader); break;
      case integer(2): opset.second = reader.get_int64(); break;
      default: reader.skip();
    }
  }
  return opset;
}

Function decode_function(base::Bytes message) {
  Function function;
  function.message = message;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): function.name = get_text(reader); break;
      case text(10): function.domain = get_text(reader); break;
      default: reader.skip();
    }
  }
  return function;
}

std::string title(const Node& node) {
  return std::string(node.op) + (node.name.empty() ? "" : " '" + std::string(node.name) + "'");
}

// Every value is given before it is read, and once.
Status check_order(const Graph& graph) {
  Names given(graph.sparse.begin(), graph.sparse.end());
  for (const Initializer& each : graph.initializers) given.insert(each.name);
  for (const ValueInfo& each : graph.inputs) given.insert(each.name);
  const auto missing = [&given](std::string_view value) { return !value.empty() && !given.contains(value); };
  for (const Node& node : graph.nodes) {
    for (const auto* read : {&node.inputs, &node.outer}) {
      const auto found = std::ranges::find_if(*read, missing);
      if (found == read->end()) continue;
      return {Code::corrupt,
              "its node " + title(node) + " reads '" + std::string(*found) + "', which nothing before it gives"};
    }
    for (const std::string_view output : node.outputs) {
      if (!output.empty() && !given.insert(output).second) {
        return {Code::corrupt,
                "its node " + title(node) + " gives '" + std::string(output) + "', which exists already"};
      }
    }
  }
  const auto absent =
      std::ranges::find_if(graph.outputs, [&](const ValueInfo& output) { return missing(output.name); });
  if (absent == graph.outputs.end()) return {};
  return {Code::corrupt, "no node gives its output '" + std::string(absent->name) + "'"};
}

Result<Model> decode_model(base::Bytes file) {
  Model model;
  bool has_graph = false;
  for (pbf_reader reader = reader_of(file); reader.next();) {
    switch (reader.tag_and_type()) {
      case integer(1): model.ir_version = reader.get_int64(); break;
      case text(2): model.producer = get_text(reader); break;
      case text(3): model.producer_version = get_text(reader); break;
      case text(7):
        model.graph = decode_graph(reader.get_message());
        has_graph = true;
        break;
      case text(8): model.opsets.push_back(decode_opset(reader.get_message())); break;
      case text(14): model.metadata.push_back(decode_property(reader.get_message())); break;
      case text(25): model.functions.push_back(decode_function(get_bytes(reader))); break;
      default: reader.skip();
    }
  }
  if (!has_graph || model.ir_version <= 0) return Status(Code::corrupt, "it has no graph");
  if (Status order = check_order(model.graph); !order) return order;
  return model;
}

}  // namespace

std::string type_text(std::int32_t type) {
  if (type >= 0 && static_cast<std::size_t>(type) < kTypes.size()) {
    return std::string(kTypes[static_cast<std::size_t>(type)].name);
  }
  return "type " + std::to_string(type);
}

std::optional<DType> dtype_of(std::int32_t type) noexcept {
  if (type < 0 || static_cast<std::size_t>(type) >= kTypes.size()) return {};
  return kTypes[static_cast<std::size_t>(type)].dtype;
}

std::int32_t type_number(DType dtype) noexcept {
  const auto found = std::ranges::find_if(kTypes, [&](const Type& type) { return type.dtype == dtype; });
  return static_cast<std::int32_t>(found - kTypes.begin());
}

std::int64_t Initializer::elements() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return -1;
    if (dim != 0 && count > (std::int64_t{1} << 62) / dim) return -1;
    count *= dim;
  }
  return count;
}

Result<Model> decode(base::Bytes file) {
  try {
    return decode_model(file);
  } catch (const protozero::exception&) {
    return Status(Code::corrupt, "it is damaged or truncated");
  } catch (const Invalid& error) {
    return Status(Code::corrupt, error.what());
  }
}

std::string module_path(const Node& node) {
  const auto found = std::ranges::find(node.metadata, "pkg.torch.onnx.name_scopes", &Properties::value_type::first);
  if (found == node.metadata.end()) return {};
  // A list as Python prints it: ['', 'encoder', 'encoder.layers.0', 'linear']. The last text is the node itself.
  std::vector<std::string> scopes;
  std::string_view rest = found->second;
  for (std::size_t begin = rest.find_first_of("'\""); begin != std::string_view::npos;
       begin = rest.find_first_of("'\"")) {
    const std::size_t end = rest.find(rest[begin], begin + 1);
    if (end == std::string_view::npos) break;
    scopes.emplace_back(rest.substr(begin + 1, end - begin - 1));
    rest.remove_prefix(end + 1);
  }
  return scopes.size() < 2 ? "" : scopes[scopes.size() - 2];
}

}  // namespace sonde::onnx
