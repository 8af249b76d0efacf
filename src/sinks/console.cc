#include "sinks/console.h"

#include <string>
#include <string_view>
#include <utility>

#include "render/array.h"
#include "render/console.h"
#include "render/table.h"
#include "stats/summary.h"

namespace sonde::sinks {
namespace {

Status not_printed(std::string_view name, const Status& why) {
  std::string message = "'";
  message.append(name).append("' was not printed: ").append(why.message());
  return {why.code(), std::move(message)};
}

}  // namespace

Status Console::write(const Stamp& stamp, std::span<const Value> values) {
  Status first;
  for (const Value& value : values) {
    Status status;
    if (const auto* tensor = std::get_if<PrintValue>(&value)) status = print(stamp, *tensor);
    if (const auto* table = std::get_if<TableValue>(&value)) status = print(stamp, *table);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

Status Console::print(const Stamp& stamp, const PrintValue& value) {
  stats::Histogram histogram;
  const auto summary = stats::summarize(value.view, histogram);
  if (!summary) return not_printed(value.name, summary.error());
  std::string text = "step " + std::to_string(stamp.step) + "  ";
  text += render::one_line(value.name, value.view.dtype, value.view.shape, *summary, histogram);
  text += '\n';
  if (value.full) text += render::numpy_style(value.view, value.elements) + '\n';
  return put(text);
}

Status Console::print(const Stamp& stamp, const TableValue& value) {
  const auto table = render::Table::of(value.columns);
  if (!table) return not_printed(value.name, table.error());
  return put("step " + std::to_string(stamp.step) + "  " + std::string(value.name) + "\n" + render::table_text(*table));
}

Status Console::put(const std::string& text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), out_) == text.size();
  return whole ? Status::success() : Status(Code::io, "cannot print to the console");
}

Status Console::flush() {
  if (std::fflush(out_) != 0) return {Code::io, "cannot print to the console"};
  return Status::success();
}

}  // namespace sonde::sinks
