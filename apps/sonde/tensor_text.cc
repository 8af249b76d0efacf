#include "tensor_text.h"

#include <cstdio>

#include "base/bytes.h"
#include "formats/csv.h"
#include "formats/json_writer.h"
#include "formats/shortest.h"
#include "tensor/convert.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

void put_value(formats::JsonWriter& json, const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::boolean: json.truth(base::load<std::uint8_t>(at) != 0); return;
    case DType::f64: json.number(base::load<double>(at)); return;
    case DType::c64:
      json.array()
          .number(formats::shortest_double(base::load<float>(at)))
          .number(formats::shortest_double(base::load<float>(at + 4)))
          .end();
      return;
    case DType::c128: json.array().number(base::load<double>(at)).number(base::load<double>(at + 8)).end(); return;
    // With as many digits as a float needs.
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8_e4m3:
    case DType::f8_e5m2: json.number(formats::shortest_double(tensor::element_as_double(at, dtype))); return;
    default: {  // integers
      std::string digits;
      csv::put_element(digits, at, dtype);
      json.raw(digits);
    }
  }
}

void put_axis(formats::JsonWriter& json, const TensorView& view, int axis, const std::byte* at) {
  if (axis == view.shape.rank()) return put_value(json, at, view.dtype);
  const std::int64_t stride = view.strides[axis] * static_cast<std::int64_t>(size_of(view.dtype));
  json.array();
  for (std::int64_t i = 0; i < view.shape[axis]; ++i) put_axis(json, view, axis + 1, at + i * stride);
  json.end();
}

}  // namespace

Result<Described> describe(const TensorView& view) {
  Described described;
  if (view.dtype == DType::c64 || view.dtype == DType::c128) return described;
  Result<stats::Summary> summary = stats::summarize(view, described.histogram);
  if (!summary) return summary.error();
  described.summary = *summary;
  return described;
}

void put_stats(formats::JsonWriter& json, const stats::Summary& summary) {
  json.object().key("min").number(summary.min).key("max").number(summary.max);
  json.key("mean").number(summary.mean).key("std").number(summary.stddev());
  json.key("nan").integer(summary.nan).key("inf").integer(summary.positive_infinity + summary.negative_infinity);
  json.key("zero").integer(summary.zeros).end();
}

Status put_tensor(formats::JsonWriter& json, const TensorView& view, const Described& described, bool values) {
  json.key("dtype").text(sonde::to_string(view.dtype)).key("shape").shape(view.shape).key("stats");
  if (described.summary) {
    put_stats(json, *described.summary);
  } else {
    json.null();
  }
  return values ? put_values(json.key("values"), view) : Status::success();
}

Status put_values(formats::JsonWriter& json, const TensorView& view) {
  if (!view.valid()) return {Code::invalid_argument, "the tensor's values cannot be listed: it is not valid"};
  put_axis(json, view, 0, static_cast<const std::byte*>(view.data));
  return Status::success();
}

std::string pixels_text(const TensorView& view) {
  constexpr std::string_view kColors[] = {"", "grey", "grey and alpha", "RGB", "RGBA"};
  return std::to_string(view.shape[1]) + " x " + std::to_string(view.shape[0]) + " pixels, " +
         std::string(kColors[view.shape[2]]) + ", " + std::to_string(8 * size_of(view.dtype)) + " bits";
}

TextStyle output_style() {
  return {colored(stdout), shows_unicode(stdout) ? render::Glyphs::blocks : render::Glyphs::ascii};
}

std::string tensor_line(const std::string& name, const std::string& type, const Described& described,
                        std::size_t number_width, const TextStyle& style) {
  std::string line = name.empty() ? "" : styled(name, Style::bold, style.color) + " ";
  line += styled(type, Style::cyan, style.color);
  if (described.summary) {
    line.append(" ").append(render::range_text(*described.summary, described.histogram, style.glyphs, number_width));
    const std::string nonfinite = render::nonfinite_text(*described.summary);
    if (!nonfinite.empty()) line += "  " + styled(nonfinite, Style::red, style.color);
  }
  return line + "\n";
}

}  // namespace sonde::cli
