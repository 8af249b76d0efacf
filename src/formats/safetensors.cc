#include "formats/safetensors.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_set>

#include "formats/json_writer.h"
#include "tensor/copy.h"
#include "tensor/why_invalid.h"

namespace sonde::safetensors {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::uint64_t kMaxData = std::uint64_t{1} << 62;
constexpr std::string_view kMetadata = "__metadata__";

Status corrupt(std::string_view what) { return {Code::corrupt, "not a valid safetensors file: " + std::string(what)}; }
Status corrupt(std::string_view what, std::string_view name) {
  return {Code::corrupt,
          "not a valid safetensors file, at the tensor '" + std::string(name) + "': " + std::string(what)};
}

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array<TypeName, 16> kTypes = {{
    {"BOOL", DType::boolean},
    {"I8", DType::i8},
    {"I16", DType::i16},
    {"I32", DType::i32},
    {"I64", DType::i64},
    {"U8", DType::u8},
    {"U16", DType::u16},
    {"U32", DType::u32},
    {"U64", DType::u64},
    {"F8_E4M3", DType::f8_e4m3},
    {"F8_E5M2", DType::f8_e5m2},
    {"F16", DType::f16},
    {"BF16", DType::bf16},
    {"F32", DType::f32},
    {"F64", DType::f64},
    {"C64", DType::c64},
}};

// ---- Reading

namespace dom = simdjson::dom;

// An entry together with its offsets, before they are known to be right.
struct Located {
  Entry entry;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Result<Metadata> read_metadata(dom::element value) {
  Metadata metadata;
  if (value.is_null()) return metadata;
  std::unordered_set<std::string_view> keys;
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return corrupt("__metadata__ is not an object");
  for (const auto& [key, element] : object) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return corrupt("__metadata__ holds something other than strings");
    if (!keys.insert(key).second) return corrupt("__metadata__ holds a key twice");
    metadata.emplace_back(key, text);
  }
  return metadata;
}

Status read_dtype(dom::element value, Entry& entry) {
  std::string_view type;
  if (value.get(type) != simdjson::SUCCESS) return corrupt("the dtype is not a string", entry.name);
  const auto found = std::ranges::find(kTypes, type, &TypeName::name);
  if (found == kTypes.end()) {
    return {Code::unsupported, "the tensor '" + entry.name + "' in the safetensors file has elements of type '" +
                                   std::string(type) + "', which cannot be read"};
  }
  entry.dtype = found->dtype;
  return {};
}

Status read_shape(dom::element value, Entry& entry) {
  dom::array sizes;
  if (value.get(sizes) != simdjson::SUCCESS) return corrupt("the shape is not an array", entry.name);
  for (dom::element element : sizes) {
    std::uint64_t size = 0;
    if (element.get(size) != simdjson::SUCCESS || size > std::uint64_t{1} << 62) {
      return corrupt("the shape holds something other than sizes", entry.name);
    }
    entry.shape.push_back(static_cast<std::int64_t>(size));
  }
  if (!entry.shape.valid()) {
    return {Code::unsupported, "the tensor '" + entry.name + "' in the safetensors file has more than " +
                                   std::to_string(kMaxRank) + " dimensions, which cannot be read"};
  }
  return {};
}

Status read_offsets(dom::element value, Located& located) {
  dom::array offsets;
  if (value.get(offsets) != simdjson::SUCCESS || offsets.size() != 2 ||
      offsets.at(0).get(located.begin) != simdjson::SUCCESS || offsets.at(1).get(located.end) != simdjson::SUCCESS) {
    return corrupt("the data_offsets are not two numbers", located.entry.name);
  }
  return {};
}

Result<Located> read_tensor(std::string_view name, dom::element value) {
  Located located;
  located.entry.name = name;
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return corrupt("the description is not an object", name);
  int dtypes = 0;
  int shapes = 0;
  int offsets = 0;
  for (const auto& [key, element] : object) {
    Status status;
    if (key == "dtype") {
      status = read_dtype(element, located.entry);
      ++dtypes;
    } else if (key == "shape") {
      located.entry.shape = Shape();
      status = read_shape(element, located.entry);
      ++shapes;
    } else if (key == "data_offsets") {
      status = read_offsets(element, located);
      ++offsets;
    }
    if (!status) return status;
  }
  if (dtypes != 1 || shapes != 1 || offsets != 1) {
    return corrupt("dtype, shape and data_offsets must each occur once in the description", name);
  }
  return located;
}

// Checks that the tensors, sorted by their place, cover `data` without holes, and points them there.
Status place(std::vector<Located>& tensors, base::Bytes data) {
  std::ranges::sort(tensors, {}, [](const Located& located) { return std::pair(located.begin, located.end); });
  std::uint64_t at = 0;
  for (Located& located : tensors) {
    Entry& entry = located.entry;
    const std::optional<std::uint64_t> bytes = tensor::dense_bytes(entry.dtype, entry.shape);
    if (!bytes) return corrupt("the shape is impossible", entry.name);
    if (located.begin != at || located.end < at)
      return corrupt("there is a hole or an overlap before the data", entry.name);
    if (located.end - at != *bytes) return corrupt("the shape and the data_offsets contradict each other", entry.name);
    if (located.end > data.size()) {
      return corrupt("the file ends before the data; it may have been cut off", entry.name);
    }
    entry.data = data.subspan(at, *bytes);
    at = located.end;
  }
  if (at != data.size()) return corrupt("bytes that belong to no tensor follow the last one");
  return {};
}

// ---- Writing

Status put_metadata(formats::JsonWriter& json, const Metadata& metadata) {
  std::unordered_set<std::string_view> keys;
  json.key(kMetadata).object();
  for (const auto& [key, value] : metadata) {
    if (!simdjson::validate_utf8(key) || !simdjson::validate_utf8(value) || !keys.insert(key).second) {
      return {Code::invalid_argument, "keys of safetensors metadata must be UTF-8 and occur once, values UTF-8"};
    }
    json.text_key(key).text(value);
  }
  json.end();
  return {};
}

void put_tensor(formats::JsonWriter& json, const Spec& spec, std::string_view type, std::uint64_t begin,
                std::uint64_t end) {
  json.text_key(spec.name).object().key("dtype").text(type).key("shape").shape(spec.shape);
  json.key("data_offsets").array().integer(begin).integer(end).end().end();
}

Status check_name(std::string_view name) {
  if (!simdjson::validate_utf8(name.data(), name.size()) || name == kMetadata) {
    return {Code::invalid_argument, "a tensor in a safetensors file needs a name in UTF-8 other than __metadata__"};
  }
  return {};
}

}  // namespace

