// The captures of runs: what triggers saved, and which triggers wait.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "formats/capture_json.h"
#include "formats/json_writer.h"
#include "query/answers.h"
#include "store/access.h"

namespace sonde::query {
namespace {

std::string_view to_string(CaptureInfo::Cause cause) noexcept {
  switch (cause) {
    case CaptureInfo::Cause::trigger: return "trigger";
    case CaptureInfo::Cause::manual: return "manual";
    case CaptureInfo::Cause::crash: return "crash";
  }
  return "trigger";
}

std::string_view to_string(ArmedTriggers::Standing standing) noexcept {
  switch (standing) {
    case ArmedTriggers::Standing::in_force: return "in force";
    case ArmedTriggers::Standing::refused: return "refused";
    case ArmedTriggers::Standing::not_read: return "not read";
  }
  return "not read";
}

void put_fact(formats::JsonWriter& json, std::string_view run, const CaptureFact& fact) {
  json.object().key("run").text(run).key("name").text(fact.name);
  json.key("problem");
  fact.problem.empty() ? json.null() : json.text(fact.problem);
  json.key("cause").text(to_string(fact.cause)).key("reason").text(fact.reason).key("when").text(fact.when);
  json.key("values").array();
  for (const auto& [expression, value] : fact.values) {
    json.object().key("expression").text(expression).key("value").number(value).end();
  }
  json.end().key("step").integer(fact.step).key("wall_time").number(fact.wall_time);
  json.key("steps").integer(fact.steps).key("tensors").integer(fact.tensors).key("nonfinite").truth(fact.found);
  json.key("producer");
  fact.producers.empty() ? json.null() : json.text(fact.producers.front().key);
  json.end();
}

// A capture that a question names.
struct Named {
  const store::RunSource* source = nullptr;
  std::string path;
  std::string name;
  CaptureInfo info;
};

Result<Named> find_capture(const Context& context, const Params& params) {
  const auto run_name = params.text("run");
  if (!run_name) return run_name.error();
  const auto name = params.text("name");
  if (!name) return name.error();
  const auto item = context.catalogue->run(*run_name);
  if (!item) return item.error();
  const store::RunSource& source = store::Access::source(item->entry->run);
  const std::vector<std::string> paths = source.captures();
  const auto found = std::ranges::find_if(
      paths, [&](const std::string& path) { return std::string_view(path).substr(path.rfind('/') + 1) == *name; });
  if (found == paths.end()) {
    return Status(Code::not_found, "the run " + in_quotes(*run_name) + " has no capture " + in_quotes(*name));
  }
  Result<CaptureInfo> info = source.capture(*found);
  if (!info) return info.error();
  return Named{&source, *found, *name, *std::move(info)};
}

}  // namespace

Result<Answer> answer_captures(const Context& context, const Params& /*params*/) {
  struct Listed {
    const std::string* run;
    CaptureFact fact;
  };
  std::vector<Listed> all;
  std::uint64_t older = 0;
  for (const Catalogue::Item& item : context.catalogue->runs) {
    const std::shared_ptr<const Facts> facts = item.entry->facts();
    if (!facts) continue;
    older += facts->older_captures;
    for (const auto& [path, fact] : facts->captures) all.push_back({&item.entry->name, fact});
  }
  // The newest first; those that cannot be read have no time and come last.
  std::ranges::stable_sort(all, std::ranges::greater(), [](const Listed& one) { return one.fact.wall_time; });
  formats::JsonWriter json;
  json.object().key("revision").integer(context.catalogue->revision).key("older").integer(older);
  json.key("captures").array();
  for (const Listed& one : all) put_fact(json, *one.run, one.fact);
  json.end().end();
  return json_answer(json.take());
}

Result<Answer> answer_capture(const Context& context, const Params& params) {
  constexpr std::size_t kLargest = std::size_t{16} << 20;  // bytes
  const Result<Named> capture = find_capture(context, params);
  if (!capture) return capture.error();
  formats::JsonWriter json;
  json.object();
  capture_json::put_members(json, capture->info, find_origin(capture->info));
  json.key("problems").texts(capture->source->capture_problems(capture->path, capture->info)).end();
  std::string text = json.take();
  if (text.size() > kLargest) {
    return Status(Code::exhausted,
                  "the capture " + in_quotes(capture->name) + " is too large for a page; 'sonde captures' prints it");
  }
  return json_answer(std::move(text));
}

Result<Answer> answer_growth(const Context& context, const Params& params) {
  const auto key = params.text("key");
  if (!key) return key.error();
  const Result<Named> capture = find_capture(context, params);
  if (!capture) return capture.error();
  const bool known = std::ranges::any_of(capture->info.steps, [&](const CapturedStep& step) {
    return std::ranges::find(step.tensors, *key, &CapturedTensor::key) != step.tensors.end();
  });
  if (!known) {
    return Status(Code::not_found, "the capture " + in_quotes(capture->name) + " has no tensor " + in_quotes(*key));
  }
  formats::JsonWriter json;
  json.object().key("key").text(*key).key("steps").array();
  for (const store::CapturedSummary& one : capture->source->captured_summaries(capture->path, capture->info, *key)) {
    const stats::Summary& summary = one.summary;
    const double rms = summary.finite() > 0 ? summary.l2() / std::sqrt(static_cast<double>(summary.finite()))
                                            : std::numeric_limits<double>::quiet_NaN();
    json.object().key("step").integer(one.step).key("evaluation").truth(one.evaluation);
    json.key("count").integer(summary.count).key("nan").integer(summary.nan);
    json.key("positive_infinity").integer(summary.positive_infinity);
    json.key("negative_infinity").integer(summary.negative_infinity).key("zeros").integer(summary.zeros);
    json.key("min").number(summary.min).key("max").number(summary.max).key("mean").number(summary.mean);
    json.key("rms").number(rms).end();
  }
  json.end().end();
  return json_answer(json.take());
}

Result<Answer> answer_triggers(const Context& context, const Params& params) {
  if (context.actions == nullptr) return Status(Code::unsupported, "this server knows nothing of triggers");
  const auto run_name = params.text("run");
  if (!run_name) return run_name.error();
  const auto item = context.catalogue->run(*run_name);
  if (!item) return item.error();
  const RunEntry& entry = *item->entry;
  const store::LogSource& log = store::Access::source(context.runs.logs()[entry.log].log);
  const Result<std::string> directory = log.control_directory(entry.run.name());
  if (!directory) return directory.error();
  const Result<ArmedTriggers> armed = context.actions->armed(*directory);
  if (!armed) return armed.error();
  formats::JsonWriter json;
  json.object().key("run").text(*run_name).key("standing").text(to_string(armed->standing));
  json.key("but").text(armed->but).key("triggers").array();
  for (const ArmedTrigger& trigger : armed->triggers) {
    json.object().key("when").text(trigger.when).key("name").text(trigger.name);
    json.key("before").integer(trigger.before).key("after").integer(trigger.after).end();
  }
  json.end().end();
  return json_answer(json.take());
}

}  // namespace sonde::query
