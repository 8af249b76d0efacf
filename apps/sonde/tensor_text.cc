#include "tensor_text.h"

#include <cstdio>

#include "base/bytes.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "formats/shortest.h"
#include "tensor/convert.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

// A float, printed with as many digits as a float needs.
void put_real(std::string& out, double value, bool single) {
  out += json_number(single ? shortest_double(value) : value);
}

void put_value(std::string& out, const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::boolean: out += load<std::uint8_t>(at) != 0 ? "true" : "false"; return;
    case DType::f64: return put_real(out, load<double>(at), false);
    case DType::c64:
    case DType::c128: {
      const bool single = dtype == DType::c64;
      out += '[';
      put_real(out, single ? static_cast<double>(load<float>(at)) : load<double>(at), single);
      out += ',';
      put_real(out, single ? static_cast<double>(load<float>(at + 4)) : load<double>(at + 8), single);
      out += ']';
      return;
    }
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return put_real(out, element_as_double(at, dtype), true);
    default: return csv::put_element(out, at, dtype);  // integers
  }
}

void put_values(std::string& out, const TensorView& view, int axis, const std::byte* at) {
  if (axis == view.shape.rank()) return put_value(out, at, view.dtype);
  const std::int64_t stride = view.strides[axis] * static_cast<std::int64_t>(size_of(view.dtype));
  out += '[';
  for (std::int64_t i = 0; i < view.shape[axis]; ++i) {
    if (i > 0) out += ',';
    put_values(out, view, axis + 1, at + i * stride);
  }
  out += ']';
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

std::string json_stats(const stats::Summary& summary) {
  return "{\"min\":" + json_number(summary.min) + ",\"max\":" + json_number(summary.max) +
         ",\"mean\":" + json_number(summary.mean) + ",\"std\":" + json_number(summary.stddev()) +
         ",\"nan\":" + std::to_string(summary.nan) +
         ",\"inf\":" + std::to_string(summary.positive_infinity + summary.negative_infinity) +
         ",\"zero\":" + std::to_string(summary.zeros) + "}";
}

Result<std::string> json_tensor(const TensorView& view, const Described& described, bool values) {
  std::string out = "\"dtype\":" + json_text(sonde::to_string(view.dtype)) + ",\"shape\":" + json_shape(view.shape) +
                    ",\"stats\":" + (described.summary ? json_stats(*described.summary) : "null");
  if (!values) return out;
  Result<std::string> all = json_values(view);
  if (!all) return all;
  return out + ",\"values\":" + *all;
}

Result<std::string> json_values(const TensorView& view) {
  if (!view.valid()) return Status(Code::invalid_argument, "the tensor's values cannot be listed: it is not valid");
  std::string out;
  put_values(out, view, 0, static_cast<const std::byte*>(view.data));
  return out;
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
