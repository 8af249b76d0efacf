// What decoded values mean, in their new and their old forms.
#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <string>

#include "formats/tf_dtype.h"
#include "formats/tfevents_decode.h"
#include "formats/wire_reader.h"
#include "tensor/convert.h"

namespace sonde::tfevents {
namespace {

using wire::get_bytes;
using wire::pbf_reader;
using wire::pbf_wire_type;
using wire::reader_of;

constexpr std::int64_t kMaxRepeated = std::int64_t{1} << 20;

Status corrupt(std::string_view what, std::string_view why) {
  return {Code::corrupt, std::string(what) + " is corrupt: " + std::string(why)};
}
Status malformed(std::string_view what, const protozero::exception& error) {
  return corrupt(what, std::string("it is not well-formed protobuf: ") + error.what());
}
Status other_kind(std::string_view wanted) {
  return {Code::invalid_argument, "the value is not " + std::string(wanted)};
}

// Where and how a TensorProto stores the values of a dtype.
struct Field {
  enum class Encoding : std::uint8_t { none, varint, fixed32, fixed64, bytes } encoding = Encoding::none;
  std::uint32_t number = 0;
  DType dtype = DType::f32;  // of the values once decoded, and of tensor_content
};

// By TensorFlow's number of the dtype. Quantised types are the integers that they are stored as.
constexpr auto kFields = [] {
  using Encoding = Field::Encoding;
  std::array<Field, 26> fields{};
  fields[1] = {Encoding::fixed32, 5, DType::f32};
  fields[2] = {Encoding::fixed64, 6, DType::f64};
  fields[3] = fields[13] = {Encoding::varint, 7, DType::i32};
  fields[4] = fields[12] = {Encoding::varint, 7, DType::u8};
  fields[5] = fields[15] = {Encoding::varint, 7, DType::i16};
  fields[6] = fields[11] = {Encoding::varint, 7, DType::i8};
  fields[8] = {Encoding::fixed32, 9, DType::c64};
  fields[9] = {Encoding::varint, 10, DType::i64};
  fields[10] = {Encoding::varint, 11, DType::boolean};
  fields[14] = {Encoding::varint, 13, DType::bf16};
  fields[17] = fields[16] = {Encoding::varint, 7, DType::u16};
  fields[18] = {Encoding::fixed64, 12, DType::c128};
  fields[19] = {Encoding::varint, 13, DType::f16};
  fields[22] = {Encoding::varint, 16, DType::u32};
  fields[23] = {Encoding::varint, 17, DType::u64};
  fields[24] = {Encoding::bytes, 18, DType::f8_e5m2};
  fields[25] = {Encoding::bytes, 18, DType::f8_e4m3};
  return fields;
}();

Field field_of(int tf_dtype) noexcept {
  const auto number = static_cast<std::size_t>(tf_dtype);  // a negative one becomes huge
  return number < kFields.size() ? kFields[number] : Field{};
}

double from_varint(std::uint64_t raw, DType dtype) noexcept {
  switch (dtype) {
    case DType::f16: return tensor::to_float(Float16{static_cast<std::uint16_t>(raw)});
    case DType::bf16: return tensor::to_float(BFloat16{static_cast<std::uint16_t>(raw)});
    case DType::boolean: return raw != 0 ? 1 : 0;
    case DType::u32: return static_cast<std::uint32_t>(raw);
    case DType::u64: return static_cast<double>(raw);
    default: return static_cast<double>(static_cast<std::int64_t>(raw));  // smaller integers are sign-extended
  }
}

// Calls `use` with the bits of every number of the typed field, packed or not. Throws protozero's exceptions.
template <class Use>
void for_each_raw(base::Bytes message, const Field& field, Use use) {
  using Encoding = Field::Encoding;
  const std::uint32_t packed = wire::text(field.number);
  for (pbf_reader reader = reader_of(message); reader.next();) {
    const std::uint32_t key = reader.tag_and_type();
    if (key == packed) {
      switch (field.encoding) {
        case Encoding::fixed32:
          for (const std::uint32_t raw : reader.get_packed_fixed32()) use(std::uint64_t{raw});
          break;
        case Encoding::fixed64:
          for (const std::uint64_t raw : reader.get_packed_fixed64()) use(raw);
          break;
        case Encoding::varint:
          for (const std::uint64_t raw : reader.get_packed_uint64()) use(raw);
          break;
        case Encoding::bytes:
          for (const std::byte raw : get_bytes(reader)) use(std::to_integer<std::uint64_t>(raw));
          break;
        case Encoding::none: reader.skip(); break;
      }
    } else if (key == wire::integer(field.number) && field.encoding == Encoding::varint) {
      use(reader.get_uint64());
    } else if (key == wire::number32(field.number) && field.encoding == Encoding::fixed32) {
      use(std::uint64_t{reader.get_fixed32()});
    } else if (key == wire::number64(field.number) && field.encoding == Encoding::fixed64) {
      use(reader.get_fixed64());
    } else {
      reader.skip();
    }
  }
}

// The same with the numbers themselves.
template <class Use>
void for_each_number(base::Bytes message, const Field& field, Use use) {
  for_each_raw(message, field, [&](std::uint64_t raw) {
    switch (field.encoding) {
      case Field::Encoding::fixed32:
        use(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(raw))));
        break;
      case Field::Encoding::fixed64: use(std::bit_cast<double>(raw)); break;
      case Field::Encoding::bytes: use(tensor::element_as_double(&raw, field.dtype)); break;
      case Field::Encoding::varint:
      case Field::Encoding::none: use(from_varint(raw, field.dtype)); break;
    }
  });
}

