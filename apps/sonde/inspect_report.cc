#include "inspect_report.h"

#include <algorithm>

#include "inspect/inputs.h"
#include "render/console.h"
#include "tensor/copy.h"
#include "tensor_text.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {

std::string aligned(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right) {
  std::vector<std::size_t> widths(right.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += right[i] ? padded_left(row[i], widths[i]) : padded(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

namespace {

std::string shape_text(const LayerReport& report) {
  inspect::Value value;
  value.type = report.dtype ? std::string(to_string(*report.dtype)) : "?";
  if (!report.ranks_differ) value.shape = report.shape;
  return inspect::type_text(value);
}

void put_layer(formats::JsonWriter& json, const inspect::Layer& layer) {
  json.key("index").integer(layer.index).key("name").text(layer.value.name).key("op").text(layer.op);
  if (!layer.quantization) return;
  json.key("quantization").object().key("scale").array();
  for (const double scale : layer.quantization->scales) json.number(scale);
  json.end().key("zero_point").array();
  for (const std::int64_t zero : layer.quantization->zero_points) json.integer(zero);
  json.end().key("axis").integer(layer.quantization->axis).end();
}

void put_shape(formats::JsonWriter& json, const std::optional<Shape>& shape) {
  if (shape) {
    json.key("shape").shape(*shape);
  } else {
    json.key("shape").null();
  }
}

}  // namespace

Status LayerReport::add(const TensorView& tensor, bool channels_last) {
  if (!dtype) {
    shape = tensor.shape;
  } else if (shape.rank() != tensor.shape.rank()) {
    ranks_differ = true;
  } else {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] != tensor.shape[axis]) shape[axis] = -1;
    }
  }
  dtype = tensor.dtype;
  bytes += tensor::byte_size(tensor);
  units.add(*layer, tensor, channels_last);
  Result<Described> described = describe(tensor);
  if (!described) return described.error();
  if (!described->summary) return Status::success();
  if (!summary) summary.emplace();
  summary->merge(*described->summary);
  histogram.merge(std::move(described->histogram));
  return Status::success();
}

std::string list_text(const inspect::Description& model, const std::vector<std::int64_t>& layers) {
  std::string text = harmless(model.path) + ": " + model.format + ", " + counted(model.layers.size(), "layer") + "\n";
  const auto put_values = [&](const char* title, const std::vector<inspect::Value>& values) {
    for (const inspect::Value& value : values) {
      text += std::string(title) + "  " + render::printable(value.name) + "  " + inspect::type_text(value) + "\n";
    }
  };
  put_values("input ", model.inputs);
  put_values("output", model.outputs);
  std::vector<std::vector<std::string>> rows = {{"index", "name", "op", "type", "parameters"}};
  std::uint64_t parameters = 0;
  for (const std::int64_t index : layers) {
    const inspect::Layer& layer = model.layers[static_cast<std::size_t>(index)];
    parameters += static_cast<std::uint64_t>(layer.parameters);
    rows.push_back({std::to_string(layer.index), render::printable(layer.value.name), render::printable(layer.op),
                    inspect::type_text(layer.value),
                    layer.parameters == 0 ? "" : grouped(static_cast<std::uint64_t>(layer.parameters))});
  }
  text += "\n" + aligned(rows, {true, false, false, false, true});
  text += "\n" + counted(parameters, "parameter") + " in " + counted(layers.size(), "layer") + "\n";
  return text;
}

std::string list_json(const inspect::Description& model, const std::vector<std::int64_t>& layers) {
  formats::JsonWriter json;
  json.object().key("model").text(model.path).key("format").text(model.format);
  const auto put_value = [&](const inspect::Value& value) {
    json.object().key("name").text(value.name).key("dtype").text(value.type);
    put_shape(json, value.shape);
    json.end();
  };
  json.list("inputs", model.inputs, put_value);
  json.list("outputs", model.outputs, put_value);
  json.key("layers").array();
  for (const std::int64_t index : layers) {
    const inspect::Layer& layer = model.layers[static_cast<std::size_t>(index)];
    json.line().object();
    put_layer(json, layer);
    json.key("dtype").text(layer.value.type);
    put_shape(json, layer.value.shape);
    json.key("parameters").integer(layer.parameters).key("node").text(layer.node).key("inputs").texts(layer.inputs);
    if (!layer.scope.empty()) json.key("scope").text(layer.scope);
    json.end();
  }
  json.end().end();
  return json.take() + "\n";
}

std::string declared_types(const std::vector<LayerReport>& reports) {
  std::string text;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64, DType::f8_e4m3, DType::f8_e5m2}) {
    const bool there = std::ranges::any_of(reports, [&](const LayerReport& report) {
      return report.dtype == dtype || (!report.dtype && report.layer->value.dtype == dtype);
    });
    if (there) text += (text.empty() ? "" : " and ") + std::string(to_string(dtype));
  }
  return text;
}

std::string runtime_text(const inspect::RuntimeInfo& info, const std::vector<LayerReport>& reports) {
  const std::string declared = declared_types(reports);
  return info.name + " " + info.version + ", executed in " + info.precision +
         (declared.empty() || declared == info.precision ? "" : "; the model declares " + declared) +
         (info.settings.empty() ? "" : ", " + info.settings) +
         (info.interpreter.empty() ? "" : "; by " + info.interpreter) +
         (info.note.empty() ? "" : "\nnot the first choice: " + info.note);
}

std::string report_text(const std::vector<LayerReport>& reports) {
  const TextStyle style = output_style();
  std::vector<std::vector<std::string>> rows;
  for (const LayerReport& report : reports) {
    const inspect::Layer& layer = *report.layer;
    std::vector<std::string> row = {std::to_string(layer.index), render::printable(layer.value.name),
                                    render::printable(layer.op)};
    if (!report.missing.empty()) {
      row.push_back("not available: " + report.missing);
    } else {
      row.push_back(shape_text(report));
      if (report.summary) {
        const std::string bad = render::nonfinite_text(*report.summary);
        row.push_back(render::range_text(*report.summary, report.histogram, style.glyphs, 9) +
                      (bad.empty() ? "" : "  " + bad));
      }
    }
    rows.push_back(std::move(row));
  }
  // A reason is longer than any type, and must not move the columns behind it.
  std::size_t width = 0;
  for (const auto& row : rows) {
    if (row.size() > 4) width = std::max(width, row[3].size());
  }
  for (auto& row : rows) {
    if (row.size() > 4) row[3] = padded(row[3], width) + "  " + row[4];
    row.resize(4);
  }
  return aligned(rows, {true, false, false, false});
}

void put_report(formats::JsonWriter& json, const std::vector<LayerReport>& reports) {
  json.key("layers").array();
  for (const LayerReport& report : reports) {
    json.line().object();
    put_layer(json, *report.layer);
    if (!report.missing.empty()) {
      json.key("dtype").text(report.layer->value.type);
      put_shape(json, report.layer->value.shape);
      json.key("stats").null().key("missing").text(report.missing).end();
      continue;
    }
    json.key("dtype").text(report.dtype ? to_string(*report.dtype) : "");
    put_shape(json, report.ranks_differ ? std::nullopt : std::optional(report.shape));
    json.key("stats");
    if (report.summary) {
      put_stats(json, *report.summary);
    } else {
      json.null();
    }
    put_health(json, report, reports);
    json.end();
  }
  json.end();
}

}  // namespace sonde::cli
