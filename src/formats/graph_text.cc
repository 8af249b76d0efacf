#include "formats/graph_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/tf_dtype.h"
#include "formats/wire_reader.h"

namespace sonde::formats {
namespace {

using wire::get_text;
using wire::pbf_reader;
using wire::pbf_wire_type;
using wire::reader_of;

// ---- What TensorFlow's .proto files define.

enum class Type : std::uint8_t {
  // values
  i32,  // also enums other than DataType
  i64,
  u32,
  u64,
  fixed64,
  boolean,
  number,  // float
  real,    // double
  dtype,
  text,  // also bytes
  // messages
  graph,
  node,
  attribute,
  list,
  tensor,
  shape,
  dimension,
  resource,
  typed_shape,
  variant,
  name_attributes,
  node_debug,
  full_type,
  versions,
  library,
  function,
  gradient,
  registered_gradient,
  argument_attributes,
  operation,
  argument,
  attribute_definition,
  deprecation,
  debug,
  place,
  trace,
  // entries of maps, named after key and value
  text_attribute,
  text_text,
  u32_attributes,
  u32_u32,
  fixed64_place,
  fixed64_trace,
  text_trace,
  text_fixed64,
};
constexpr bool is_message(Type type) noexcept { return type >= Type::graph; }

enum class How : std::uint8_t {
  once,
  choice,  // once, and all fields of the message that say so exclude each other
  many,
};

struct Field {
  Type owner;
  std::uint32_t number;
  std::string_view name;
  Type type;
  How how = How::once;
};

// By owner and number.
constexpr Field kFields[] = {
    {Type::graph, 1, "node", Type::node, How::many},
    {Type::graph, 2, "library", Type::library},
    {Type::graph, 3, "version", Type::i32},
    {Type::graph, 4, "versions", Type::versions},
    {Type::graph, 5, "debug_info", Type::debug},
    {Type::node, 1, "name", Type::text},
    {Type::node, 2, "op", Type::text},
    {Type::node, 3, "input", Type::text, How::many},
    {Type::node, 4, "device", Type::text},
    {Type::node, 5, "attr", Type::text_attribute, How::many},
    {Type::node, 6, "experimental_debug_info", Type::node_debug},
    {Type::node, 7, "experimental_type", Type::full_type},
    {Type::attribute, 1, "list", Type::list, How::choice},
    {Type::attribute, 2, "s", Type::text, How::choice},
    {Type::attribute, 3, "i", Type::i64, How::choice},
    {Type::attribute, 4, "f", Type::number, How::choice},
    {Type::attribute, 5, "b", Type::boolean, How::choice},
    {Type::attribute, 6, "type", Type::dtype, How::choice},
    {Type::attribute, 7, "shape", Type::shape, How::choice},
    {Type::attribute, 8, "tensor", Type::tensor, How::choice},
    {Type::attribute, 9, "placeholder", Type::text, How::choice},
    {Type::attribute, 10, "func", Type::name_attributes, How::choice},
    {Type::list, 2, "s", Type::text, How::many},
    {Type::list, 3, "i", Type::i64, How::many},
    {Type::list, 4, "f", Type::number, How::many},
    {Type::list, 5, "b", Type::boolean, How::many},
    {Type::list, 6, "type", Type::dtype, How::many},
    {Type::list, 7, "shape", Type::shape, How::many},
    {Type::list, 8, "tensor", Type::tensor, How::many},
    {Type::list, 9, "func", Type::name_attributes, How::many},
    {Type::tensor, 1, "dtype", Type::dtype},
    {Type::tensor, 2, "tensor_shape", Type::shape},
    {Type::tensor, 3, "version_number", Type::i32},
    {Type::tensor, 4, "tensor_content", Type::text},
    {Type::tensor, 5, "float_val", Type::number, How::many},
    {Type::tensor, 6, "double_val", Type::real, How::many},
    {Type::tensor, 7, "int_val", Type::i32, How::many},
    {Type::tensor, 8, "string_val", Type::text, How::many},
    {Type::tensor, 9, "scomplex_val", Type::number, How::many},
    {Type::tensor, 10, "int64_val", Type::i64, How::many},
    {Type::tensor, 11, "bool_val", Type::boolean, How::many},
    {Type::tensor, 12, "dcomplex_val", Type::real, How::many},
    {Type::tensor, 13, "half_val", Type::i32, How::many},
    {Type::tensor, 14, "resource_handle_val", Type::resource, How::many},
    {Type::tensor, 15, "variant_val", Type::variant, How::many},
    {Type::tensor, 16, "uint32_val", Type::u32, How::many},
    {Type::tensor, 17, "uint64_val", Type::u64, How::many},
    {Type::tensor, 18, "float8_val", Type::text},
    {Type::shape, 2, "dim", Type::dimension, How::many},
    {Type::shape, 3, "unknown_rank", Type::boolean},
    {Type::dimension, 1, "size", Type::i64},
    {Type::dimension, 2, "name", Type::text},
    {Type::resource, 1, "device", Type::text},
    {Type::resource, 2, "container", Type::text},
    {Type::resource, 3, "name", Type::text},
    {Type::resource, 4, "hash_code", Type::u64},
    {Type::resource, 5, "maybe_type_name", Type::text},
    {Type::resource, 6, "dtypes_and_shapes", Type::typed_shape, How::many},
    {Type::typed_shape, 1, "dtype", Type::dtype},
    {Type::typed_shape, 2, "shape", Type::shape},
    {Type::variant, 1, "type_name", Type::text},
    {Type::variant, 2, "metadata", Type::text},
    {Type::variant, 3, "tensors", Type::tensor, How::many},
    {Type::name_attributes, 1, "name", Type::text},
    {Type::name_attributes, 2, "attr", Type::text_attribute, How::many},
    {Type::node_debug, 1, "original_node_names", Type::text, How::many},
    {Type::node_debug, 2, "original_func_names", Type::text, How::many},
    {Type::full_type, 1, "type_id", Type::i32},
    {Type::full_type, 2, "args", Type::full_type, How::many},
    {Type::full_type, 3, "s", Type::text, How::choice},
    {Type::full_type, 4, "i", Type::i64, How::choice},
    {Type::versions, 1, "producer", Type::i32},
    {Type::versions, 2, "min_consumer", Type::i32},
    {Type::versions, 3, "bad_consumers", Type::i32, How::many},
    {Type::library, 1, "function", Type::function, How::many},
    {Type::library, 2, "gradient", Type::gradient, How::many},
    {Type::library, 3, "registered_gradients", Type::registered_gradient, How::many},
    {Type::function, 1, "signature", Type::operation},
    {Type::function, 3, "node_def", Type::node, How::many},
    {Type::function, 4, "ret", Type::text_text, How::many},
    {Type::function, 5, "attr", Type::text_attribute, How::many},
    {Type::function, 6, "control_ret", Type::text_text, How::many},
    {Type::function, 7, "arg_attr", Type::u32_attributes, How::many},
    {Type::function, 8, "resource_arg_unique_id", Type::u32_u32, How::many},
    {Type::gradient, 1, "function_name", Type::text},
    {Type::gradient, 2, "gradient_func", Type::text},
    {Type::registered_gradient, 1, "gradient_func", Type::text},
    {Type::registered_gradient, 2, "registered_op_type", Type::text},
    {Type::argument_attributes, 1, "attr", Type::text_attribute, How::many},
    {Type::operation, 1, "name", Type::text},
    {Type::operation, 2, "input_arg", Type::argument, How::many},
    {Type::operation, 3, "output_arg", Type::argument, How::many},
    {Type::operation, 4, "attr", Type::attribute_definition, How::many},
    {Type::operation, 5, "summary", Type::text},
    {Type::operation, 6, "description", Type::text},
    {Type::operation, 8, "deprecation", Type::deprecation},
    {Type::operation, 16, "is_aggregate", Type::boolean},
    {Type::operation, 17, "is_stateful", Type::boolean},
    {Type::operation, 18, "is_commutative", Type::boolean},
    {Type::operation, 19, "allows_uninitialized_input", Type::boolean},
    {Type::operation, 20, "control_output", Type::text, How::many},
    {Type::operation, 21, "is_distributed_communication", Type::boolean},
    {Type::argument, 1, "name", Type::text},
    {Type::argument, 2, "description", Type::text},
    {Type::argument, 3, "type", Type::dtype},
    {Type::argument, 4, "type_attr", Type::text},
    {Type::argument, 5, "number_attr", Type::text},
    {Type::argument, 6, "type_list_attr", Type::text},
    {Type::argument, 7, "handle_data", Type::typed_shape, How::many},
    {Type::argument, 16, "is_ref", Type::boolean},
    {Type::argument, 17, "experimental_full_type", Type::full_type},
    {Type::attribute_definition, 1, "name", Type::text},
    {Type::attribute_definition, 2, "type", Type::text},
    {Type::attribute_definition, 3, "default_value", Type::attribute},
    {Type::attribute_definition, 4, "description", Type::text},
    {Type::attribute_definition, 5, "has_minimum", Type::boolean},
    {Type::attribute_definition, 6, "minimum", Type::i64},
    {Type::attribute_definition, 7, "allowed_values", Type::attribute},
    {Type::deprecation, 1, "version", Type::i32},
    {Type::deprecation, 2, "explanation", Type::text},
    {Type::debug, 1, "files", Type::text, How::many},
    {Type::debug, 2, "traces", Type::text_trace, How::many},
    {Type::debug, 4, "frames_by_id", Type::fixed64_place, How::many},
    {Type::debug, 5, "name_to_trace_id", Type::text_fixed64, How::many},
    {Type::debug, 6, "traces_by_id", Type::fixed64_trace, How::many},
    {Type::place, 1, "file_index", Type::i32},
    {Type::place, 2, "line", Type::i32},
    {Type::place, 3, "col", Type::i32},
    {Type::place, 4, "func", Type::text},
    {Type::place, 5, "code", Type::text},
    {Type::trace, 1, "file_line_cols", Type::place, How::many},
    {Type::trace, 2, "frame_id", Type::fixed64, How::many},
    {Type::text_attribute, 1, "key", Type::text},
    {Type::text_attribute, 2, "value", Type::attribute},
    {Type::text_text, 1, "key", Type::text},
    {Type::text_text, 2, "value", Type::text},
    {Type::u32_attributes, 1, "key", Type::u32},
    {Type::u32_attributes, 2, "value", Type::argument_attributes},
    {Type::u32_u32, 1, "key", Type::u32},
    {Type::u32_u32, 2, "value", Type::u32},
    {Type::fixed64_place, 1, "key", Type::fixed64},
    {Type::fixed64_place, 2, "value", Type::place},
    {Type::fixed64_trace, 1, "key", Type::fixed64},
    {Type::fixed64_trace, 2, "value", Type::trace},
    {Type::text_trace, 1, "key", Type::text},
    {Type::text_trace, 2, "value", Type::trace},
    {Type::text_fixed64, 1, "key", Type::text},
    {Type::text_fixed64, 2, "value", Type::fixed64},
};
constexpr auto place_of(const Field& field) noexcept { return std::pair(field.owner, field.number); }
static_assert(std::ranges::is_sorted(kFields, {}, place_of));

const Field* find_field(Type owner, std::uint32_t number) noexcept {
  const auto* const found = std::ranges::lower_bound(kFields, std::pair(owner, number), {}, place_of);
  return found != std::end(kFields) && place_of(*found) == std::pair(owner, number) ? found : nullptr;
}

// How one value of the type is encoded.
constexpr pbf_wire_type wire_type_of(Type type) noexcept {
  switch (type) {
    case Type::number: return pbf_wire_type::fixed32;
    case Type::real:
    case Type::fixed64: return pbf_wire_type::fixed64;
    case Type::i32:
    case Type::i64:
    case Type::u32:
    case Type::u64:
    case Type::boolean:
    case Type::dtype: return pbf_wire_type::varint;
    default: return pbf_wire_type::length_delimited;
  }
}

// ---- Values.

template <class Number>
void put_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

template <class Real>
void put_real(std::string& out, Real value) {
  if (std::isnan(value)) {
    out += "nan";  // the parser knows no other
  } else {
    put_number(out, value);  // "inf" and "-inf" too
  }
}

void put_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + ((byte >> 3) & 7)),
              static_cast<char>('0' + (byte & 7))};
    } else {
      out += c;
    }
  }
  out += '"';
}