// The values of the typed fields, as stored; for complex ones the real parts.
std::vector<double> typed_values(const Tensor& tensor, const Field& field) {
  std::vector<double> values;
  std::size_t seen = 0;
  const std::size_t every = tensor::is_complex(field.dtype) ? 2 : 1;
  for_each_number(tensor.message, field, [&](double value) {
    if (seen++ % every == 0) values.push_back(value);
  });
  return values;
}

Result<std::vector<double>> content_values(const Tensor& tensor, DType dtype) {
  const std::size_t size = size_of(dtype);
  const std::size_t count = tensor.content.size() / size;
  const bool fits = tensor.shape.valid() ? element_count(tensor.shape) == static_cast<std::int64_t>(count) : true;
  if (tensor.content.size() % size != 0 || !fits) {
    return corrupt("the tensor", "its content has " + std::to_string(tensor.content.size()) +
                                     " bytes, which does not match its shape");
  }
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = tensor::element_as_double(tensor.content.data() + i * size, dtype);
  return values;
}

// Like TensorFlow: missing values repeat the last one, and without any value they are zeros or empty strings.
template <class T>
Status fill_up(std::vector<T>& values, const Shape& shape) {
  if (!shape.valid()) return {};
  const std::int64_t count = element_count(shape);
  if (count < 0) return corrupt("the tensor", "its shape is invalid");
  const auto have = static_cast<std::int64_t>(values.size());
  if (have > count) {
    return corrupt("the tensor",
                   "it has " + std::to_string(have) + " values for " + std::to_string(count) + " elements");
  }
  if (have < count && count > kMaxRepeated) {
    return {Code::exhausted, "the tensor repeats one value " + std::to_string(count) + " times, which is not expanded"};
  }
  values.resize(static_cast<std::size_t>(count), values.empty() ? T{} : values.back());
  return {};
}

// A rank-0 number without a vector: the way of every scalar.
Result<double> scalar_of(const Tensor& tensor) {
  // Nearly every scalar there is has these very bytes in front of its four: dtype float, rank 0, one float_val.
  constexpr std::string_view kFloat("\x08\x01\x12\x00\x2a\x04", 6);
  if (tensor.message.size() == kFloat.size() + sizeof(float) && base::as_text(tensor.message).starts_with(kFloat)) {
    return static_cast<double>(base::load<float>(tensor.message.data() + kFloat.size()));
  }
  const Field field = field_of(tensor.tf_dtype);
  if (field.encoding == Field::Encoding::none) return other_kind("a number");
  const std::int64_t count = element_count(tensor.shape);
  if (count != 1) return other_kind("a single number");
  if (!tensor.content.empty()) {
    if (tensor.content.size() != size_of(field.dtype)) {
      return corrupt("the scalar", "its content has " + std::to_string(tensor.content.size()) + " bytes");
    }
    return tensor::element_as_double(tensor.content.data(), field.dtype);
  }
  double first = 0;  // protobuf omits zeros
  std::size_t seen = 0;
  try {
    for_each_number(tensor.message, field, [&](double value) {
      if (seen++ == 0) first = value;
    });
  } catch (const protozero::exception& error) {
    return malformed("the scalar", error);
  }
  if (seen > (tensor::is_complex(field.dtype) ? 2u : 1u)) return corrupt("the scalar", "it has several values");
  return first;
}

// ---- Old histograms.

struct OldHistogram {
  double min = 0;
  double max = 0;
  std::vector<double> limits;  // the right edge of each bucket
  std::vector<double> counts;
};

void append_doubles(pbf_reader& reader, std::vector<double>& to) {
  if (reader.wire_type() == pbf_wire_type::length_delimited) {
    for (const double value : reader.get_packed_double()) to.push_back(value);
  } else if (reader.wire_type() == pbf_wire_type::fixed64) {
    to.push_back(reader.get_double());
  } else {
    reader.skip();
  }
}

