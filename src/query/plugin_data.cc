#include "query/plugin_data.h"

#include <utility>

#include "formats/hparams.h"
#include "formats/json_writer.h"
#include "formats/wire_reader.h"

namespace sonde::query {
namespace {

using wire::get_text;
using wire::pbf_reader;
using wire::pbf_wire_type;
using wire::reader_of;

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
    switch (series.tag_and_type()) {
      case wire::text(1): margin.value = get_text(series); break;
      case wire::text(2): margin.lower = get_text(series); break;
      case wire::text(3): margin.upper = get_text(series); break;
      default: series.skip();
    }
  }
  return margin;
}

ChartParts chart_of(pbf_reader chart) {
  ChartParts parts;
  while (chart.next()) {
    switch (chart.tag_and_type()) {
      case wire::text(1): parts.title = get_text(chart); break;
      case wire::text(2): {
        pbf_reader lines = chart.get_message();
        while (lines.next(1, pbf_wire_type::length_delimited)) parts.tags.emplace_back(get_text(lines));
        break;
      }
      case wire::text(3): {
        pbf_reader margins = chart.get_message();
        while (margins.next(1, pbf_wire_type::length_delimited)) {
          parts.margins.push_back(margin_of(margins.get_message()));
        }
        break;
      }
      default: chart.skip();
    }
  }
  return parts;
}

void put_category(formats::JsonWriter& json, pbf_reader category) {
  std::string title;
  bool closed = false;
  std::vector<ChartParts> charts;
  while (category.next()) {
    switch (category.tag_and_type()) {
      case wire::text(1): title = get_text(category); break;
      case wire::text(2): charts.push_back(chart_of(category.get_message())); break;
      case wire::integer(3): closed = category.get_bool(); break;
      default: category.skip();
    }
  }
  json.object().key("title").text(title).key("closed").truth(closed).key("charts").array();
  for (const ChartParts& chart : charts) {
    json.object().key("title").text(chart.title);
    json.key("tags").texts(chart.tags);
    json.list("margins", chart.margins, [&](const Margin& margin) {
      json.object().key("value").text(margin.value).key("lower").text(margin.lower);
      json.key("upper").text(margin.upper).end();
    });
    json.end();
  }
  json.end().end();
}

}  // namespace

std::optional<std::string> session_hparams(std::string_view content) {
  const auto decoded = hparams::decode(content);
  if (!decoded || !decoded->start) return std::nullopt;
  formats::JsonWriter json;
  json.object();
  for (const auto& [key, value] : decoded->start->hparams) hparams::put_value(json.text_key(key), value);
  return json.end().take();
}

std::optional<std::vector<std::string>> experiment_metrics(std::string_view content) {
  auto decoded = hparams::decode(content);
  if (!decoded || !decoded->experiment) return std::nullopt;
  return std::move(decoded->experiment->metrics);
}

std::optional<std::string> layout_categories(std::string_view layout) {
  try {
    pbf_reader reader = reader_of(layout);
    formats::JsonWriter json;
    json.array();
    while (reader.next(2, pbf_wire_type::length_delimited)) put_category(json, reader.get_message());
    return json.end().take();
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

}  // namespace sonde::query
