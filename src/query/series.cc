// Series as charts draw them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "formats/csv.h"
#include "formats/json_writer.h"
#include "formats/shortest.h"
#include "query/answers.h"
#include "query/binary.h"
#include "query/facts.h"
#include "store/access.h"

namespace sonde::query {
namespace {

std::int64_t step_of(double rounded) {
  constexpr double kBeyond = 9223372036854775807.0;
  if (rounded >= kBeyond) return std::numeric_limits<std::int64_t>::max();
  if (rounded <= -kBeyond) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(rounded);
}

}  // namespace

Range range_of(const Run& run, AxisName axis, const Span& span) {
  Range range;
  if (axis == AxisName::step) {
    if (span.first) range.first_step = step_of(std::ceil(*span.first));
    if (span.last) range.last_step = step_of(std::floor(*span.last));
    return range;
  }
  const double start = axis == AxisName::relative && (span.first || span.last) ? run.start_time() : 0;
  if (span.first) range.first_time = start + *span.first;
  if (span.last) range.last_time = start + *span.last;
  return range;
}

namespace {

void put_points(BinaryWriter& out, const Scalars& points) {
  for (const std::int64_t step : points.steps) out.put(static_cast<double>(step));
  out.column(std::span<const double>(points.wall_times));
  out.column(std::span<const double>(points.values));
}

std::uint32_t count_of(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

void put_series(BinaryWriter& out, const Drawing& drawing, const Scalars& smoothed, bool found) {
  out.put(std::uint32_t{found ? 0U : 1U});
  out.put(count_of(drawing.points.size()));
  out.put(count_of(smoothed.size()));
  out.put(count_of(drawing.non_finite.size()));
  out.put(drawing.total);
  put_points(out, drawing.points);
  put_points(out, smoothed);
  for (const auto& one : drawing.non_finite) out.put(static_cast<double>(one.step));
  for (const auto& one : drawing.non_finite) out.put(one.wall_time);
  for (const auto& one : drawing.non_finite) out.put(count_of(one.nan));
  for (const auto& one : drawing.non_finite) out.put(count_of(one.positive_infinity));
  for (const auto& one : drawing.non_finite) out.put(count_of(one.negative_infinity));
  out.align();
}

// Values have as many digits as are needed to restore the recorded value, as in `sonde export`.
std::string scalars_json(const Scalars& scalars) {
  const bool single = formats::all_single(scalars.values);
  formats::JsonWriter json;
  json.array();
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    const double value = single ? formats::shortest_double(scalars.values[i]) : scalars.values[i];
    json.array().number(scalars.wall_times[i]).integer(scalars.steps[i]).number(value).end();
  }
  return json.end().take();
}

std::string scalars_csv(const std::string& run, const std::string& tag, const Scalars& scalars) {
  const bool single = formats::all_single(scalars.values);
  std::string out = "run,tag,step,wall_time,value\n";
  std::string names;
  csv::put_field(names, run);
  names += ',';
  csv::put_field(names, tag);
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    out.append(names).append(",").append(std::to_string(scalars.steps[i])).append(",");
    csv::put_number(out, scalars.wall_times[i]);
    out += ',';
    single ? csv::put_number(out, static_cast<float>(scalars.values[i])) : csv::put_number(out, scalars.values[i]);
    out += '\n';
  }
  return out;
}

// Plain letters, digits and a few signs.
std::string file_name_of(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  std::string name;
  for (const char c : text.substr(0, kLongest)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
    name += plain ? c : '_';
  }
  return name;
}

Answer binary_answer(BinaryWriter& out) {
  Answer answer;
  answer.content_type = "application/octet-stream";
  answer.body = out.take();
  return answer;
}

// What a chart shows of one series; the averages that it takes are kept.
Result<store::DrawnLine> draw_line(const Context& context, const Catalogue::Item& item, const SeriesName& name,
                                   const Body& body) {
  const RunEntry& entry = *item.entry;
  const store::LineRequest request = {.width = body.width,
                                      .range = range_of(entry.run, body.axis, body.range),
                                      .axis = body.axis == AxisName::step ? Axis::step : Axis::wall_time,
                                      .smooth = {body.smooth, name.interval}};
  std::shared_ptr<const store::Averages> averages;
  if (body.smooth > 0) averages = context.averages.find(entry, name.tag, request.smooth);
  Result<store::DrawnLine> line = store::Access::source(entry.run).line(name.tag, request, averages);
  if (line && body.smooth > 0) context.averages.keep(item.entry, name.tag, std::move(averages));
  return line;
}

void put_row(formats::JsonWriter& json, const SeriesName& name, const store::LineSummary& summary, double start) {
  json.object().key("run").text(name.run).key("tag").text(name.tag).key("count").integer(summary.count);
  if (summary.count > 0) {
    json.key("step").integer(summary.last.step).key("value").number(summary.last.value);
    json.key("smoothed").number(summary.smoothed);
    json.key("first").number(summary.first.value).key("last").number(summary.last.value);
    json.key("min").number(summary.min.value).key("max").number(summary.max.value).key("mean").number(summary.mean);
    json.key("delta").number(summary.last.value - summary.first.value);
    json.key("min_step").integer(summary.min.step).key("max_step").integer(summary.max.step);
    json.key("time").number(summary.last.time).key("relative").number(summary.last.time - start);
  }
  json.end();
}

}  // namespace