OldHistogram decode_old_histogram(base::Bytes message) {
  OldHistogram histogram;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    const bool is_number = reader.wire_type() == pbf_wire_type::fixed64;
    switch (reader.tag()) {
      case 6: append_doubles(reader, histogram.limits); break;
      case 7: append_doubles(reader, histogram.counts); break;
      case 1:
      case 2:
        if (is_number) {
          double& to = reader.tag() == 1 ? histogram.min : histogram.max;
          to = reader.get_double();
          break;
        }
        [[fallthrough]];
      default: reader.skip();
    }
  }
  return histogram;
}

Status check(const OldHistogram& histogram) {
  if (histogram.limits.size() != histogram.counts.size()) {
    return corrupt("the histogram", "it has " + std::to_string(histogram.limits.size()) + " limits for " +
                                        std::to_string(histogram.counts.size()) + " buckets");
  }
  for (std::size_t i = 0; i < histogram.limits.size(); ++i) {
    if (!(histogram.counts[i] >= 0)) return corrupt("the histogram", "a count is negative or NaN");
    if (std::isnan(histogram.limits[i])) return corrupt("the histogram", "a limit is NaN");
    if (i > 0 && histogram.limits[i] < histogram.limits[i - 1]) return corrupt("the histogram", "its limits decrease");
  }
  return {};
}

// Writers use DBL_MAX, or infinity, for no limit.
bool is_limit(double value) noexcept { return std::abs(value) < DBL_MAX; }

std::vector<stats::Bucket> buckets_of(const OldHistogram& histogram) {
  const auto& [min, max, limits, counts] = histogram;
  std::size_t first = 0;
  std::size_t last = counts.size();
  while (first < last && counts[first] == 0) ++first;
  while (last > first && counts[last - 1] == 0) --last;
  if (first == last) return {};
  --last;

  // The range of the data if it is plausible, and otherwise the nearest meaningful limit.
  const double below_first = first > 0 ? limits[first - 1] : -DBL_MAX;
  const double below_last = last > 0 ? limits[last - 1] : -DBL_MAX;
  double low = limits[first];
  if (is_limit(min) && min <= limits[first]) {
    low = min;
  } else if (is_limit(below_first)) {
    low = below_first;
  } else if (!is_limit(low) && is_limit(max)) {
    low = max;
  }
  double high = low;
  if (is_limit(max) && max >= below_last && max >= low) {
    high = max;
  } else if (is_limit(limits[last])) {
    high = limits[last];
  } else if (is_limit(below_last)) {
    high = below_last;
  }
  high = std::max(low, high);

  std::vector<stats::Bucket> buckets;
  double left = low;
  for (std::size_t i = first; i <= last; ++i) {
    const double right = i == last ? high : std::clamp(limits[i], low, high);
    buckets.push_back({.left = left, .right = right, .count = counts[i]});
    left = right;
  }
  return buckets;
}

// ---- Old images and audio.

Images decode_old_image(base::Bytes message) {
  Images images;
  base::Bytes encoded;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    switch (reader.tag_and_type()) {
      case wire::integer(1): images.height = reader.get_int32(); break;
      case wire::integer(2): images.width = reader.get_int32(); break;
      case wire::text(4): encoded = get_bytes(reader); break;
      default: reader.skip();
    }
  }
  images.encoded = {encoded};
  return images;
}

Clip decode_old_audio(base::Bytes message) {
  Clip clip;
  for (pbf_reader reader = reader_of(message); reader.next();) {
    if (reader.tag_and_type() == wire::text(4)) {
      clip.encoded = get_bytes(reader);
    } else {
      reader.skip();
    }
  }
  return clip;
}

std::optional<std::int64_t> parse_size(std::string_view text) noexcept {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 0) return std::nullopt;
  return size;
}

}  // namespace

Result<double> as_scalar(const Value& value) {
  if (value.form == Value::Form::simple_value) return static_cast<double>(value.simple_value);
  if (value.form == Value::Form::tensor) return scalar_of(value.tensor);
  return other_kind("a scalar");
}

Result<std::vector<stats::Bucket>> as_histogram(const Value& value) {
  if (value.form == Value::Form::histo) {
    try {
      const OldHistogram histogram = decode_old_histogram(value.message);
      if (Status status = check(histogram); !status) return status;
      return buckets_of(histogram);
    } catch (const protozero::exception& error) {
      return malformed("the histogram", error);
    }
  }
  if (value.form != Value::Form::tensor) return other_kind("a histogram");
  const Shape& shape = value.tensor.shape;
  if (!shape.valid() || shape.rank() != 2 || shape[1] != 3) return other_kind("a histogram: its shape is not [k,3]");
  const auto numbers = as_doubles(value.tensor);
  if (!numbers) return numbers.error();
  std::vector<stats::Bucket> buckets(numbers->size() / 3);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double* row = numbers->data() + 3 * i;
    buckets[i] = {.left = row[0], .right = row[1], .count = row[2]};
  }
  return buckets;
}

