#include "formats/tflite.h"

#include <algorithm>
#include <array>

namespace sonde::formats::tflite {
namespace {

// By number of BuiltinOperator.
// clang-format off
constexpr std::string_view kOperators[] = {
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE", "DEQUANTIZE",
    "EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED", "HASHTABLE_LOOKUP", "L2_NORMALIZATION", "L2_POOL_2D",
    "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "LSH_PROJECTION", "LSTM", "MAX_POOL_2D", "MUL", "RELU",
    "RELU_N1_TO_1", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RNN", "SOFTMAX", "SPACE_TO_DEPTH", "SVDF", "TANH",
    "CONCAT_EMBEDDINGS", "SKIP_GRAM", "CALL", "CUSTOM", "EMBEDDING_LOOKUP_SPARSE", "PAD",
    "UNIDIRECTIONAL_SEQUENCE_RNN", "GATHER", "BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND", "TRANSPOSE", "MEAN",
    "SUB", "DIV", "SQUEEZE", "UNIDIRECTIONAL_SEQUENCE_LSTM", "STRIDED_SLICE", "BIDIRECTIONAL_SEQUENCE_RNN",
    "EXP", "TOPK_V2", "SPLIT", "LOG_SOFTMAX", "DELEGATE", "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "PRELU",
    "MAXIMUM", "ARG_MAX", "MINIMUM", "LESS", "NEG", "PADV2", "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "SELECT",
    "SLICE", "SIN", "TRANSPOSE_CONV", "SPARSE_TO_DENSE", "TILE", "EXPAND_DIMS", "EQUAL", "NOT_EQUAL", "LOG",
    "SUM", "SQRT", "RSQRT", "SHAPE", "POW", "ARG_MIN", "FAKE_QUANT", "REDUCE_PROD", "REDUCE_MAX", "PACK",
    "LOGICAL_OR", "ONE_HOT", "LOGICAL_AND", "LOGICAL_NOT", "UNPACK", "REDUCE_MIN", "FLOOR_DIV", "REDUCE_ANY",
    "SQUARE", "ZEROS_LIKE", "FILL", "FLOOR_MOD", "RANGE", "RESIZE_NEAREST_NEIGHBOR", "LEAKY_RELU",
    "SQUARED_DIFFERENCE", "MIRROR_PAD", "ABS", "SPLIT_V", "UNIQUE", "CEIL", "REVERSE_V2", "ADD_N", "GATHER_ND",
    "COS", "WHERE", "RANK", "ELU", "REVERSE_SEQUENCE", "MATRIX_DIAG", "QUANTIZE", "MATRIX_SET_DIAG", "ROUND",
    "HARD_SWISH", "IF", "WHILE", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SCATTER_ND", "SELECT_V2",
    "DENSIFY", "SEGMENT_SUM", "BATCH_MATMUL", "PLACEHOLDER_FOR_GREATER_OP_CODES", "CUMSUM", "CALL_ONCE",
    "BROADCAST_TO", "RFFT2D", "CONV_3D", "IMAG", "REAL", "COMPLEX_ABS", "HASHTABLE", "HASHTABLE_FIND",
    "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "REDUCE_ALL", "CONV_3D_TRANSPOSE", "VAR_HANDLE", "READ_VARIABLE",
    "ASSIGN_VARIABLE", "BROADCAST_ARGS", "RANDOM_STANDARD_NORMAL", "BUCKETIZE", "RANDOM_UNIFORM", "MULTINOMIAL",
    "GELU", "DYNAMIC_UPDATE_SLICE", "RELU_0_TO_1", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX",
    "UNSORTED_SEGMENT_SUM", "ATAN2", "UNSORTED_SEGMENT_MIN", "SIGN", "BITCAST", "BITWISE_XOR", "RIGHT_SHIFT",
    "STABLEHLO_LOGISTIC", "STABLEHLO_ADD", "STABLEHLO_DIVIDE", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM",
    "STABLEHLO_RESHAPE", "STABLEHLO_CLAMP", "STABLEHLO_CONCATENATE", "STABLEHLO_BROADCAST_IN_DIM",
    "STABLEHLO_CONVOLUTION", "STABLEHLO_SLICE", "STABLEHLO_CUSTOM_CALL", "STABLEHLO_REDUCE", "STABLEHLO_ABS",
    "STABLEHLO_AND", "STABLEHLO_COSINE", "STABLEHLO_EXPONENTIAL", "STABLEHLO_FLOOR", "STABLEHLO_LOG",
    "STABLEHLO_MINIMUM", "STABLEHLO_NEGATE", "STABLEHLO_OR", "STABLEHLO_POWER", "STABLEHLO_REMAINDER",
    "STABLEHLO_RSQRT", "STABLEHLO_SELECT", "STABLEHLO_SUBTRACT", "STABLEHLO_TANH", "STABLEHLO_SCATTER",
    "STABLEHLO_COMPARE", "STABLEHLO_CONVERT", "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE",
    "STABLEHLO_PAD", "STABLEHLO_IOTA", "STABLEHLO_DOT_GENERAL", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SORT",
    "STABLEHLO_WHILE", "STABLEHLO_GATHER", "STABLEHLO_TRANSPOSE", "DILATE", "STABLEHLO_RNG_BIT_GENERATOR",
    "REDUCE_WINDOW", "STABLEHLO_COMPOSITE", "STABLEHLO_SHIFT_LEFT", "STABLEHLO_CBRT", "STABLEHLO_CASE",
};
// clang-format on
constexpr int kCustom = 32;

struct Type {
  std::string_view name;
  std::optional<DType> dtype;
};
// By number of TensorType.
constexpr std::array kTypes = {
    Type{"f32", DType::f32}, Type{"f16", DType::f16}, Type{"i32", DType::i32},      Type{"u8", DType::u8},
    Type{"i64", DType::i64}, Type{"string", {}},      Type{"bool", DType::boolean}, Type{"i16", DType::i16},
    Type{"c64", DType::c64}, Type{"i8", DType::i8},   Type{"f64", DType::f64},      Type{"c128", DType::c128},
    Type{"u64", DType::u64}, Type{"resource", {}},    Type{"variant", {}},          Type{"u32", DType::u32},
    Type{"u16", DType::u16}, Type{"i4", {}},          Type{"bf16", DType::bf16},    Type{"i2", {}},
    Type{"u4", {}},
};

// The bytes of a FlatBuffer. A read outside of them gives zero, and is remembered.
class Buffer {
 public:
  explicit Buffer(base::Bytes bytes) noexcept : bytes_(bytes) {}

