#include "formats/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "tensor/copy.h"
#include "tensor/why_invalid.h"

namespace sonde::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxHeader = 1 << 20;  // those of plain arrays stay below 300 bytes

Status corrupt(std::string_view what) { return {Code::corrupt, "not a valid npy file: " + std::string(what)}; }

Status unsupported(std::string_view what) {
  return {Code::unsupported, "npy arrays of " + std::string(what) +
                                 " cannot be read: save plain numbers (bool, integer, float or complex)"};
}

struct Description {
  std::string_view kind;  // a letter and the bytes of an element
  DType dtype;
};
constexpr std::array<Description, 18> kDescriptions = {{
    {"b1", DType::boolean},
    {"i1", DType::i8},
    {"i2", DType::i16},
    {"i4", DType::i32},
    {"i8", DType::i64},
    {"u1", DType::u8},
    {"u2", DType::u16},
    {"u4", DType::u32},
    {"u8", DType::u64},
    {"f2", DType::f16},
    {"f4", DType::f32},
    {"f8", DType::f64},
    {"c8", DType::c64},
    {"?", DType::boolean},
    {"c16", DType::c128},
    {"V2", DType::bf16},
    {"V1", DType::f8_e4m3},
    {"f1", DType::f8_e5m2},
}};
constexpr std::string_view kE4m3Name = "float8_e4m3fn";
constexpr std::string_view kE5m2Name = "float8_e5m2";

// The value of 'descr': in a written header.
std::string description_of(DType dtype) {
  if (dtype == DType::f8_e4m3 || dtype == DType::f8_e5m2) {
    return "[('" + std::string(dtype == DType::f8_e4m3 ? kE4m3Name : kE5m2Name) + "', '|V1')]";
  }
  const auto found = std::ranges::find(kDescriptions, dtype, &Description::dtype);
  return std::string(size_of(dtype) == 1 ? "'|" : "'<").append(found->kind).append("'");
}

// A reader of the few Python literals in a header: strings without escapes, True and False, tuples of non-negative
// integers. Each function skips leading blanks, and returns whether it succeeded.
class Literals {
 public:
  explicit Literals(std::string_view text) noexcept : rest_(text) {}

  bool consume(std::string_view token) noexcept {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool at_end() noexcept {
    skip_blanks();
    return rest_.empty();
  }
  std::optional<std::string_view> string() noexcept {
    skip_blanks();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    if (text.find_first_of("\\\n") != std::string_view::npos) return std::nullopt;
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::optional<bool> boolean() noexcept {
    if (consume("True")) return true;
    if (consume("False")) return false;
    return std::nullopt;
  }
  std::optional<std::int64_t> integer() noexcept {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // as Python 2 wrote long integers
    return value;
  }

 private:
  void skip_blanks() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  std::string_view rest_;
};

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) noexcept : literals_(text) {}

  Status parse(Header& header) {
    if (!literals_.consume("{")) return corrupt("its header is not a dictionary");
    bool descr = false;
    bool order = false;
    bool shape = false;
    while (!literals_.consume("}")) {
      const std::optional<std::string_view> key = literals_.string();
      if (!key || !literals_.consume(":")) return corrupt("its header is not a dictionary of Python literals");
      if (*key == "descr" && !std::exchange(descr, true)) {
        if (Status status = parse_descr(header); !status) return status;
      } else if (*key == "fortran_order" && !std::exchange(order, true)) {
        const std::optional<bool> value = literals_.boolean();
        if (!value) return corrupt("fortran_order is neither True nor False");
        header.fortran_order = *value;
      } else if (*key == "shape" && !std::exchange(shape, true)) {
        if (Status status = parse_shape(header.shape); !status) return status;
      } else {
        return corrupt("its header has a key twice, or one besides descr, fortran_order and shape");
      }
      if (literals_.consume(",")) continue;
      if (!literals_.consume("}")) return corrupt("its header has no comma between two entries");
      break;
    }
    if (!literals_.at_end()) return corrupt("its header continues after the dictionary");
    if (!descr || !order || !shape) return corrupt("its header lacks descr, fortran_order or shape");
    return {};
  }

 private:
  Status parse_descr(Header& header) {
    if (literals_.consume("[")) return parse_named(header);
    if (literals_.consume("(")) return unsupported("elements that are arrays themselves");
    const std::optional<std::string_view> descr = literals_.string();
    if (!descr) return corrupt("its descr is not a string");
    std::string_view kind = *descr;
    char order = '=';
    if (!kind.empty() && std::string_view("<>=|").find(kind.front()) != std::string_view::npos) {
      order = kind.front();
      kind.remove_prefix(1);
    }
    const auto found = std::ranges::find(kDescriptions, kind, &Description::kind);
    if (found == kDescriptions.end()) return unsupported(std::string("type '").append(*descr).append("'"));
    header.dtype = found->dtype;
    header.big_endian = order == '>' && size_of(found->dtype) > 1;
    return {};
  }

  // The one-field form of the fp8 types, after its opening bracket.
  Status parse_named(Header& header) {
    const bool opened = literals_.consume("(");
    const std::optional<std::string_view> name = literals_.string();
    const bool separated = literals_.consume(",");
    const std::optional<std::string_view> descr = literals_.string();
    literals_.consume(",");
    const bool closed = literals_.consume(")");
    literals_.consume(",");
    if (!opened || !separated || !closed || !literals_.consume("]") || (name != kE4m3Name && name != kE5m2Name) ||
        (descr != "|V1" && descr != "<V1" && descr != "V1")) {
      return unsupported("structures with named fields");
    }
    header.dtype = name == kE4m3Name ? DType::f8_e4m3 : DType::f8_e5m2;
    return {};
  }

