#include "query/plugin_data.h"

#include <utility>

#include "formats/hparams.h"
#include "formats/json_writer.h"
#include "formats/wire_reader.h"

namespace sonde::query {
namespace {

using wire::pbf_reader;
using wire::pbf_wire_type;
using wire::reader_of;

std::string text_of(pbf_reader& from) { return from.get_string(); }
bool is_bytes(const pbf_reader& from) { return from.wire_type() == pbf_wire_type::length_delimited; }

struct Margin {
  std::string value;
  std::string lower;
  std::string upper;
};
struct ChartParts {
  std::string title;
  std::vector<std::string> tags;
  std::vector<Margin> margins;
};

Margin margin_of(pbf_reader series) {
  Margin margin;
  while (series.next()) {
    std::string* const parts[] = {&margin.value, &margin.lower, &margin.upper};
    if (series.tag() >= 1 && series.tag() <= 3 && is_bytes(series)) {
      const std::size_t which = series.tag() - 1;
      *parts[which] = text_of(series);
    } else {
      series.skip();
    }
  }
  return margin;
}

ChartParts chart_of(pbf_reader chart) {
  ChartParts parts;
  while (chart.next()) {
    if (!is_bytes(chart) || chart.tag() > 3) {
      chart.skip();
    } else if (chart.tag() == 1) {
      parts.title = text_of(chart);
    } else if (chart.tag() == 2) {
      pbf_reader lines = chart.get_message();
      while (lines.next(1, pbf_wire_type::length_delimited)) parts.tags.push_back(text_of(lines));
    } else {
      pbf_reader margins = chart.get_message();
      while (margins.next(1, pbf_wire_type::length_delimited))
        parts.margins.push_back(margin_of(margins.get_message()));
    }
  }
  return parts;
}

void put_category(JsonWriter& json, pbf_reader category) {
  std::string title;
  bool closed = false;
  std::vector<ChartParts> charts;
  while (category.next()) {
    if (category.tag() == 1 && is_bytes(category)) {
      title = text_of(category);
    } else if (category.tag() == 2 && is_bytes(category)) {
      charts.push_back(chart_of(category.get_message()));
    } else if (category.tag() == 3 && category.wire_type() == pbf_wire_type::varint) {
      closed = category.get_bool();
    } else {
      category.skip();
    }
  }
  json.object().key("title").text(title).key("closed").truth(closed).key("charts").array();
  for (const ChartParts& chart : charts) {
    json.object().key("title").text(chart.title);
    json.list("tags", chart.tags, [&](const std::string& tag) { json.text(tag); });
    json.list("margins", chart.margins, [&](const Margin& margin) {
      json.object()
          .key("value")
          .text(margin.value)
          .key("lower")
          .text(margin.lower)
          .key("upper")
          .text(margin.upper)
          .end();
    });
    json.end();
  }
  json.end().end();
}

}  // namespace

std::optional<std::string> session_hparams(std::string_view content) {
  const auto decoded = hparams::decode(content);
  if (!decoded || !decoded->start) return std::nullopt;
  JsonWriter json;
  json.object();
  for (const auto& [key, value] : decoded->start->hparams) hparams::put_value(json.text_key(key), value);
  json.end();
  return json.take();
}

std::optional<std::vector<std::string>> experiment_metrics(std::string_view content) {
  auto decoded = hparams::decode(content);
  if (!decoded || !decoded->experiment) return std::nullopt;
  return std::move(decoded->experiment->metrics);
}

std::optional<std::string> layout_categories(std::string_view layout) {
  try {
    pbf_reader reader = reader_of(layout);
    JsonWriter json;
    json.array();
    while (reader.next(2, pbf_wire_type::length_delimited)) put_category(json, reader.get_message());
    json.end();
    return json.take();
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

}  // namespace sonde::query