// `raw` is what stands in the message: a varint, or the bits of a number.
void put_value(std::string& out, Type type, std::uint64_t raw) {
  switch (type) {
    case Type::i32: return put_number(out, static_cast<std::int32_t>(raw));
    case Type::i64: return put_number(out, static_cast<std::int64_t>(raw));
    case Type::u32: return put_number(out, static_cast<std::uint32_t>(raw));
    case Type::boolean: out += raw != 0 ? "true" : "false"; return;
    case Type::number: return put_real(out, std::bit_cast<float>(static_cast<std::uint32_t>(raw)));
    case Type::real: return put_real(out, std::bit_cast<double>(raw));
    case Type::dtype: out += tf_dtype_text(static_cast<std::int32_t>(raw)); return;
    default: return put_number(out, raw);
  }
}

// ---- Messages.

// A field as it stands in a message.
struct Item {
  const Field* field = nullptr;  // none: not known, of the number `raw`
  std::uint64_t raw = 0;
  std::string_view bytes = {};
  std::string* merged = nullptr;  // holds the bytes where they come from several places
};

// The fields of one message, of those that may stand once only what counts.
class Items {
 public:
  Items(Type owner, std::string_view message) {
    for (pbf_reader reader = reader_of(message); reader.next();) {
      const Field* const field = find_field(owner, reader.tag());
      const pbf_wire_type wire_type = reader.wire_type();
      if (field != nullptr && wire_type == wire_type_of(field->type)) {
        add(read(*field, reader));
      } else if (field != nullptr && field->how == How::many && wire_type == pbf_wire_type::length_delimited) {
        add_packed(*field, reader);
      } else {
        all_.push_back({.raw = reader.tag()});
        reader.skip();
      }
    }
  }

  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