  Status parse_shape(Shape& shape) {
    if (!literals_.consume("(")) return corrupt("its shape is not a tuple");
    shape = Shape();
    bool comma = true;  // a tuple of one has one: (3,)
    int sizes = 0;
    while (!literals_.consume(")")) {
      const std::optional<std::int64_t> size = literals_.integer();
      if (!comma || !size) return corrupt("its shape is not a tuple of non-negative integers");
      shape.push_back(*size);
      ++sizes;
      comma = literals_.consume(",");
    }
    if (sizes == 1 && !comma) return corrupt("its shape is an integer, not a tuple");
    if (!shape.valid()) {
      return {Code::unsupported,
              "an npy array with more than " + std::to_string(kMaxRank) + " dimensions cannot be read: reshape it"};
    }
    return {};
  }

  Literals literals_;
};

// The text of the header, and the rest of the file.
struct Split {
  std::string_view header;
  base::Bytes rest;
};
Result<Split> split(base::Bytes file) {
  base::ByteReader reader(file);
  if (base::as_text(reader.take(kMagic.size())) != kMagic) return corrupt("it does not begin with \\x93NUMPY");
  const auto major = reader.get<std::uint8_t>();
  const auto minor = reader.get<std::uint8_t>();
  if (!reader.ok()) return corrupt("it ends within its header");
  if (major < 1 || major > 3 || minor != 0) {
    return Status(Code::unsupported, "npy format " + std::to_string(major) + "." + std::to_string(minor) +
                                         " is newer than this reader, which knows 1.0, 2.0 and 3.0");
  }
  const std::uint32_t length = major == 1 ? reader.get<std::uint16_t>() : reader.get<std::uint32_t>();
  if (length > kMaxHeader) return corrupt("its header claims " + std::to_string(length) + " bytes");
  const base::Bytes header = reader.take(length);
  if (!reader.ok()) return corrupt("it ends within its header");
  return Split{base::as_text(header), file.subspan(reader.position())};
}

template <std::size_t Size>
void swap_all(std::vector<std::byte>& data) noexcept {
  for (auto at = data.begin(); at != data.end(); at += Size) std::reverse(at, at + Size);
}

// Turns big-endian elements around; complex ones in their two halves.
void to_little_endian(Tensor& tensor) noexcept {
  const bool complex = tensor.dtype == DType::c64 || tensor.dtype == DType::c128;
  switch (size_of(tensor.dtype) / (complex ? 2 : 1)) {
    case 2: swap_all<2>(tensor.data); break;
    case 4: swap_all<4>(tensor.data); break;
    case 8: swap_all<8>(tensor.data); break;
    default: break;
  }
}

TensorView view_of(const Header& header) noexcept {
  return sonde::view(header.data.data(), header.dtype, header.shape,
                     header.fortran_order ? tensor::column_major(header.shape) : row_major(header.shape));
}

}  // namespace

Result<Header> parse(base::Bytes file) {
  Result<Split> parts = split(file);
  if (!parts) return parts.error();
  Header header;
  if (Status status = HeaderParser(parts->header).parse(header); !status) return status;
  const std::optional<std::uint64_t> bytes = tensor::dense_bytes(header.dtype, header.shape);
  if (!bytes || *bytes > parts->rest.size()) {
    return corrupt("its shape asks for more elements than the " + std::to_string(parts->rest.size()) +
                   " bytes after the header hold; the file may have been cut off");
  }
  header.data = parts->rest.first(*bytes);
  return header;
}

Result<TensorView> view(base::Bytes file) {
  Result<Header> header = parse(file);
  if (!header) return header.error();
  if (header->big_endian) {
    return Status(Code::unsupported, "a big-endian npy file cannot be read in place: decode it into a copy");
  }
  return view_of(*header);
}

Result<Tensor> decode(base::Bytes file) {
  Result<Header> header = parse(file);
  if (!header) return header.error();
  Tensor tensor = tensor::to_tensor(view_of(*header));
  if (header->big_endian) to_little_endian(tensor);
  return tensor;
}

Result<Parts> layout(const TensorView& tensor) {
  if (!tensor.valid()) {
    return Status(Code::invalid_argument,
                  "the tensor cannot be written as npy: " + std::string(tensor::why_invalid(tensor)));
  }
  const bool fortran_order = tensor::is_column_major(tensor);
  std::string shape;
  for (std::int64_t size : tensor.shape) shape += std::to_string(size) + ", ";
  if (tensor.shape.rank() == 1) shape.pop_back();              // (3,)
  if (tensor.shape.rank() > 1) shape.erase(shape.size() - 2);  // (2, 3)
  std::string header = "{'descr': " + description_of(tensor.dtype) +
                       ", 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': (" + shape + "), }";
  if (tensor.shape.rank() > 0) {
    // NumPy leaves room for the axis along which the file could grow: 21 digits.
    const std::int64_t grows = tensor.shape[fortran_order ? tensor.shape.rank() - 1 : 0];
    header.append(21 - std::to_string(grows).size(), ' ');
  }
  const std::size_t prefix = kMagic.size() + 4;
  header.append(kAlignment - (prefix + header.size() + 1) % kAlignment, ' ');
  header.push_back('\n');

  Parts parts{std::string(kMagic) + '\1' + '\0', fortran_order ? tensor::transposed(tensor) : tensor};
  base::put(parts.header, static_cast<std::uint16_t>(header.size()));
  parts.header += header;
  return parts;
}

Result<std::string> encode(const TensorView& tensor) {
  Result<Parts> parts = layout(tensor);
  if (!parts) return parts.error();
  std::string file = std::move(parts->header);
  const std::size_t begin = file.size();
  file.resize(begin + tensor::byte_size(tensor));
  tensor::copy_dense(parts->data, file.data() + begin);
  return file;
}

}  // namespace sonde::npy