  template <class T>
  T get(std::uint64_t at) noexcept {
    if (at > bytes_.size() || sizeof(T) > bytes_.size() - at) {
      outside_ = true;
      return T{};
    }
    return base::load<T>(bytes_.data() + at);
  }
  base::Bytes take(std::uint64_t at, std::uint64_t size) noexcept {
    if (at > bytes_.size() || size > bytes_.size() - at) {
      outside_ = true;
      return {};
    }
    return bytes_.subspan(at, size);
  }
  // Where the reference at this place leads.
  std::uint64_t follow(std::uint64_t at) noexcept { return at + get<std::uint32_t>(at); }

  bool outside() const noexcept { return outside_; }
  std::size_t size() const noexcept { return bytes_.size(); }

 private:
  base::Bytes bytes_;
  bool outside_ = false;
};

class Vector {
 public:
  Vector(Buffer& buffer, std::uint64_t at, std::uint64_t element) noexcept : buffer_(buffer), begin_(at + 4) {
    size_ = buffer.get<std::uint32_t>(at);
    if (buffer.take(begin_, size_ * element).empty()) size_ = 0;
  }
  Vector(Buffer& buffer) noexcept : buffer_(buffer) {}

  std::uint64_t size() const noexcept { return size_; }
  template <class T>
  T get(std::uint64_t place) const noexcept {
    return buffer_.get<T>(begin_ + place * sizeof(T));
  }
  // The place of a table of a vector of tables.
  std::uint64_t table(std::uint64_t place) const noexcept { return buffer_.follow(begin_ + place * 4); }
  base::Bytes bytes() const noexcept { return buffer_.take(begin_, size_); }

  template <class T, class To>
  std::vector<To> all() const {
    std::vector<To> values;
    values.reserve(size_);
    for (std::uint64_t i = 0; i < size_; ++i) values.push_back(static_cast<To>(get<T>(i)));
    return values;
  }

 private:
  Buffer& buffer_;
  std::uint64_t begin_ = 0;
  std::uint64_t size_ = 0;
};

class Table {
 public:
  Table(Buffer& buffer, std::uint64_t at) noexcept : buffer_(buffer), at_(at) {
    vtable_ = at - static_cast<std::uint64_t>(static_cast<std::int64_t>(buffer.get<std::int32_t>(at)));
    fields_ = buffer.get<std::uint16_t>(vtable_) / 2;
  }

