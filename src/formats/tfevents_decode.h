// Reading TensorBoard's events: everything that tfevents.h writes, what other writers do differently, and the old forms
// of values. Field numbers beyond those in tfevents.h:
//
//   LogMessage         level=1, message=2
//   SessionLog         status=1, checkpoint_path=2, msg=3
//   TaggedRunMetadata  tag=1, run_metadata=2 bytes
//   Summary.Image      height=1, width=2, colorspace=3, encoded_image_string=4
//   Summary.Audio      sample_rate=1 float, num_channels=2, length_frames=3, encoded_audio_string=4, content_type=5
//   HistogramProto     min=1, max=2, num=3, sum=4, sum_squares=5, bucket_limit=6, bucket=7, all double
//   TensorProto        half_val=13 (f16 and bf16 bits), float_val=5, double_val=6, int_val=7 (all of at most 32 bits
//   but
//                      u32), string_val=8, scomplex_val=9, int64_val=10, bool_val=11, dcomplex_val=12, uint32_val=16,
//                      uint64_val=17, float8_val=18 bytes. A single value stands for all elements.
//
// Everything returned is a view into the payload and lives as long as it does. Unknown fields are skipped; if a
// singular field is repeated, the last counts. Strings are bytes: they may not be UTF-8.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "formats/tfevents.h"
#include "sonde/status.h"
#include "sonde/tensor.h"
#include "stats/derived.h"

namespace sonde::tfevents {

struct Metadata {
  std::string_view plugin_name;
  base::Bytes plugin_content;
  std::string_view display_name;
  std::string_view description;
  DataClass data_class = DataClass::unknown;
};

// A TensorProto. Its values are decoded on demand by the functions below.
struct Tensor {
  int tf_dtype = 0;          // formats/tf_dtype.h
  Shape shape = {};          // invalid beyond kMaxRank dimensions and if the rank is unknown
  base::Bytes content = {};  // tensor_content; empty if the values are in typed fields
  base::Bytes message = {};  // the whole TensorProto
};

struct Value {
  enum class Form : std::uint8_t { none, tensor, simple_value, image, histo, audio };

  // Not defaulted: that would first clear all of it, a third of the time needed to decode a scalar.
  Value() noexcept {}  // NOLINT(modernize-use-equals-default)

  std::string_view tag;
  std::string_view node_name;
  bool has_metadata = false;  // normally not with every value of a tag; it then applies to all of them
  Metadata metadata;
  Form form = Form::none;
  float simple_value = 0;
  Tensor tensor;
  base::Bytes message = {};  // of the old forms: the whole Image, HistogramProto or Audio

  // The plugin, if this value reveals it: from its metadata, or implied by an old form. Empty otherwise.
  std::string_view plugin_name() const noexcept;
};

struct Event {
  enum class What : std::uint8_t {
    nothing,
    file_version,         // text
    graph_def,            // bytes
    summary,              // values
    log_message,          // text, number (level)
    session_log,          // text, number (status: 1 start, 2 stop, 3 checkpoint), checkpoint_path
    tagged_run_metadata,  // text (the tag), bytes
    meta_graph_def,       // bytes
  };

  double wall_time = 0;
  std::int64_t step = 0;
  What what = What::nothing;
  std::string_view text;
  base::Bytes bytes = {};
  std::int64_t number = 0;
  std::string_view checkpoint_path;
  std::string_view source_writer;
  std::vector<Value> values;
};

// Code::corrupt, with the reason, if the payload is not a well-formed Event.
Result<Event> decode_event(base::Bytes payload);
// The same into an event that keeps its memory: no allocation once `values` is large enough. After an error it is
// empty.
Status decode_event(base::Bytes payload, Event& event);

// ---- The meaning of a value. Each function takes the new tensor form and the old one of its kind; Code::corrupt if
// the bytes are inconsistent, Code::invalid_argument if the value is of another kind.

// A number of any numeric dtype, in typed fields or tensor_content; a tensor of one element, of any rank.
Result<double> as_scalar(const Value& value);

// Old histograms become buckets by this rule. Empty buckets at both ends are dropped. The first remaining bucket begins
// at `min`, the last one ends at `max`, since the outermost limits are often -DBL_MAX and DBL_MAX; all edges in between
// are the limits as written, but never outside [first, last]. A `min` above the first bucket's limit, a `max` below the
// last bucket's lower limit, or one that is not finite, is not trusted: the nearest finite limit replaces it. So no
// bucket has left > right, none is invented, and the counts are the ones written. Limits that decrease, counts that are
// negative or NaN, and lists of different length are corrupt.
Result<std::vector<stats::Bucket>> as_histogram(const Value& value);

struct Images {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<base::Bytes> encoded;  // usually PNG; other writers also store JPEG or GIF
};
Result<Images> as_images(const Value& value);

struct Clip {
  base::Bytes encoded;  // usually WAV
  std::string_view label;
};
Result<std::vector<Clip>> as_audio(const Value& value);

// The elements of a string tensor in row-major order: text, layouts, graphs.
Result<std::vector<std::string_view>> as_strings(const Tensor& tensor);
// The elements of a numeric tensor in row-major order; complex numbers give their real part. Never more elements than
// the message has bytes, or 2^20 if one value stands for all of them.
Result<std::vector<double>> as_doubles(const Tensor& tensor);

// The same as a tensor with its own dtype and shape.
Result<sonde::Tensor> as_tensor(const Tensor& tensor);

}  // namespace sonde::tfevents
