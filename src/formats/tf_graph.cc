#include "formats/tf_graph.h"

#include <algorithm>
#include <charconv>

#include "formats/tf_dtype.h"
#include "formats/tf_wire.h"

namespace sonde::formats::tf {
namespace {

using wire::decode_entry;
using wire::decode_shape;
using wire::get_text;
using wire::integer;
using wire::number32;
using wire::pbf_reader;
using wire::reader_of;
using wire::text;

Status malformed(const protozero::exception& error) {
  return {Code::corrupt, std::string("the graph is not well-formed protobuf: ") + error.what()};
}

NodeDef decode_node(std::string_view message) {
  NodeDef node;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): node.name = get_text(reader); break;
      case text(2): node.op = get_text(reader); break;
      case text(3): node.inputs.push_back(get_text(reader)); break;
      case text(5): node.attributes.push_back(decode_entry(get_text(reader))); break;
      default: reader.skip();
    }
  }
  std::ranges::stable_sort(node.attributes, {}, [](const auto& entry) { return entry.first; });
  return node;
}

ArgDef decode_argument(std::string_view message) {
  ArgDef argument;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): argument.name = get_text(reader); break;
      case integer(3): argument.type = reader.get_int32(); break;
      case text(5):
      case text(6): argument.several = !get_text(reader).empty(); break;
      default: reader.skip();
    }
  }
  return argument;
}

void decode_signature(std::string_view message, FunctionDef& function) {
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): function.name = get_text(reader); break;
      case text(2): function.inputs.push_back(decode_argument(get_text(reader))); break;
      case text(3): function.outputs.push_back(decode_argument(get_text(reader))); break;
      default: reader.skip();
    }
  }
}

FunctionDef decode_function(std::string_view message) {
  FunctionDef function;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(1): decode_signature(get_text(reader), function); break;
      case text(3): function.nodes.push_back(decode_node(get_text(reader))); break;
      case text(4): function.returns.insert(decode_entry(get_text(reader))); break;
      default: reader.skip();
    }
  }
  return function;
}

TensorDef decode_tensor(std::string_view message) {
  TensorDef tensor;
  tensor.message = message;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case integer(1): tensor.type = reader.get_int32(); break;
      case text(2): tensor.shape = decode_shape(get_text(reader)).value_or(std::vector<std::int64_t>{}); break;
      case text(4): tensor.content = get_text(reader); break;
      default: reader.skip();
    }
  }
  return tensor;
}

std::string_view function_name(std::string_view message) {
  std::string_view name;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (reader.tag_and_type() == text(1)) {
      name = get_text(reader);
    } else {
      reader.skip();
    }
  }
  return name;
}

// One field that AttrValue and its ListValue have in common.
void decode_value(pbf_reader& reader, Attribute& attribute) {
  using Kind = Attribute::Kind;
  const auto integers = [&](Kind kind, std::int64_t value) {
    attribute.kind = kind;
    attribute.integers.push_back(value);
  };
  switch (reader.tag_and_type()) {
    case text(2):
      attribute.kind = Kind::text;
      attribute.texts.push_back(get_text(reader));
      break;
    case integer(3): integers(Kind::integer, reader.get_int64()); break;
    case number32(4):
      attribute.kind = Kind::number;
      attribute.numbers.push_back(reader.get_float());
      break;
    case integer(5): integers(Kind::boolean, reader.get_bool() ? 1 : 0); break;
    case integer(6): integers(Kind::type, reader.get_int32()); break;
    case text(7):
      attribute.kind = Kind::shape;
      attribute.shapes.push_back(decode_shape(get_text(reader)));
      break;
    case text(8):
      attribute.kind = Kind::tensor;
      attribute.tensor = decode_tensor(get_text(reader));
      break;
    default: reader.skip();
  }
}

void decode_list(std::string_view message, Attribute& attribute) {
  using Kind = Attribute::Kind;
  attribute.list = true;
  const auto append = [&](Kind kind, const auto& values) {
    attribute.kind = kind;
    for (const auto value : values) attribute.integers.push_back(static_cast<std::int64_t>(value));
  };
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case text(3): append(Kind::integer, reader.get_packed_int64()); break;
      case text(4):
        attribute.kind = Kind::number;
        for (const float value : reader.get_packed_float()) attribute.numbers.push_back(value);
        break;
      case text(5): append(Kind::boolean, reader.get_packed_bool()); break;
      case text(6): append(Kind::type, reader.get_packed_int32()); break;
      case text(9):
        attribute.kind = Kind::function;
        attribute.texts.push_back(function_name(get_text(reader)));
        break;
      default: decode_value(reader, attribute);
    }
  }
}

