#include "sinks/console.h"

#include <string>

#include "render/array.h"
#include "render/console.h"
#include "stats/summary.h"

namespace sonde::sinks {

Status Console::write(const Stamp& stamp, std::span<const Value> values) {
  Status first;
  for (const Value& value : values) {
    const auto* wanted = std::get_if<PrintValue>(&value);
    if (wanted == nullptr) continue;
    Status status = print(stamp, *wanted);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

Status Console::print(const Stamp& stamp, const PrintValue& value) {
  stats::Histogram histogram;
  const auto summary = stats::summarize(value.view, histogram);
  if (!summary) return summary.error();
  std::string text = "step " + std::to_string(stamp.step) + "  ";
  text += render::one_line(value.name, value.view.dtype, value.view.shape, *summary, histogram);
  text += '\n';
  if (value.full) text += render::numpy_style(value.view) + '\n';
  if (std::fwrite(text.data(), 1, text.size(), out_) != text.size()) {
    return {Code::io, "cannot print to the console"};
  }
  return Status::success();
}

Status Console::flush() {
  if (std::fflush(out_) != 0) return {Code::io, "cannot print to the console"};
  return Status::success();
}

}  // namespace sonde::sinks
