#include "formats/tfevents.h"

#include <array>
#include <charconv>

#include "formats/tf_dtype.h"
#include "formats/tfevents_value.h"
#include "formats/tfrecord.h"
#include "formats/wire.h"

namespace sonde::tfevents {
namespace {

using namespace std::string_view_literals;

// SummaryMetadata { plugin_data { plugin_name: "scalars" } data_class: DATA_CLASS_SCALAR }
constexpr auto kScalarMetadata = "\x0a\x09\x0a\x07scalars\x20\x01"sv;
// TensorProto { dtype, tensor_shape {}, and the key and size of one packed float_val or double_val }
constexpr auto kFloatTensor = "\x08\x01\x12\x00\x2a\x04"sv;
constexpr auto kDoubleTensor = "\x08\x02\x12\x00\x32\x08"sv;

char* put_raw(char* to, std::string_view bytes) noexcept {
  std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}
template <class T>
char* put_raw(char* to, T value) noexcept
  requires std::is_arithmetic_v<T>
{
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}
char* put_raw_varint(char* to, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

// The sizes of a scalar's nested messages, from the inside out.
struct ScalarSizes {
  std::size_t tensor;
  std::size_t value;

  ScalarSizes(std::size_t tag, Precision precision, bool with_metadata) noexcept {
    tensor = precision == Precision::f64 ? kDoubleTensor.size() + sizeof(double) : kFloatTensor.size() + sizeof(float);
    value = wire::bytes_field_size(tag) + wire::bytes_field_size(tensor) +
            (with_metadata ? wire::bytes_field_size(kScalarMetadata.size()) : 0);
  }
};

// Fields of Summary.Value, straight to memory that is known to be large enough.
void put_scalar_value(char* to, const ScalarSizes& sizes, std::string_view tag, double value, Precision precision,
                      bool with_metadata) noexcept {
  *to++ = '\x0a';  // tag = 1
  to = put_raw_varint(to, tag.size());
  to = put_raw(to, tag);
  *to++ = '\x42';  // tensor = 8
  *to++ = static_cast<char>(sizes.tensor);
  if (precision == Precision::f64) {
    to = put_raw(to, kDoubleTensor);
    to = put_raw(to, value);
  } else {
    to = put_raw(to, kFloatTensor);
    to = put_raw(to, static_cast<float>(value));
  }
  if (with_metadata) {
    *to++ = '\x4a';  // metadata = 9
    *to++ = static_cast<char>(kScalarMetadata.size());
    put_raw(to, kScalarMetadata);
  }
}

void put_time(std::string& event, double wall_time, std::int64_t step) {
  wire::put_double_unless_zero(event, 1, wall_time);
  wire::put_integer_unless_zero(event, 2, step);
}

// One record: an event with one field of bytes.
void put_event(std::string& file, double wall_time, std::int64_t step, std::uint32_t field, std::string_view content) {
  const std::size_t record = tfrecord::begin_record(file);
  put_time(file, wall_time, step);
  wire::put_bytes(file, field, content);
  tfrecord::end_record(file, record);
}

}  // namespace

void put_version_event(std::string& file, double wall_time) {
  const std::size_t record = tfrecord::begin_record(file);
  put_time(file, wall_time, 0);
  wire::put_bytes(file, 3, "brain.Event:2");
  wire::put_bytes(file, 10, "\x0a\x05sonde"sv);  // SourceMetadata { writer: "sonde" }
  tfrecord::end_record(file, record);
}

void put_session_start_event(std::string& file, double wall_time, std::int64_t step) {
  const std::size_t record = tfrecord::begin_record(file);
  put_time(file, wall_time, step);
  wire::put_bytes(file, 7, "\x08\x01"sv);  // SessionLog { status: START }
  tfrecord::end_record(file, record);
}

void put_scalar_event(std::string& file, double wall_time, std::int64_t step, std::string_view tag, double value,
                      Precision precision, bool with_metadata) {
  const ScalarSizes sizes(tag.size(), precision, with_metadata);
  const std::size_t summary = wire::bytes_field_size(sizes.value);
  const auto raw_step = static_cast<std::uint64_t>(step);
  const std::size_t length = (std::bit_cast<std::uint64_t>(wall_time) != 0 ? 9 : 0) +
                             (step != 0 ? 1 + wire::varint_size(raw_step) : 0) + wire::bytes_field_size(summary);

  const std::size_t record = file.size();
  file.resize(record + tfrecord::kHeaderSize + length + tfrecord::kFooterSize);
  char* const payload = file.data() + record + tfrecord::kHeaderSize;
  char* to = payload;
  if (std::bit_cast<std::uint64_t>(wall_time) != 0) {
    *to++ = '\x09';  // wall_time = 1
    to = put_raw(to, wall_time);
  }
  if (step != 0) {
    *to++ = '\x10';  // step = 2
    to = put_raw_varint(to, raw_step);
  }
  *to++ = '\x2a';  // summary = 5
  to = put_raw_varint(to, summary);
  *to++ = '\x0a';  // value = 1
  to = put_raw_varint(to, sizes.value);
  put_scalar_value(to, sizes, tag, value, precision, with_metadata);
  tfrecord::seal(payload, length);
}

void put_summary_event(std::string& file, double wall_time, std::int64_t step, std::string_view summary) {
  put_event(file, wall_time, step, 5, summary);
}

void put_graph_event(std::string& file, double wall_time, std::string_view graph_def) {
  put_event(file, wall_time, 0, 4, graph_def);
}

void put_wall_time(std::string& event, double wall_time) {
  char field[9] = {'\x09'};  // wall_time = 1
  put_raw(field + 1, wall_time);
  event.append(field, sizeof field);
}

void put_scalar(std::string& summary, std::string_view tag, double value, Precision precision, bool with_metadata) {
  const ScalarSizes sizes(tag.size(), precision, with_metadata);
  wire::put_bytes_header(summary, 1, sizes.value);
  const std::size_t begin = summary.size();
  summary.resize(begin + sizes.value);
  put_scalar_value(summary.data() + begin, sizes, tag, value, precision, with_metadata);
}

void put_histogram(std::string& summary, std::string_view tag, std::span<const stats::Bucket> buckets,
                   bool with_metadata) {
  static_assert(sizeof(stats::Bucket) == 3 * sizeof(double), "buckets are written as they lie in memory");
  const std::array dims = {static_cast<std::int64_t>(buckets.size()), std::int64_t{3}};
  const std::string_view content(reinterpret_cast<const char*>(buckets.data()), buckets.size_bytes());
  put_value(summary, tag, formats::kTfDouble, dims, content,
            with_metadata ? encode_metadata("histograms", {}, DataClass::tensor) : "");
}

void put_images(std::string& summary, std::string_view tag, std::int64_t width, std::int64_t height,
                std::span<const std::string_view> pngs, bool with_metadata) {
  const std::string width_text = std::to_string(width);
  const std::string height_text = std::to_string(height);
  std::vector<std::string_view> strings = {width_text, height_text};
  strings.insert(strings.end(), pngs.begin(), pngs.end());
  const std::array dims = {static_cast<std::int64_t>(strings.size())};
  put_value(summary, tag, dims, strings, with_metadata ? encode_metadata("images", {}, DataClass::blob_sequence) : "");
}

void put_audio(std::string& summary, std::string_view tag, std::span<const AudioClip> clips, bool with_metadata) {
  std::vector<std::string_view> strings;
  for (const AudioClip& clip : clips) {
    strings.push_back(clip.wav);
    strings.push_back(clip.label);
  }
  const std::array dims = {static_cast<std::int64_t>(clips.size()), std::int64_t{2}};
  put_value(summary, tag, dims, strings,
            with_metadata ? encode_metadata("audio", "\x10\x0b"sv, DataClass::unknown) : "");  // encoding: WAV
}

void put_text(std::string& summary, std::string_view tag, std::string_view text, bool with_metadata) {
  put_value(summary, tag, {}, {&text, 1}, with_metadata ? encode_metadata("text", {}, DataClass::tensor) : "");
}

void put_text(std::string& summary, std::string_view tag, std::span<const std::string_view> texts, bool with_metadata) {
  const std::array dims = {static_cast<std::int64_t>(texts.size())};
  put_value(summary, tag, dims, texts, with_metadata ? encode_metadata("text", {}, DataClass::tensor) : "");
}

}  // namespace sonde::tfevents
