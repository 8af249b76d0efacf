// The values whose plugins want more than a plain tensor.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "formats/tf_dtype.h"
#include "formats/tfevents.h"
#include "formats/tfevents_value.h"
#include "formats/wire.h"
#include "tensor/convert.h"
#include "tensor/copy.h"
#include "tensor/why_invalid.h"

namespace sonde::tfevents {
namespace {

constexpr int kMaxThresholds = 1'000'000;
// Protobuf messages end at 2 GiB; what surrounds a tensor is far smaller than the difference.
constexpr std::size_t kMaxContent = (std::size_t{2} << 30) - (std::size_t{1} << 20);

std::string quoted(std::string_view name) {
  std::string text = "'";
  text += name;
  text += '\'';
  return text;
}

Status check_view(const TensorView& view, std::string_view what) {
  if (view.valid()) return {};
  return {Code::invalid_argument, std::string(what) + " cannot be recorded: " + std::string(tensor::why_invalid(view))};
}

// How many predictions fall between neighbouring thresholds, for either label.
struct PrBuckets {
  std::vector<double> positives;
  std::vector<double> negatives;
};

Result<PrBuckets> count_predictions(const TensorView& labels, const TensorView& predictions, int thresholds) {
  const auto truth = tensor::to_doubles(labels);
  if (!truth) return truth.error();
  const auto guesses = tensor::to_doubles(predictions);
  if (!guesses) return guesses.error();
  const bool in_double = predictions.dtype == DType::f64;
  const int last = thresholds - 1;
  PrBuckets buckets;
  buckets.positives.resize(static_cast<std::size_t>(thresholds));
  buckets.negatives.resize(static_cast<std::size_t>(thresholds));
  for (std::size_t i = 0; i < guesses->size(); ++i) {
    const double guess = (*guesses)[i];
    if (std::isnan(guess)) {
      return Status(Code::invalid_argument,
                    "prediction " + std::to_string(i) + " is NaN; a PR curve needs predictions from 0 to 1");
    }
    const double clamped = std::clamp(guess, 0.0, 1.0);
    const double scaled = in_double ? clamped * last : static_cast<float>(clamped) * static_cast<float>(last);
    const auto bucket = static_cast<std::size_t>(std::floor(scaled));
    ((*truth)[i] != 0 ? buckets.positives : buckets.negatives)[bucket] += 1;
  }
  return buckets;
}

std::string_view suffix_of(MeshPart part) noexcept {
  switch (part) {
    case MeshPart::vertices: return "_VERTEX";
    case MeshPart::faces: return "_FACE";
    case MeshPart::colors: return "_COLOR";
  }
  return "";
}

DType dtype_of(MeshPart part) noexcept {
  switch (part) {
    case MeshPart::vertices: return DType::f32;
    case MeshPart::faces: return DType::i32;
    case MeshPart::colors: return DType::u8;
  }
  return DType::f32;
}

std::string dense_content(const TensorView& view) {
  std::string content(tensor::byte_size(view), '\0');
  tensor::copy_dense(view, content.data());
  return content;
}

// The elements as integers of type T; fails if one does not fit.
template <class T>
Result<std::string> integer_content(const TensorView& view, std::string_view what) {
  const auto values = tensor::to_doubles(view);
  if (!values) return values.error();
  std::string content;
  for (const double value : *values) {
    if (!(value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max()) ||
        value != std::floor(value)) {
      return Status(Code::invalid_argument,
                    std::string(what) + " must be integers that fit " + std::string(to_string(sonde::dtype_of<T>)));
    }
    base::put(content, static_cast<T>(value));
  }
  return content;
}

Result<std::string> mesh_content(MeshPart part, const TensorView& data) {
  if (data.dtype == dtype_of(part)) return dense_content(data);
  if (part == MeshPart::faces) return integer_content<std::int32_t>(data, "faces of a mesh");
  if (part == MeshPart::colors) return integer_content<std::uint8_t>(data, "colours of a mesh");
  const auto values = tensor::to_doubles(data);
  if (!values) return values.error();
  std::string content;
  for (const double value : *values) base::put(content, static_cast<float>(value));
  return content;
}

// MeshPluginData.
std::string mesh_plugin_content(std::string_view name, MeshPart part, std::span<const std::int64_t> dims,
                                const MeshOptions& options) {
  std::string shape;
  for (const std::int64_t size : dims) base::put_varint(shape, static_cast<std::uint64_t>(size));
  const auto bit = [](MeshPart present) { return std::int64_t{1} << static_cast<int>(present); };
  std::string content;
  wire::put_bytes_unless_empty(content, 2, name);
  wire::put_integer(content, 3, static_cast<std::int64_t>(part));
  wire::put_bytes(content, 5, options.config.empty() ? "{}" : std::string_view(options.config));
  wire::put_bytes(content, 6, shape);
  wire::put_integer(content, 7,
                    bit(MeshPart::vertices) | (options.faces != nullptr ? bit(MeshPart::faces) : 0) |
                        (options.colors != nullptr ? bit(MeshPart::colors) : 0));
  return content;
}

Result<std::string> encode_chart(const Chart& chart) {
  std::string content;
  if (chart.margin) {
    if (chart.tags.empty() || chart.tags.size() % 3 != 0) {
      return Status(Code::invalid_argument, "margin chart " + quoted(chart.title) + " has " +
                                                std::to_string(chart.tags.size()) +
                                                " tags; it needs three for each series: value, lower, upper");
    }
    for (std::size_t i = 0; i < chart.tags.size(); i += 3) {
      std::string series;
      for (std::uint32_t k = 0; k < 3; ++k) wire::put_bytes_unless_empty(series, k + 1, chart.tags[i + k]);
      wire::put_bytes(content, 1, series);
    }
  } else {
    for (const std::string& tag : chart.tags) wire::put_bytes(content, 1, tag);
  }
  std::string message;
  wire::put_bytes_unless_empty(message, 1, chart.title);
  wire::put_bytes(message, chart.margin ? 3 : 2, content);
  return message;
}

// google.protobuf.Value: one of a double, a string, a bool, which is written even if it is the default.
std::string encode_hparam(const HParam& hparam) {
  std::string value;
  if (const auto* flag = std::get_if<bool>(&hparam)) wire::put_integer(value, 4, *flag ? 1 : 0);
  if (const auto* integer = std::get_if<std::int64_t>(&hparam))
    wire::put_double(value, 2, static_cast<double>(*integer));
  if (const auto* number = std::get_if<double>(&hparam)) wire::put_double(value, 2, *number);
  if (const auto* text = std::get_if<std::string>(&hparam)) wire::put_bytes(value, 3, *text);
  return value;
}

// hparams.DataType: 1 string, 2 bool, 3 float64 - there is none for integers.
std::int64_t hparam_type(const HParam& hparam) noexcept {
  if (std::holds_alternative<std::string>(hparam)) return 1;
  return std::holds_alternative<bool>(hparam) ? 2 : 3;
}

// HParamsPluginData, whose content is the data, with the empty tensor that readers insist on.
void put_hparams(std::string& summary, std::string_view tag, std::uint32_t field, std::string_view message) {
  std::string content;
  wire::put_bytes(content, field, message);
  put_value(summary, tag, formats::kTfFloat, std::array{std::int64_t{0}}, {},
            encode_metadata("hparams", content, DataClass::tensor));
}

}  // namespace

Result<PrCurve> pr_curve(const TensorView& labels, const TensorView& predictions, int thresholds) {
  if (thresholds < 2 || thresholds > kMaxThresholds) {
    return Status(Code::invalid_argument, "a PR curve of " + std::to_string(thresholds) +
                                              " thresholds is not possible; choose 2 to " +
                                              std::to_string(kMaxThresholds));
  }
  if (Status status = check_view(labels, "labels"); !status) return status;
  if (Status status = check_view(predictions, "predictions"); !status) return status;
  if (labels.size() != predictions.size()) {
    return Status(Code::invalid_argument, "a PR curve needs as many labels as predictions, not " +
                                              std::to_string(labels.size()) + " and " +
                                              std::to_string(predictions.size()));
  }
  const auto buckets = count_predictions(labels, predictions, thresholds);
  if (!buckets) return buckets.error();

  const auto n = static_cast<std::size_t>(thresholds);
  PrCurve curve{.thresholds = thresholds, .values = std::vector<float>(6 * n)};
  double all_positives = 0;
  double all_negatives = 0;
  for (std::size_t i = 0; i < n; ++i) {
    all_positives += buckets->positives[i];
    all_negatives += buckets->negatives[i];
  }
  constexpr double kMinimum = 1e-7;  // of a divisor
  double true_positives = 0;
  double false_positives = 0;
  for (std::size_t i = n; i-- > 0;) {
    true_positives += buckets->positives[i];
    false_positives += buckets->negatives[i];
    const std::array<double, 6> column = {
        true_positives,
        false_positives,
        all_negatives - false_positives,
        all_positives - true_positives,
        true_positives / std::max(kMinimum, true_positives + false_positives),
        true_positives / std::max(kMinimum, all_positives),
    };
    for (std::size_t row = 0; row < column.size(); ++row) curve.values[row * n + i] = static_cast<float>(column[row]);
  }
  return curve;
}

void put_pr_curve(std::string& summary, std::string_view tag, const PrCurve& curve, bool with_metadata) {
  std::string metadata;
  if (with_metadata) {
    std::string content;
    wire::put_integer_unless_zero(content, 2, curve.thresholds);
    metadata = encode_metadata("pr_curves", content, DataClass::tensor);
  }
  const std::array dims = {std::int64_t{6}, static_cast<std::int64_t>(curve.values.size() / 6)};
  const std::string_view content(reinterpret_cast<const char*>(curve.values.data()),
                                 curve.values.size() * sizeof(float));
  put_value(summary, tag, formats::kTfFloat, dims, content, metadata);
}

std::string mesh_tag(std::string_view name, MeshPart part) { return std::string(name).append(suffix_of(part)); }

Status put_mesh_part(std::string& summary, std::string_view name, MeshPart part, const TensorView& data,
                     const MeshOptions& options, bool with_metadata) {
  if (Status status = check_view(data, "mesh " + quoted(name)); !status) return status;
  const int rank = data.shape.rank();
  if ((rank != 2 && rank != 3) || data.shape[rank - 1] != 3) {
    return {Code::invalid_argument, "mesh " + quoted(name) + " needs tensors of shape [points,3] or [batch,points,3]"};
  }
  if (static_cast<std::size_t>(data.size()) > kMaxContent / sizeof(float)) {
    return {Code::unsupported, "mesh " + quoted(name) + " is larger than an event can hold (2 GiB)"};
  }
  const std::array dims = {rank == 3 ? data.shape[0] : std::int64_t{1}, data.shape[rank - 2], std::int64_t{3}};
  const auto content = mesh_content(part, data);
  if (!content) return content.error();
  std::string metadata;
  if (with_metadata) {
    metadata = encode_metadata("mesh", mesh_plugin_content(name, part, dims, options), DataClass::tensor);
  }
  put_value(summary, mesh_tag(name, part), formats::tf_dtype(dtype_of(part)), dims, *content, metadata);
  return {};
}

Status put_custom_scalars(std::string& summary, std::span<const ChartCategory> layout, bool with_metadata) {
  std::string message;
  for (const ChartCategory& category : layout) {
    std::string encoded;
    wire::put_bytes_unless_empty(encoded, 1, category.title);
    for (const Chart& chart : category.charts) {
      const auto content = encode_chart(chart);
      if (!content) return content.error();
      wire::put_bytes(encoded, 2, *content);
    }
    wire::put_bytes(message, 2, encoded);
  }
  const std::string_view text = message;
  put_value(summary, kCustomScalarsTag, {}, {&text, 1},
            with_metadata ? encode_metadata("custom_scalars", {}, DataClass::tensor) : "");
  return {};
}

void put_hparams_experiment(std::string& summary, const HParams& hparams, double created) {
  std::string experiment;
  wire::put_double_unless_zero(experiment, 3, created);
  for (const auto& [name, value] : hparams.values) {
    std::string info;
    wire::put_bytes_unless_empty(info, 1, name);
    wire::put_integer(info, 4, hparam_type(value));
    for (const auto& [owner, domain] : hparams.domains) {
      if (owner != name) continue;
      std::string values;
      for (const HParam& each : domain) wire::put_bytes(values, 1, encode_hparam(each));
      wire::put_bytes(info, 5, values);
    }
    wire::put_bytes(experiment, 4, info);
  }
  for (const std::string& metric : hparams.metrics) {
    std::string name;
    wire::put_bytes_unless_empty(name, 2, metric);
    std::string info;
    wire::put_bytes(info, 1, name);
    wire::put_bytes(experiment, 5, info);
  }
  put_hparams(summary, kHParamsExperimentTag, 2, experiment);
}

void put_hparams_session_start(std::string& summary, const HParams& hparams, double started) {
  std::map<std::string_view, const HParam*> by_name;  // of a name given twice the last value counts
  for (const auto& [name, value] : hparams.values) by_name[name] = &value;
  std::string start;
  for (const auto& [name, value] : by_name) {
    std::string entry;
    wire::put_bytes(entry, 1, name);
    wire::put_bytes(entry, 2, encode_hparam(*value));
    wire::put_bytes(start, 1, entry);
  }
  wire::put_bytes_unless_empty(start, 4, hparams.group);
  wire::put_double_unless_zero(start, 5, started);
  put_hparams(summary, kHParamsSessionStartTag, 3, start);
}

void put_hparams_session_end(std::string& summary, SessionStatus status, double ended) {
  std::string end;
  wire::put_integer_unless_zero(end, 1, static_cast<std::int64_t>(status));
  wire::put_double_unless_zero(end, 2, ended);
  put_hparams(summary, kHParamsSessionEndTag, 4, end);
}

Status put_tensor(std::string& summary, std::string_view tag, const TensorView& tensor, std::string_view plugin_name,
                  std::string_view plugin_content, DataClass data_class, bool with_metadata) {
  if (Status status = check_view(tensor, "tensor " + quoted(tag)); !status) return status;
  if (tensor::byte_size(tensor) > kMaxContent) {
    return {Code::unsupported, "tensor " + quoted(tag) + " is larger than an event can hold (2 GiB)"};
  }
  put_value(summary, tag, formats::tf_dtype(tensor.dtype), {tensor.shape.begin(), tensor.shape.end()},
            dense_content(tensor), with_metadata ? encode_metadata(plugin_name, plugin_content, data_class) : "");
  return {};
}

}  // namespace sonde::tfevents