Result<Images> as_images(const Value& value) {
  if (value.form == Value::Form::image) {
    try {
      return decode_old_image(value.message);
    } catch (const protozero::exception& error) {
      return malformed("the image", error);
    }
  }
  if (value.form != Value::Form::tensor) return other_kind("an image");
  const auto strings = as_strings(value.tensor);
  if (!strings) return strings.error();
  if (strings->size() < 2) return corrupt("the image", "width and height are missing");
  const auto width = parse_size((*strings)[0]);
  const auto height = parse_size((*strings)[1]);
  if (!width || !height) return corrupt("the image", "width or height is not a number");
  Images images{.width = *width, .height = *height, .encoded = {}};
  for (std::size_t i = 2; i < strings->size(); ++i) images.encoded.push_back(base::as_bytes((*strings)[i]));
  return images;
}

Result<std::vector<Clip>> as_audio(const Value& value) {
  if (value.form == Value::Form::audio) {
    try {
      return std::vector<Clip>{decode_old_audio(value.message)};
    } catch (const protozero::exception& error) {
      return malformed("the audio clip", error);
    }
  }
  if (value.form != Value::Form::tensor) return other_kind("audio");
  const auto strings = as_strings(value.tensor);
  if (!strings) return strings.error();
  const Shape& shape = value.tensor.shape;
  const bool pairs = shape.valid() && shape.rank() == 2 && shape[1] == 2;
  if (!pairs && (!shape.valid() || shape.rank() != 1)) return other_kind("audio: its shape is not [k,2]");
  std::vector<Clip> clips;
  for (std::size_t i = 0; i < strings->size(); i += pairs ? 2 : 1) {
    clips.push_back(
        {.encoded = base::as_bytes((*strings)[i]), .label = pairs ? (*strings)[i + 1] : std::string_view()});
  }
  return clips;
}

Result<std::vector<std::string_view>> as_strings(const Tensor& tensor) {
  if (tensor.tf_dtype != formats::kTfString) return other_kind("a tensor of strings");
  std::vector<std::string_view> strings;
  try {
    for (pbf_reader reader = reader_of(tensor.message); reader.next();) {
      if (reader.tag_and_type() == wire::text(8)) {
        strings.push_back(base::as_text(get_bytes(reader)));
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception& error) {
    return malformed("the tensor", error);
  }
  if (Status status = fill_up(strings, tensor.shape); !status) return status;
  return strings;
}

Result<std::vector<double>> as_doubles(const Tensor& tensor) {
  const Field field = field_of(tensor.tf_dtype);
  if (field.encoding == Field::Encoding::none) return other_kind("a tensor of numbers");
  if (!tensor.content.empty()) return content_values(tensor, field.dtype);
  try {
    std::vector<double> values = typed_values(tensor, field);
    if (Status status = fill_up(values, tensor.shape); !status) return status;
    return values;
  } catch (const protozero::exception& error) {
    return malformed("the tensor", error);
  }
}

Result<sonde::Tensor> as_tensor(const Tensor& tensor) {
  const Field field = field_of(tensor.tf_dtype);
  if (field.encoding == Field::Encoding::none) return other_kind("a tensor of numbers");
  const auto count = element_count(tensor.shape);
  if (count < 0) return corrupt("the tensor", "its shape is invalid");
  sonde::Tensor made{.dtype = field.dtype, .shape = tensor.shape, .data = {}};
  const std::size_t size = size_of(field.dtype);
  if (!tensor.content.empty()) {
    if (tensor.content.size() % size != 0 || tensor.content.size() / size != static_cast<std::size_t>(count)) {
      return corrupt("the tensor", "its content does not match its shape");
    }
    made.data.assign(tensor.content.begin(), tensor.content.end());
    return made;
  }
  // The lowest bytes of what a field holds are the element; of complex numbers the two parts follow each other.
  const std::size_t piece = tensor::is_complex(field.dtype) ? size / 2 : size;
  std::vector<std::uint64_t> raw;
  try {
    for_each_raw(tensor.message, field, [&](std::uint64_t bits) { raw.push_back(bits); });
  } catch (const protozero::exception& error) {
    return malformed("the tensor", error);
  }
  if (!tensor::is_complex(field.dtype)) {
    if (Status status = fill_up(raw, tensor.shape); !status) return status;
  } else if (raw.size() * piece != static_cast<std::size_t>(count) * size) {
    return corrupt("the tensor", "its values do not match its shape");
  }
  made.data.resize(raw.size() * piece);
  for (std::size_t i = 0; i < raw.size(); ++i) std::memcpy(made.data.data() + i * piece, &raw[i], piece);
  return made;
}

}  // namespace sonde::tfevents
