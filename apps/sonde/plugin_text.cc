#include "plugin_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "base/utf8.h"
#include "formats/json_writer.h"
#include "formats/shortest.h"
#include "render/console.h"
#include "tensor/convert.h"
#include "terminal.h"
#include "text.h"

namespace sonde::cli {
namespace {

double f1_of(const PrPoint& point) noexcept {
  const double sum = point.precision + point.recall;
  return sum > 0 ? 2 * point.precision * point.recall / sum : 0;
}

std::string line(const std::string& label, std::size_t width, const std::string& text) {
  return "  " + padded(label, width) + "  " + text + "\n";
}

}  // namespace

Result<PrCurve> pr_curve_of(const TensorView& view) {
  if (!view.valid() || view.shape.rank() != 2 || view.shape[0] != 6 || view.shape[1] < 2) {
    return Status(Code::corrupt, "a PR curve is a tensor of 6 rows and at least 2 columns, and this one is " +
                                     render::type_text(view.dtype, view.shape));
  }
  const auto at = [&](std::int64_t row, std::int64_t column) {
    const std::int64_t place = row * view.strides[0] + column * view.strides[1];
    return tensor::element_as_double(
        static_cast<const std::byte*>(view.data) + place * static_cast<std::int64_t>(size_of(view.dtype)), view.dtype);
  };
  PrCurve curve;
  for (std::int64_t i = 0; i < view.shape[1]; ++i) {
    curve.push_back({.threshold = static_cast<double>(i) / static_cast<double>(view.shape[1] - 1),
                     .true_positives = at(0, i),
                     .false_positives = at(1, i),
                     .true_negatives = at(2, i),
                     .false_negatives = at(3, i),
                     .precision = at(4, i),
                     .recall = at(5, i)});
  }
  return curve;
}

double average_precision(const PrCurve& curve) noexcept {
  double area = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double next = i + 1 < curve.size() ? curve[i + 1].recall : 0;
    area += (curve[i].recall - next) * curve[i].precision;
  }
  return area;
}

std::string pr_curve_text(const PrCurve& curve, const TextStyle& style) {
  constexpr std::size_t kRows = 11;
  const PrPoint& best = *std::ranges::max_element(curve, {}, f1_of);
  std::string text = line("thresholds", 17, grouped(curve.size())) +
                     line("average precision", 17, number_text(average_precision(curve))) +
                     line("best F1", 17, number_text(f1_of(best)) + " at threshold " + number_text(best.threshold)) +
                     "\n";
  std::vector<std::array<std::string, 7>> rows = {
      {"threshold", "precision", "recall", "true pos", "false pos", "true neg", "false neg"}};
  for (std::size_t i = 0; i < std::min(kRows, curve.size()); ++i) {
    const PrPoint& one = curve[curve.size() <= kRows ? i : i * (curve.size() - 1) / (kRows - 1)];
    rows.push_back({number_text(one.threshold), number_text(one.precision), number_text(one.recall),
                    number_text(one.true_positives), number_text(one.false_positives), number_text(one.true_negatives),
                    number_text(one.false_negatives)});
  }
  for (const auto& row : rows) {
    std::string cells;
    for (const std::string& cell : row) cells += "  " + padded_left(cell, 9);
    text += (&row == rows.data() ? styled(cells, Style::dim, style.color) : cells) + "\n";
  }
  return text;
}

void put_pr_curve(formats::JsonWriter& json, const PrCurve& curve) {
  json.key("average_precision").number(average_precision(curve)).key("points").array();
  for (const PrPoint& one : curve) {
    json.object().key("threshold").number(one.threshold);
    const auto put = [&](std::string_view key, double value) { json.key(key).number(formats::shortest_double(value)); };
    put("true_positives", one.true_positives);
    put("false_positives", one.false_positives);
    put("true_negatives", one.true_negatives);
    put("false_negatives", one.false_negatives);
    put("precision", one.precision);
    put("recall", one.recall);
    json.end();
  }
  json.end();
}

std::string value_text(const hparams::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return exact_text(*number, false);
  formats::JsonWriter json;
  hparams::put_value(json, value);
  return json.take();
}

std::string hparams_text(const hparams::Content& content) {
  std::string text;
  if (content.start) {
    std::size_t width = 5;
    for (const auto& [name, value] : content.start->hparams) {
      width = std::max(width, base::count_characters(render::printable(name)));
    }
    for (const auto& [name, value] : content.start->hparams) {
      text += line(render::printable(name), width, harmless(value_text(value)));
    }
    if (content.start->hparams.empty()) text += "  no hyper-parameters\n";
    if (!content.start->group.empty()) text += line("group", width, harmless(content.start->group));
    if (content.start->start_time > 0) text += line("began", width, time_text(content.start->start_time));
  }
  if (content.end) {
    text += line("status", 6, std::string(hparams::status_text(content.end->status)));
    if (content.end->end_time > 0) text += line("ended", 6, time_text(content.end->end_time));
  }
  if (content.experiment) {
    const auto list = [&](const std::string& label, const std::vector<std::string>& names) {
      for (const std::string& name : names) text += line(&name == names.data() ? label : "", 16, harmless(name));
    };
    list("hyper-parameters", content.experiment->hparams);
    list("metrics", content.experiment->metrics);
    if (!content.experiment->description.empty()) {
      text += line("description", 16, harmless(content.experiment->description));
    }
  }
  return text;
}

void put_hparams(formats::JsonWriter& json, const hparams::Content& content) {
  if (content.start) {
    json.key("hparams").object();
    for (const auto& [name, value] : content.start->hparams) hparams::put_value(json.text_key(name), value);
    json.end().key("group").text(content.start->group).key("start_time").number(content.start->start_time);
  }
  if (content.end) {
    json.key("status").text(hparams::status_text(content.end->status));
    json.key("end_time").number(content.end->end_time);
  }
  if (content.experiment) {
    json.key("names").texts(content.experiment->hparams).key("metrics").texts(content.experiment->metrics);
    json.key("description").text(content.experiment->description);
  }
  if (!content.start && !content.end && !content.experiment) json.key("hparams").object().end();
}

}  // namespace sonde::cli