Result<File> parse(base::Bytes file) {
  base::ByteReader reader(file);
  const auto length = reader.get<std::uint64_t>();
  if (!reader.ok()) return corrupt("it is shorter than 8 bytes");
  if (length > kMaxHeader) return corrupt("its header claims " + std::to_string(length) + " bytes");
  const std::string_view text = base::as_text(reader.take(length));
  if (!reader.ok()) return corrupt("it ends within its header; it may have been cut off");
  if (!text.starts_with('{')) return corrupt("its header does not begin with '{'");

  dom::parser parser;
  dom::object header;
  // Copies the header, since the parser reads beyond the end of its text.
  if (const auto error = parser.parse(text.data(), text.size()).get(header); error != simdjson::SUCCESS) {
    return corrupt("its header is not a JSON object (" + std::string(simdjson::error_message(error)) + ")");
  }
  File result;
  std::vector<Located> tensors;
  std::unordered_set<std::string_view> names;
  for (const auto& [key, value] : header) {
    if (!names.insert(key).second) return corrupt("the name '" + std::string(key) + "' occurs twice");
    if (key == kMetadata) {
      Result<Metadata> metadata = read_metadata(value);
      if (!metadata) return metadata.error();
      result.metadata = *std::move(metadata);
    } else {
      Result<Located> located = read_tensor(key, value);
      if (!located) return located.error();
      tensors.push_back(*std::move(located));
    }
  }
  if (Status status = place(tensors, file.subspan(reader.position())); !status) return status;
  result.tensors.reserve(tensors.size());
  for (Located& located : tensors) result.tensors.push_back(std::move(located.entry));
  return result;
}

Result<Plan> plan(std::span<const Spec> specs, const Metadata& metadata) {
  Plan result;
  result.order.resize(specs.size());
  std::iota(result.order.begin(), result.order.end(), std::size_t{0});
  std::ranges::stable_sort(result.order, std::greater(), [&](std::size_t i) { return size_of(specs[i].dtype); });

  formats::JsonWriter writer;
  writer.object();
  if (!metadata.empty()) {
    if (Status status = put_metadata(writer, metadata); !status) return status;
  }
  std::unordered_set<std::string_view> names;
  for (std::size_t i : result.order) {
    const Spec& spec = specs[i];
    if (Status status = check_name(spec.name); !status) return status;
    const std::string name(spec.name);
    if (!names.insert(spec.name).second) {
      return Status(Code::invalid_argument, "two tensors of one safetensors file are named '" + name + "'");
    }
    const auto type = std::ranges::find(kTypes, spec.dtype, &TypeName::dtype);
    if (type == kTypes.end()) {
      return Status(Code::unsupported, "safetensors has no type for the elements of '" + name + "' (" +
                                           std::string(to_string(spec.dtype)) + "): write it as npy");
    }
    const std::optional<std::uint64_t> bytes = tensor::dense_bytes(spec.dtype, spec.shape);
    if (!bytes || *bytes > kMaxData - result.data_bytes) {
      return Status(Code::invalid_argument, "the shape of the tensor '" + name + "' is impossible");
    }
    put_tensor(writer, spec, type->name, result.data_bytes, result.data_bytes + *bytes);
    result.data_bytes += *bytes;
  }
  writer.end();
  std::string json = writer.take();
  json.append((8 - json.size() % 8) % 8, ' ');
  if (json.size() > kMaxHeader) {
    return Status(Code::exhausted, "the header of the safetensors file exceeds 100 MB: use fewer tensors per file");
  }
  base::put(result.header, std::uint64_t{json.size()});
  result.header += json;
  return result;
}

Result<std::string> encode(std::span<const NamedView> tensors, const Metadata& metadata) {
  std::vector<Spec> specs;
  for (const NamedView& named : tensors) {
    if (!named.tensor.valid()) {
      return Status(Code::invalid_argument, "the tensor '" + std::string(named.name) + "' cannot be written: " +
                                                std::string(tensor::why_invalid(named.tensor)));
    }
    specs.push_back({named.name, named.tensor.dtype, named.tensor.shape});
  }
  Result<Plan> planned = plan(specs, metadata);
  if (!planned) return planned.error();
  std::string file = std::move(planned->header);
  std::size_t at = file.size();
  file.resize(at + planned->data_bytes);
  for (std::size_t i : planned->order) {
    tensor::copy_dense(tensors[i].tensor, file.data() + at);
    at += tensor::byte_size(tensors[i].tensor);
  }
  return file;
}

}  // namespace sonde::safetensors
