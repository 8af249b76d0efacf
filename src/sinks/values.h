// The input of sinks. Everything is a view, valid during the call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/flight.h"
#include "formats/stats_record.h"
#include "render/array.h"
#include "render/table.h"
#include "sonde/capture.h"
#include "sonde/summaries.h"
#include "sonde/tensor.h"
#include "stats/derived.h"
#include "stats/summary.h"

namespace sonde::sinks {

struct Stamp {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
};

// A name under which TensorBoard shows something; ids are dense and belong to one recorder.
struct Tag {
  std::uint32_t id = 0;
  std::string_view name;
};

struct ScalarValue {
  Tag tag;
  double value = 0;
};
struct HistogramValue {
  Tag tag;
  std::span<const stats::Bucket> buckets;
};
// A picture, encoded already: that takes longer than all other values together.
struct ImageValue {
  Tag tag;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::string_view png;
};
struct AudioValue {
  Tag tag;
  TensorView view;
  const AudioOptions* options = nullptr;
};
struct TextValue {
  Tag tag;
  std::string_view text;
};
// Summary values that are already encoded, including metadata.
struct EncodedValue {
  std::string_view summary;
};
struct GraphValue {
  std::string_view graph_def;
};
// A whole event that is already encoded, with its own time and step.
struct EventValue {
  std::string_view event;
};
struct PrintValue {
  std::string_view name;
  TensorView view;
  bool full = false;                   // the elements too,
  render::ArrayOptions elements = {};  // formatted like this
};
struct TableValue {
  std::string_view name;
  std::span<const render::Column> columns;
};
// Rows for a table, which is a separate file.
struct RowsValue {
  std::string_view table;
  std::span<const render::Column> columns;
  std::span<const std::int64_t> rows = {};  // their numbers in the batch; empty: the first ones
};
// The steps of a capture, which are saved together.
struct CaptureValue {
  const CaptureInfo* info = nullptr;                           // without its steps
  const std::function<const flight::Step*()>* next = nullptr;  // gives one after the other, then null
};
using Value = std::variant<ScalarValue, HistogramValue, ImageValue, AudioValue, TextValue, EncodedValue, GraphValue,
                           EventValue, PrintValue, TableValue, RowsValue, CaptureValue>;

// A probe as files name it; ids are dense and belong to one recorder.
struct ProbeName {
  std::uint32_t id = 0;
  std::string_view name;
  Kind kind = Kind::activation;
  std::span<const std::string> inputs;
};

// What a step keeps of one tensor.
struct StepTensor {
  ProbeName probe;
  std::uint32_t occurrence = 0;
  DType dtype = DType::f32;
  Shape shape;
  stats::Summary summary;
  std::optional<stats::Histogram> histogram;
};

// A whole tensor of a step, and its file formats.
struct StoredTensor {
  std::string_view key;  // the tag: "gradient/dense_1/out#1"
  TensorView view;
  bool whole = false;
  bool npy = false;
  bool npz = false;
};

struct StepEnd {
  Stamp stamp;
  bool evaluation = false;
  std::span<const StepTensor> tensors;        // in the order of execution
  std::span<const StoredTensor> stored = {};  // for TensorStore
};

// Records that were lost before they reached a sink, or a change of the recording level.
struct Loss {
  std::optional<ProbeName> probe;  // none: something recorded by name
  bool evaluation = false;
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::uint64_t count = 0;
  stats_record::GapReason reason = stats_record::GapReason::no_room;
  std::string detail = {};  // one sentence, or empty
};

}  // namespace sonde::sinks
