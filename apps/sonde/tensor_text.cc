#include "tensor_text.h"

#include <cstdio>

#include "formats/json.h"
#include "terminal.h"

namespace sonde::cli {

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

std::string json_tensor(const TensorView& view, const Described& described) {
  return "\"dtype\":" + json_text(sonde::to_string(view.dtype)) + ",\"shape\":" + json_shape(view.shape) +
         ",\"stats\":" + (described.summary ? json_stats(*described.summary) : "null");
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