// One value of the kind, or none.
std::optional<Attribute> single(const NodeDef& node, std::string_view name, Attribute::Kind kind) {
  const auto message = node.attribute(name);
  if (!message) return std::nullopt;
  Result<Attribute> attribute = decode_attribute(*message);
  if (!attribute || attribute->list || attribute->kind != kind) return std::nullopt;
  return *std::move(attribute);
}

// ---- Values of a TensorProto in fields of their type.

void append_integer(std::string& out, DType dtype, std::int64_t value) {
  switch (size_of(dtype)) {
    case 1: base::put(out, static_cast<std::uint8_t>(value)); break;
    case 2: base::put(out, static_cast<std::uint16_t>(value)); break;
    case 4: base::put(out, static_cast<std::uint32_t>(value)); break;
    default: base::put(out, static_cast<std::uint64_t>(value));
  }
}

// The number of the field that holds elements of a type.
std::uint32_t field_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32: return 5;
    case DType::f64: return 6;
    case DType::c64: return 9;
    case DType::c128: return 12;
    case DType::i64: return 10;
    case DType::boolean: return 11;
    case DType::f16:
    case DType::bf16: return 13;
    case DType::u32: return 16;
    case DType::u64: return 17;
    case DType::f8_e4m3:
    case DType::f8_e5m2: return 18;
    default: return 7;
  }
}

// Appends what one occurrence of that field holds: one value, or several that are packed.
void append_field(pbf_reader& reader, DType dtype, std::string& out) {
  using protozero::pbf_wire_type;
  const bool in_place = dtype == DType::f32 || dtype == DType::f64 || dtype == DType::c64 || dtype == DType::c128 ||
                        dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2;
  switch (reader.wire_type()) {
    case pbf_wire_type::varint: append_integer(out, dtype, reader.get_int64()); break;
    case pbf_wire_type::fixed32: base::put(out, reader.get_fixed32()); break;
    case pbf_wire_type::fixed64: base::put(out, reader.get_fixed64()); break;
    case pbf_wire_type::length_delimited:
      if (in_place) {
        out += get_text(reader);
      } else {
        for (const std::int64_t value : reader.get_packed_int64()) append_integer(out, dtype, value);
      }
      break;
    default: reader.skip();
  }
}

// A few bytes may stand for a tensor of this size at most.
constexpr std::uint64_t kLargestFill = std::uint64_t{1} << 30;

}  // namespace

std::optional<std::string_view> NodeDef::attribute(std::string_view key) const noexcept {
  const auto found = std::ranges::lower_bound(attributes, key, {}, [](const auto& entry) { return entry.first; });
  if (found == attributes.end() || found->first != key) return std::nullopt;
  return found->second;
}

