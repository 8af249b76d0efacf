// What the statistics of layers say about numerical trouble.
#include <algorithm>
#include <map>

#include "inspect_report.h"
#include "render/console.h"
#include "sonde/capture.h"
#include "text.h"

namespace sonde::cli {
namespace {

std::uint64_t nonfinite(const stats::Summary& summary) {
  return summary.nan + summary.positive_infinity + summary.negative_infinity;
}

std::string quoted(const LayerReport& report) { return "'" + render::printable(report.layer->value.name) + "'"; }

std::string percent(double share) { return number_text(share * 100) + " %"; }

CapturedTensor captured(const std::string& name, Kind kind, const stats::Summary& summary) {
  CapturedTensor made;
  made.name = name;
  made.key = std::string(to_string(kind)) + "/" + name;
  made.kind = kind;
  made.count = summary.count;
  made.nan = summary.nan;
  made.positive_infinity = summary.positive_infinity;
  made.negative_infinity = summary.negative_infinity;
  return made;
}

// Which layer was the first with non-finite values, by the same rules as in a capture of training.
std::string origin_text(const std::vector<LayerReport>& reports, const std::vector<InputReport>& inputs) {
  CapturedStep step;
  for (const InputReport& input : inputs) step.tensors.push_back(captured(input.name, Kind::input, input.summary));
  for (const LayerReport& report : reports) {
    if (!report.summary) continue;
    step.tensors.push_back(captured(report.layer->value.name, Kind::activation, *report.summary));
    step.tensors.back().inputs = report.layer->inputs;
  }
  CaptureInfo capture;
  capture.steps.push_back(std::move(step));
  const Origin origin = find_origin(capture);
  if (!origin.found || origin.producers.empty()) return {};
  const Origin::Place& first = origin.producers.front();
  std::string text = "the first non-finite values are in " + first.key + ": " + std::to_string(first.nan) +
                     " NaN and " + std::to_string(first.infinite) + " infinite of " + grouped(first.count);
  if (!first.inputs.empty()) text += "; finite are " + listed(first.inputs);
  if (!first.unseen.empty()) text += "; not seen are " + listed(first.unseen);
  return text;
}

std::string overflow_text(const std::vector<LayerReport>& reports) {
  std::map<std::string_view, std::vector<std::string>> layers;
  std::vector<std::string_view> order;
  for (const LayerReport& report : reports) {
    if (!report.summary || !report.dtype) continue;
    const auto health =
        inspect::health_of(*report.layer, *report.dtype, *report.summary, report.histogram, report.units);
    for (const inspect::CastReport& cast : health.casts) {
      if (std::ranges::find(order, cast.type) == order.end()) order.push_back(cast.type);
      if (cast.risk.overflow.low > 0) layers[cast.type].push_back(render::printable(report.layer->value.name));
    }
  }
  std::string text;
  for (const std::string_view type : order) {
    const std::vector<std::string>& names = layers[type];
    if (names.empty()) continue;
    text += counted(names.size(), "layer") + " would overflow in " + std::string(type) + ": " + listed(names) + "\n";
  }
  return text;
}

}  // namespace

const LayerReport* finite_consumer(const LayerReport& report, const std::vector<LayerReport>& reports) {
  if (!report.summary || nonfinite(*report.summary) == 0) return nullptr;
  for (const LayerReport& other : reports) {
    const bool reads = std::ranges::count(other.layer->inputs, report.layer->value.name) > 0;
    if (reads && other.summary && other.summary->count > 0 && nonfinite(*other.summary) == 0 &&
        inspect::passes_nonfinite_on(other.layer->op)) {
      return &other;
    }
  }
  return nullptr;
}

std::string health_text(const std::vector<LayerReport>& reports, const std::vector<InputReport>& inputs) {
  std::string text;
  if (const std::string origin = origin_text(reports, inputs); !origin.empty()) text += origin + "\n";
  for (const LayerReport& report : reports) {
    if (const LayerReport* consumer = finite_consumer(report, reports)) {
      text += quoted(report) + " is not the value used: it is not finite, but " + quoted(*consumer) + " (" +
              consumer->layer->op + "), which reads it, is\n";
    }
    if (!report.summary || !report.dtype) continue;
    const auto health =
        inspect::health_of(*report.layer, *report.dtype, *report.summary, report.histogram, report.units);
    if (health.dead > 0) {
      text += std::to_string(health.dead) + " of " + counted(static_cast<std::uint64_t>(health.units), "unit") +
              " of " + quoted(report) + (health.dead == 1 ? " is" : " are") +
              " 0 for all of this input: dead, if the input is typical\n";
    }
    if (health.saturated > 0.5) {
      text += quoted(report) + " is saturated: " + percent(health.saturated) + " of its values are at its limits\n";
    }
    if (health.lost_in_int8 > 0.5) {
      text += percent(health.lost_in_int8) + " of the values of " + quoted(report) + " would become 0 in int8\n";
    }
  }
  return text + overflow_text(reports);
}

void put_health(formats::JsonWriter& json, const LayerReport& report, const std::vector<LayerReport>& reports) {
  if (!report.summary || !report.dtype) return;
  const auto health = inspect::health_of(*report.layer, *report.dtype, *report.summary, report.histogram, report.units);
  json.key("health").object();
  if (const LayerReport* consumer = finite_consumer(report, reports)) {
    json.key("not_the_value_used").text(consumer->layer->value.name);
  }
  if (health.units > 0) json.key("units").integer(health.units).key("dead").integer(health.dead);
  json.key("saturated").number(health.saturated).key("lost_in_int8").number(health.lost_in_int8);
  json.key("casts").object();
  const auto share = [&](const char* name, const stats::Share& of) {
    json.key(name).array().number(of.low).number(of.high).end();
  };
  for (const inspect::CastReport& cast : health.casts) {
    json.key(cast.type).object();
    share("overflow", cast.risk.overflow);
    share("underflow", cast.risk.underflow);
    share("subnormal", cast.risk.subnormal);
    json.end();
  }
  json.end().end();
}

}  // namespace sonde::cli