  // 0: absent.
  std::uint64_t place(unsigned field) const noexcept {
    if (field + 2U >= fields_) return 0;
    const auto distance = buffer_.get<std::uint16_t>(vtable_ + 4 + std::uint64_t{2} * field);
    return distance == 0 ? 0 : at_ + distance;
  }
  template <class T>
  T get(unsigned field, T fallback = T{}) const noexcept {
    const std::uint64_t found = place(field);
    return found == 0 ? fallback : buffer_.get<T>(found);
  }
  Vector vector(unsigned field, std::uint64_t element) const noexcept {
    const std::uint64_t found = place(field);
    return found == 0 ? Vector(buffer_) : Vector(buffer_, buffer_.follow(found), element);
  }
  std::string_view text(unsigned field) const noexcept { return base::as_text(vector(field, 1).bytes()); }
  std::optional<Table> table(unsigned field) const noexcept {
    const std::uint64_t found = place(field);
    return found == 0 ? std::nullopt : std::optional(Table(buffer_, buffer_.follow(found)));
  }

 private:
  Buffer& buffer_;
  std::uint64_t at_;
  std::uint64_t vtable_ = 0;
  std::uint64_t fields_ = 0;
};

Status corrupt(std::string_view what) { return {Code::corrupt, "not a valid TFLite model: " + std::string(what)}; }

class Decoder {
 public:
  explicit Decoder(base::Bytes file) noexcept : buffer_(file) {}

  Result<Model> run() {
    const Table root(buffer_, buffer_.follow(0));
    read_codes(root);
    read_buffers(root);
    Model model;
    model.description = root.text(3);
    const Vector subgraphs = root.vector(2, 4);
    for (std::uint64_t i = 0; i < subgraphs.size() && !buffer_.outside(); ++i) {
      model.subgraphs.push_back(subgraph(Table(buffer_, subgraphs.table(i))));
    }
    const Vector signatures = root.vector(7, 4);
    for (std::uint64_t i = 0; i < signatures.size() && !buffer_.outside(); ++i) {
      model.signatures.push_back(signature(Table(buffer_, signatures.table(i))));
    }
    if (buffer_.outside()) return corrupt("an offset leads out of the file, which is cut off or damaged");
    if (wasteful_) return corrupt("the same bytes are used again and again");
    if (model.subgraphs.empty()) return corrupt("it has no graph");
    if (Status status = check(model); !status) return status;
    return model;
  }

 private:
  void read_codes(const Table& root) {
    const Vector codes = root.vector(1, 4);
    for (std::uint64_t i = 0; i < codes.size() && !buffer_.outside(); ++i) {
      const Table code(buffer_, codes.table(i));
      // Numbers up to 127; a newer one is in the other field only.
      const int old = code.get<std::uint8_t>(0);
      const int number = std::max(old, code.get<std::int32_t>(3));  // as TensorFlow Lite reads it
      if (number == kCustom) {
        codes_.emplace_back(code.text(1));
      } else if (number >= 0 && static_cast<std::size_t>(number) < std::size(kOperators)) {
        codes_.emplace_back(kOperators[number]);
      } else {
        codes_.push_back("BUILTIN_" + std::to_string(number));
      }
    }
  }

  void read_buffers(const Table& root) {
    const Vector buffers = root.vector(4, 4);
    for (std::uint64_t i = 0; i < buffers.size() && !buffer_.outside(); ++i) {
      const Table buffer(buffer_, buffers.table(i));
      const auto offset = buffer.get<std::uint64_t>(1);
      // 1 stands for data inside, too.
      data_.push_back(offset > 1 ? buffer_.take(offset, buffer.get<std::uint64_t>(2)) : buffer.vector(0, 1).bytes());
    }
  }

  // Tables may be shared: a small file could describe a huge model. Honest ones take bytes for everything.
  bool spend(std::uint64_t amount) noexcept {
    spent_ += amount;
    if (spent_ > std::uint64_t{16} * buffer_.size() + 65536) wasteful_ = true;
    return !wasteful_ && !buffer_.outside();
  }

  std::vector<std::int64_t> indices(const Table& table, unsigned field) {
    const Vector found = table.vector(field, 4);
    return spend(found.size() * 4) ? found.all<std::int32_t, std::int64_t>() : std::vector<std::int64_t>();
  }

