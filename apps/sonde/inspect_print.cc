#include "inspect_print.h"

#include <algorithm>

#include "render/console.h"
#include "text.h"

namespace sonde::cli {
namespace {

const std::string& name_of(const Inspection& made, std::int64_t layer) {
  return made.runtime->description().layers[static_cast<std::size_t>(layer)].value.name;
}

std::int64_t total_time(const Inspection& made) {
  std::int64_t total = 0;
  for (const inspect::LayerTime& time : made.times) total += time.nanoseconds;
  return total;
}

const LayerReport* report_of(const Inspection& made, std::int64_t layer) {
  const auto found =
      std::ranges::find_if(made.reports, [&](const LayerReport& report) { return report.layer->index == layer; });
  return found == made.reports.end() ? nullptr : &*found;
}

std::uint64_t activation_bytes(const Inspection& made) {
  std::uint64_t bytes = 0;
  for (const LayerReport& report : made.reports) bytes += report.bytes;
  return bytes / std::max<std::size_t>(made.passes, 1);
}

std::string profile_text(const Inspection& made) {
  const auto total = static_cast<double>(total_time(made));
  std::vector<std::vector<std::string>> rows = {{"layer", "executed as", "ms", "share", "output"}};
  for (const inspect::LayerTime& time : made.times) {
    const LayerReport* report = report_of(made, time.layer);
    rows.push_back({time.layer < 0 ? "" : std::to_string(time.layer), render::printable(time.name),
                    number_text(static_cast<double>(time.nanoseconds) * 1e-6 / static_cast<double>(made.passes)),
                    number_text(total > 0 ? static_cast<double>(time.nanoseconds) / total * 100 : 0) + " %",
                    report != nullptr && report->bytes > 0 ? size_text(report->bytes / made.passes) : ""});
  }
  return "\n" + aligned(rows, {true, false, true, true, true}) + "\n" +
         number_text(total * 1e-6 / static_cast<double>(std::max<std::size_t>(made.passes, 1))) +
         " ms a pass; the outputs of the layers above take " + size_text(activation_bytes(made)) + "\n";
}

std::string difference_text(const inspect::Difference& difference) {
  if (!difference.comparable) return "of another type or shape";
  if (difference.bitwise) return "the same bits";
  return "up to " + grouped(difference.ulp) + " ULP apart, norm-relative " + number_text(difference.relative);
}

std::string verification_text(const Inspection& made) {
  const inspect::Verification& verified = *made.verification;
  std::string text = "\n";
  if (verified.inputs > 1) text += "the largest differences of " + grouped(verified.inputs) + " inputs:\n";
  for (const inspect::VerifiedOutput& output : verified.outputs) {
    text += "output '" + render::printable(output.name) +
            "' with and without taps: " + difference_text(output.difference) + "\n";
  }
  for (const inspect::VerifiedConsumer& each : verified.consumers) {
    const std::string layer = "'" + render::printable(name_of(made, each.layer)) + "'";
    const std::string consumer = "'" + render::printable(name_of(made, each.consumer)) + "'";
    if (each.not_the_value_used) {
      text.append(layer).append(" is not the value used: ").append(consumer);
      text += " computed again from it is not finite, but the runtime's is\n";
    } else if (!each.skipped.empty()) {
      text.append(consumer).append(" was not computed again from ").append(layer).append(": ");
      text.append(each.skipped).append("\n");
    } else {
      text.append(consumer).append(" computed again from ").append(layer).append(": ");
      text.append(difference_text(each.difference)).append("\n");
    }
  }
  if (!verified.not_recomputed.empty()) text += "nothing was computed again: " + verified.not_recomputed + "\n";
  return text;
}

void put_difference(formats::JsonWriter& json, const inspect::Difference& difference) {
  json.key("bitwise").truth(difference.bitwise).key("comparable").truth(difference.comparable);
  json.key("ulp").integer(difference.ulp).key("norm_relative").number(difference.relative);
}

void put_profile(formats::JsonWriter& json, const Inspection& made) {
  const std::int64_t total = total_time(made);
  const auto passes = static_cast<std::int64_t>(std::max<std::size_t>(made.passes, 1));
  json.key("profile").object().key("ns").integer(total / passes);
  json.key("activation_bytes").integer(activation_bytes(made)).key("operations").array();
  for (const inspect::LayerTime& time : made.times) {
    const LayerReport* report = report_of(made, time.layer);
    json.line().object().key("index");
    if (time.layer < 0) {
      json.null().key("name").null();
    } else {
      json.integer(time.layer).key("name").text(name_of(made, time.layer));
    }
    json.key("executed").text(time.name).key("ns").integer(time.nanoseconds / passes).key("share");
    json.number(total > 0 ? static_cast<double>(time.nanoseconds) / static_cast<double>(total) : 0);
    json.key("bytes").integer(report == nullptr ? 0 : report->bytes / static_cast<std::uint64_t>(passes)).end();
  }
  json.end().end();
}

void put_verification(formats::JsonWriter& json, const Inspection& made) {
  const inspect::Verification& verified = *made.verification;
  json.key("verify").object().key("inputs").integer(verified.inputs).key("outputs").array();
  for (const inspect::VerifiedOutput& output : verified.outputs) {
    json.object().key("name").text(output.name);
    put_difference(json, output.difference);
    json.end();
  }
  json.end().key("consumers").array();
  for (const inspect::VerifiedConsumer& each : verified.consumers) {
    json.line()
        .object()
        .key("layer")
        .text(name_of(made, each.layer))
        .key("consumer")
        .text(name_of(made, each.consumer));
    if (each.skipped.empty()) {
      put_difference(json, each.difference);
      json.key("not_the_value_used").truth(each.not_the_value_used);
    } else {
      json.key("skipped").text(each.skipped);
    }
    json.end();
  }
  json.end();
  if (!verified.not_recomputed.empty()) json.key("not_recomputed").text(verified.not_recomputed);
  json.end();
}

}  // namespace

std::string inspection_text(const Inspection& made) {
  std::string text = runtime_text(made.runtime->info(), made.reports);
  if (made.passes > 1) text += "; " + grouped(made.passes) + " passes";
  text += "\n\n" + report_text(made.reports);
  if (const std::string health = health_text(made.reports, made.inputs); !health.empty()) text += "\n" + health;
  if (made.cost) {
    text += "\nthe taps split " + counted(made.cost->split, "fusion") + ": a pass takes " +
            number_text(made.cost->tapped_seconds * 1e3) + " ms, without taps " +
            number_text(made.cost->plain_seconds * 1e3) + " ms\n";
  }
  if (!made.times.empty()) text += profile_text(made);
  if (made.verification) text += verification_text(made);
  for (const LayerReport& report : made.reports) {
    for (const auto& [pass, values] : report.values) {
      text += "\n" + render::printable(report.layer->value.name) + (made.passes > 1 ? ", " + harmless(pass) : "") +
              "\n" + values + "\n";
    }
  }
  return text;
}

std::string inspection_json(const Inspection& made) {
  const inspect::RuntimeInfo& info = made.runtime->info();
  formats::JsonWriter json;
  json.object().key("runtime").text(info.name).key("version").text(info.version);
  json.key("precision").text(info.precision);
  if (const std::string declared = declared_types(made.reports); !declared.empty()) {
    json.key("declared").text(declared);
  }
  if (!info.interpreter.empty()) json.key("interpreter").text(info.interpreter);
  if (!info.settings.empty()) json.key("settings").text(info.settings);
  if (!info.note.empty()) json.key("note").text(info.note);
  json.key("passes").integer(made.passes);
  put_report(json, made.reports);
  if (made.cost) {
    json.key("taps").object().key("split").integer(made.cost->split);
    json.key("seconds").number(made.cost->tapped_seconds).key("plain_seconds").number(made.cost->plain_seconds).end();
  }
  if (!made.times.empty()) put_profile(json, made);
  if (made.verification) put_verification(json, made);
  json.end();
  return json.take() + "\n";
}

}  // namespace sonde::cli