Result<GraphDef> decode_graph(base::Bytes bytes) {
  GraphDef graph;
  try {
    for (pbf_reader reader = reader_of(bytes); reader.next();) {
      switch (reader.tag_and_type()) {
        case text(1): graph.nodes.push_back(decode_node(get_text(reader))); break;
        case text(2):
          for (pbf_reader library = reader_of(get_text(reader)); library.next();) {
            if (library.tag_and_type() == text(1)) {
              graph.functions.push_back(decode_function(get_text(library)));
            } else {
              library.skip();
            }
          }
          break;
        default: reader.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return malformed(error);
  }
  return graph;
}

Result<Attribute> decode_attribute(std::string_view message) {
  Attribute attribute;
  try {
    for (pbf_reader reader = reader_of(message); reader.next();) {
      switch (reader.tag_and_type()) {
        case text(1): decode_list(get_text(reader), attribute); break;
        case text(10):
          attribute.kind = Attribute::Kind::function;
          attribute.texts.push_back(function_name(get_text(reader)));
          break;
        default: decode_value(reader, attribute);
      }
    }
  } catch (const protozero::exception& error) {
    return malformed(error);
  }
  return attribute;
}

std::optional<std::int64_t> integer_attribute(const NodeDef& node, std::string_view name) {
  const auto found = single(node, name, Attribute::Kind::integer);
  return found ? std::optional(found->integers.back()) : std::nullopt;
}

std::optional<int> type_attribute(const NodeDef& node, std::string_view name) {
  const auto found = single(node, name, Attribute::Kind::type);
  return found ? std::optional(static_cast<int>(found->integers.back())) : std::nullopt;
}

std::optional<std::string_view> function_attribute(const NodeDef& node, std::string_view name) {
  const auto found = single(node, name, Attribute::Kind::function);
  return found ? std::optional(found->texts.back()) : std::nullopt;
}

std::optional<std::string_view> text_attribute(const NodeDef& node, std::string_view name) {
  const auto found = single(node, name, Attribute::Kind::text);
  return found ? std::optional(found->texts.back()) : std::nullopt;
}

std::optional<TensorDef> tensor_attribute(const NodeDef& node, std::string_view name) {
  const auto found = single(node, name, Attribute::Kind::tensor);
  return found ? found->tensor : std::nullopt;
}

std::vector<std::optional<std::vector<std::int64_t>>> output_shapes(const NodeDef& node) {
  const auto message = node.attribute("_output_shapes");
  if (!message) return {};
  Result<Attribute> attribute = decode_attribute(*message);
  if (!attribute) return {};
  return std::move(attribute->shapes);
}

std::optional<std::int64_t> element_count(const std::vector<std::int64_t>& shape) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) return 0;
    if (count > (std::int64_t{1} << 62) / size) return std::nullopt;
    count *= size;
  }
  return count;
}

Result<base::Bytes> tensor_bytes(const TensorDef& tensor, std::string& storage) {
  const auto dtype = dtype_of_tf(tensor.type);
  if (!dtype) return Status(Code::unsupported, "a tensor of type " + tf_dtype_text(tensor.type) + " has no numbers");
  const auto count = element_count(tensor.shape);
  const std::uint64_t element = size_of(*dtype);
  if (!count || static_cast<std::uint64_t>(*count) > (std::uint64_t{1} << 40) / element) {
    return Status(Code::corrupt, "a constant of the graph has an impossible shape");
  }
  const std::uint64_t expected = static_cast<std::uint64_t>(*count) * element;
  if (tensor.content.size() == expected) return base::as_bytes(tensor.content);
  if (!tensor.content.empty()) return Status(Code::corrupt, "a constant of the graph has too few or too many bytes");
  storage.clear();
  try {
    for (pbf_reader reader = reader_of(tensor.message); reader.next();) {
      if (reader.tag() == field_of(*dtype)) {
        append_field(reader, *dtype, storage);
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return malformed(error);
  }
  if (storage.size() > expected || storage.size() % element != 0) {
    return Status(Code::corrupt, "a constant of the graph has too many values");
  }
  if (expected > kLargestFill) {
    return Status(Code::unsupported, "a constant of the graph is one value repeated over more than 1 GiB");
  }
  // No value at all stands for zeros.
  if (storage.empty()) storage.assign(expected == 0 ? 0 : element, '\0');
  storage.reserve(expected);
  const std::string last = storage.substr(storage.size() - std::min<std::size_t>(storage.size(), element));
  while (storage.size() < expected) storage += last;
  return base::as_bytes(storage);
}

Result<std::vector<std::string_view>> tensor_strings(const TensorDef& tensor) {
  if (tensor.type != kTfString) return Status(Code::unsupported, "a tensor of numbers has no strings");
  std::vector<std::string_view> strings;
  try {
    for (pbf_reader reader = reader_of(tensor.message); reader.next();) {
      if (reader.tag_and_type() == text(8)) {
        strings.push_back(get_text(reader));
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return malformed(error);
  }
  return strings;
}

std::optional<TensorReference> parse_reference(std::string_view input) noexcept {
  if (input.starts_with('^')) return std::nullopt;
  TensorReference reference{input, {}, 0};
  const std::size_t colon = input.rfind(':');
  if (colon == std::string_view::npos) return reference;
  const std::string_view digits = input.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), reference.index);
  if (error != std::errc() || end != digits.data() + digits.size() || reference.index < 0) {
    return TensorReference{input, {}, 0};
  }
  reference.node = input.substr(0, colon);
  if (const std::size_t inner = reference.node.find(':'); inner != std::string_view::npos) {
    reference.output = reference.node.substr(inner + 1);
    reference.node = reference.node.substr(0, inner);
  }
  return reference;
}

}  // namespace sonde::formats::tf