Result<Answer> answer_series(const Context& context, const Body& body) {
  BinaryWriter out;
  out.text("SNDS");
  out.put(std::uint32_t{1});
  out.put(static_cast<std::uint32_t>(body.series.size()));
  out.put(std::uint32_t{0});
  for (const SeriesName& name : body.series) {
    const Catalogue::Item* item = context.catalogue->find(name.run);
    const auto line = item != nullptr ? draw_line(context, *item, name, body)
                                      : Result<store::DrawnLine>(Status(Code::not_found, "no such run"));
    if (line) {
      put_series(out, line->raw, line->smoothed, true);
    } else {
      put_series(out, {}, {}, false);
    }
    if (out.size() > kLargestAnswer) {
      return Status(Code::exhausted,
                    "the answer would have more than 256 MiB; ask for fewer series or a smaller width");
    }
  }
  return binary_answer(out);
}

Result<Answer> answer_table(const Context& context, const Body& body) {
  const bool has_range = body.range.first || body.range.last;
  const bool has_step =
      body.step || std::ranges::any_of(body.series, [](const SeriesName& one) { return one.step.has_value(); });
  if (has_step && has_range) return Status(Code::invalid_argument, "a table needs a 'step' or a 'range', not both");
  formats::JsonWriter json;
  json.object().key("rows").array();
  for (const SeriesName& name : body.series) {
    store::LineSummary summary;
    double start = 0;
    if (const Catalogue::Item* item = context.catalogue->find(name.run)) {
      const RunEntry& entry = *item->entry;
      const store::Smoothing smoothing(body.smooth, name.interval);
      std::shared_ptr<const store::Averages> averages;
      if (body.smooth > 0) averages = context.averages.find(entry, name.tag, smoothing);
      const auto found =
          store::Access::source(entry.run).summary(name.tag, range_of(entry.run, AxisName::step, body.range),
                                                   name.step ? name.step : body.step, smoothing, averages);
      if (found) {
        summary = *found;
        context.averages.keep(item->entry, name.tag, std::move(averages));
      }
      start = entry.run.start_time();
    }
    put_row(json, name, summary, start);
  }
  return json_answer(json.end().end().take());
}

Result<Answer> answer_scalars(const Context& context, const Params& params) {
  // So that one answer does not take all memory: about 200 MiB of text.
  constexpr std::uint64_t kMostPoints = 4'000'000;
  const auto name = params.text("run");
  if (!name) return name.error();
  const auto tag = params.text("tag");
  if (!tag) return tag.error();
  const std::string* format = params.find("format");
  if (format != nullptr && *format != "csv" && *format != "json") {
    return Status(Code::invalid_argument, "'format' must be csv or json, not " + in_quotes(*format));
  }
  const auto first = params.integer("first", INT64_MIN, INT64_MIN, INT64_MAX);
  if (!first) return first.error();
  const auto last = params.integer("last", INT64_MAX, INT64_MIN, INT64_MAX);
  if (!last) return last.error();
  const auto item = context.catalogue->run(*name);
  if (!item) return item.error();
  const Run& run = item->entry->run;
  std::shared_ptr<const store::Averages> none;
  const Range range = {.first_step = *first, .last_step = *last};
  const auto counted = store::Access::source(run).summary(*tag, range, std::nullopt, 0, none);
  if (!counted) return counted.error();
  if (counted->count > kMostPoints) {
    return Status(Code::exhausted, "the series has " + grouped(static_cast<std::int64_t>(counted->count)) +
                                       " points, and a download at most 4,000,000: choose a part with 'first' and "
                                       "'last', or use 'sonde export'");
  }
  const auto scalars = run.scalars(*tag, range);
  if (!scalars) return scalars.error();
  const bool json = format != nullptr && *format == "json";
  Answer answer;
  answer.content_type = json ? "application/json" : "text/csv; charset=utf-8";
  answer.body = json ? scalars_json(*scalars) : scalars_csv(*name, *tag, *scalars);
  answer.file_name = file_name_of(*name + "-" + *tag) + (json ? ".json" : ".csv");
  return answer;
}

}  // namespace sonde::query