 private:
  static Item read(const Field& field, pbf_reader& reader) {
    switch (reader.wire_type()) {
      case pbf_wire_type::varint: return {&field, reader.get_uint64()};
      case pbf_wire_type::fixed32: return {&field, reader.get_fixed32()};
      case pbf_wire_type::fixed64: return {&field, reader.get_fixed64()};
      default: return {&field, 0, get_text(reader)};
    }
  }

  void add_packed(const Field& field, pbf_reader& reader) {
    const auto add_all = [&](const auto& values) {
      for (const std::uint64_t raw : values) all_.push_back({&field, raw});
    };
    switch (wire_type_of(field.type)) {
      case pbf_wire_type::varint: return add_all(reader.get_packed_uint64());
      case pbf_wire_type::fixed32: return add_all(reader.get_packed_fixed32());
      default: return add_all(reader.get_packed_fixed64());
    }
  }

  void add(const Item& item) {
    if (item.field->how == How::many) {
      all_.push_back(item);
      return;
    }
    const auto found = std::ranges::find_if(once_, [&](std::size_t at) {
      const Field& other = *all_[at].field;
      return &other == item.field || (item.field->how == How::choice && other.how == How::choice);
    });
    if (found == once_.end()) {
      once_.push_back(all_.size());
      all_.push_back(item);
      return;
    }
    Item& before = all_[*found];
    if (before.field != item.field || !is_message(item.field->type)) {
      before = item;
      return;
    }
    // Two encoded messages in a row are the encoding of both, merged.
    if (before.merged == nullptr) before.merged = &merged_.emplace_back(before.bytes);
    before.bytes = before.merged->append(item.bytes);
  }