  Tensor tensor(const Table& table) {
    Tensor made;
    made.name = table.text(3);
    made.type = table.get<std::uint8_t>(1);
    made.shape = indices(table, 0);
    // The signature has -1 where the shape has the size 1 that the converter used.
    if (std::vector<std::int64_t> signature = indices(table, 7); signature.size() == made.shape.size()) {
      made.shape = std::move(signature);
    }
    if (const auto buffer = table.get<std::uint32_t>(2); buffer < data_.size()) made.data = data_[buffer];
    made.variable = table.get<std::uint8_t>(5) != 0;
    if (const auto quantization = table.table(4)) {
      const Vector scales = quantization->vector(2, 4);
      const Vector zeros = quantization->vector(3, 8);
      if (scales.size() > 0 && spend(scales.size() * 4 + zeros.size() * 8)) {
        made.quantization = Quantization{scales.all<float, float>(), zeros.all<std::int64_t, std::int64_t>(),
                                         quantization->get<std::int32_t>(6)};
      }
    }
    return made;
  }

  Subgraph subgraph(const Table& table) {
    Subgraph made;
    made.name = table.text(4);
    const Vector tensors = table.vector(0, 4);
    for (std::uint64_t i = 0; i < tensors.size() && spend(16); ++i) {
      made.tensors.push_back(tensor(Table(buffer_, tensors.table(i))));
    }
    made.inputs = indices(table, 1);
    made.outputs = indices(table, 2);
    const Vector operators = table.vector(3, 4);
    for (std::uint64_t i = 0; i < operators.size() && spend(16); ++i) {
      const Table each(buffer_, operators.table(i));
      const auto code = each.get<std::uint32_t>(0);
      if (code >= codes_.size()) {
        bad_code_ = true;
        break;
      }
      made.operators.push_back({codes_[code], indices(each, 1), indices(each, 2)});
    }
    return made;
  }

  std::vector<std::pair<std::string_view, std::int64_t>> ports(const Table& table, unsigned field) {
    std::vector<std::pair<std::string_view, std::int64_t>> made;
    const Vector all = table.vector(field, 4);
    for (std::uint64_t i = 0; i < all.size() && spend(16); ++i) {
      const Table each(buffer_, all.table(i));
      made.emplace_back(each.text(0), each.get<std::uint32_t>(1));
    }
    return made;
  }

  Signature signature(const Table& table) {
    Signature made;
    made.name = table.text(2);
    made.subgraph = table.get<std::uint32_t>(4);
    made.inputs = ports(table, 0);
    made.outputs = ports(table, 1);
    return made;
  }

  Status check(const Model& model) const {
    if (bad_code_) return corrupt("an operation has no code");
    for (const Subgraph& graph : model.subgraphs) {
      const auto count = static_cast<std::int64_t>(graph.tensors.size());
      const auto valid = [&](const std::vector<std::int64_t>& list, std::int64_t least) {
        return std::ranges::all_of(list, [&](std::int64_t index) { return index >= least && index < count; });
      };
      bool good = valid(graph.inputs, 0) && valid(graph.outputs, 0);
      for (const Operator& each : graph.operators) good = good && valid(each.inputs, -1) && valid(each.outputs, 0);
      if (!good) return corrupt("an operation refers to a tensor that is not there");
    }
    for (const Signature& each : model.signatures) {
      if (each.subgraph >= model.subgraphs.size()) return corrupt("a signature refers to a graph that is not there");
      const auto count = static_cast<std::int64_t>(model.subgraphs[each.subgraph].tensors.size());
      for (const auto* side : {&each.inputs, &each.outputs}) {
        for (const auto& [name, tensor] : *side) {
          if (tensor < 0 || tensor >= count) return corrupt("a signature refers to a tensor that is not there");
        }
      }
    }
    return Status::success();
  }

  Buffer buffer_;
  std::vector<std::string> codes_;
  std::vector<base::Bytes> data_;
  std::uint64_t spent_ = 0;
  bool wasteful_ = false;
  bool bad_code_ = false;
};

}  // namespace

Result<Model> decode_tflite(base::Bytes file) {
  if (file.size() < 8 || base::as_text(file.subspan(4, 4)) != "TFL3") return corrupt("it does not begin as one");
  return Decoder(file).run();
}

std::string type_text(int type) {
  if (type < 0 || static_cast<std::size_t>(type) >= kTypes.size()) return "type " + std::to_string(type);
  return std::string(kTypes[static_cast<std::size_t>(type)].name);
}

std::optional<DType> dtype_of(int type) noexcept {
  if (type < 0 || static_cast<std::size_t>(type) >= kTypes.size()) return std::nullopt;
  return kTypes[static_cast<std::size_t>(type)].dtype;
}

}  // namespace sonde::formats::tflite