  std::vector<Item> all_;
  std::vector<std::size_t> once_;  // places of fields that may stand once
  std::deque<std::string> merged_;
};

class Printer {
 public:
  void print(Type owner, std::string_view message, std::size_t depth) {
    // Protobuf's own parsers take no more, and this one has a stack too.
    constexpr std::size_t kDeepest = 100;
    if (depth > kDeepest) throw TooDeep();
    for (const Item& item : Items(owner, message)) {
      result_.text.append(2 * depth, ' ');
      if (item.field == nullptr) {
        result_.text.append("# left out: field ").append(std::to_string(item.raw)).append(", whose name is not known");
        ++result_.unknown_fields;
      } else if (is_message(item.field->type)) {
        result_.text.append(item.field->name).append(" {\n");
        print(item.field->type, item.bytes, depth + 1);
        result_.text.append(2 * depth, ' ').append("}");
      } else {
        result_.text.append(item.field->name).append(": ");
        if (item.field->type == Type::text) {
          put_quoted(result_.text, item.bytes);
        } else {
          put_value(result_.text, item.field->type, item.raw);
        }
      }
      result_.text += '\n';
    }
  }

  GraphText take() { return std::move(result_); }

  struct TooDeep {};

 private:
  GraphText result_;
};

}  // namespace

Result<GraphText> graph_def_text(base::Bytes bytes) {
  try {
    Printer printer;
    printer.print(Type::graph, base::as_text(bytes), 0);
    return printer.take();
  } catch (const protozero::exception& error) {
    return Status(Code::corrupt, std::string("the graph is not well-formed protobuf: ") + error.what());
  } catch (const Printer::TooDeep&) {
    return Status(Code::corrupt, "the graph nests more than 100 messages in each other, which no parser takes");
  }
}

}  // namespace sonde::formats
