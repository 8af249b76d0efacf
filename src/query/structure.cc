// What there is: the server, the runs, the tags.
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "formats/json_writer.h"
#include "formats/tensor_tags.h"
#include "query/answers.h"
#include "regexp/regexp.h"
#include "store/probe_json.h"

namespace sonde::query {
namespace {

// Nothing, which matches everything, if no pattern is given.
Result<std::optional<regexp::Regexp>> pattern(const Params& params, std::string_view name) {
  constexpr std::size_t kLongest = 1'000;
  const std::string* text = params.find(name);
  if (text == nullptr) return std::optional<regexp::Regexp>();
  if (text->size() > kLongest) return Status(Code::invalid_argument, "a pattern has at most 1,000 characters");
  Result<regexp::Regexp> made = regexp::Regexp::compile(*text, regexp::Extent::anywhere);
  if (!made) {
    return Status(Code::invalid_argument, in_quotes(name) + " is not a valid pattern: " + made.error().message());
  }
  return std::optional(*std::move(made));
}
bool matches(const std::optional<regexp::Regexp>& wanted, std::string_view text) {
  return !wanted || wanted->matches(text);
}

void number_or_null(formats::JsonWriter& json, double value) {
  if (std::isfinite(value)) {
    json.number(value);
  } else {
    json.null();
  }
}

// Hyper-parameters that are recorded for a run hold for those below it, too.
const std::string* hparams_of(const std::map<std::string_view, const Facts*>& with_hparams, std::string_view run) {
  for (;;) {
    if (const auto found = with_hparams.find(run); found != with_hparams.end()) return &found->second->hparams;
    const std::size_t slash = run.rfind('/');
    if (slash == std::string_view::npos) return nullptr;
    run = run.substr(0, slash);
  }
}

void put_run(formats::JsonWriter& json, const Catalogue::Item& item, const Facts* facts, const std::string* hparams) {
  static const Facts nothing;
  const bool read = facts != nullptr;
  const Facts& known = read ? *facts : nothing;
  json.object().key("run").text(item.entry->name).key("revision").integer(item.changed);
  json.key("state").text(to_string(item.state())).key("read").truth(read);
  json.key("started").number(known.started).key("last_time").number(known.last_time);
  json.key("first_step").integer(known.first_step).key("last_step").integer(known.last_step);
  json.key("steps_per_second");
  number_or_null(json, !read                            ? NAN
                       : item.state() == RunState::live ? known.recent_steps_per_second
                                                        : known.steps_per_second);
  json.key("points").integer(known.points).key("damaged").integer(known.damaged).key("dropped").integer(known.dropped);
  json.key("hparams").raw(hparams != nullptr ? *hparams : "{}");
  json.list("metrics", known.metrics, [&](const std::string& metric) { json.text(metric); });
  json.key("note").text(known.note).key("first_bad_step");
  if (known.first_bad_step) {
    json.integer(*known.first_bad_step);
  } else {
    json.null();
  }
  json.end();
}

}  // namespace

Answer json_answer(std::string body) {
  Answer answer;
  answer.body = std::move(body);
  return answer;
}

Result<Answer> answer_status(const Context& context, const Params& /*params*/) {
  formats::JsonWriter json;
  json.object().key("version").text(SONDE_VERSION).key("revision").integer(context.catalogue->revision);
  json.key("may_write").truth(context.may_write).key("logs").array();
  Log::Progress all;
  for (std::size_t i = 0; i < context.runs.logs().size(); ++i) {
    const Served& served = context.runs.logs()[i];
    json.object().key("label").text(served.label).key("directory").text(served.directory);
    json.list("problems", context.catalogue->problems[i], [&](const std::string& problem) { json.text(problem); })
        .end();
    const Log::Progress progress = served.log.progress();
    all.bytes_read += progress.bytes_read;
    all.bytes_found += progress.bytes_found;
    all.runs_read += progress.runs_read;
    all.runs_found += progress.runs_found;
  }
  json.end().key("progress").object();
  json.key("bytes_read").integer(all.bytes_read).key("bytes_found").integer(all.bytes_found);
  json.key("runs_read").integer(all.runs_read).key("runs_found").integer(all.runs_found).end().end();
  return json_answer(json.take());
}

Result<Answer> answer_runs(const Context& context, const Params& /*params*/) {
  const Catalogue& catalogue = *context.catalogue;
  std::vector<std::shared_ptr<const Facts>> facts;
  std::map<std::string_view, const Facts*> with_hparams;
  facts.reserve(catalogue.runs.size());
  for (const Catalogue::Item& item : catalogue.runs) {
    const Facts* known = facts.emplace_back(item.entry->facts()).get();
    if (known != nullptr && !known->hparams.empty()) with_hparams.emplace(item.entry->name, known);
  }
  formats::JsonWriter json;
  json.object().key("revision").integer(catalogue.revision).key("runs").array();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    put_run(json, catalogue.runs[i], facts[i].get(), hparams_of(with_hparams, catalogue.runs[i].entry->name));
  }
  json.end().end();
  return json_answer(json.take());
}

namespace {

// When the tensor that a tag is about is executed within a step; nothing for other tags. Occurrences and evaluation
// passes are at the place of their probe.
std::optional<std::uint32_t> order_of(const Tag& tag, const Facts& facts) {
  if (facts.order.empty() || tag.kind == TagKind::scalars) return std::nullopt;
  const auto tensor = tags::tensor_of(tag.name);
  if (!tensor) return std::nullopt;
  const auto found =
      facts.order.find(tag_of({.name = tensor->id.name, .kind = tensor->id.kind}, tags::Plugin::histograms));
  return found != facts.order.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace

Result<Answer> answer_tags(const Context& context, const Params& params) {
  const auto run_pattern = pattern(params, "runs");
  if (!run_pattern) return run_pattern.error();
  const auto tag_pattern = pattern(params, "tags");
  if (!tag_pattern) return tag_pattern.error();
  const auto kind = params.kind();
  if (!kind) return kind.error();

  const Catalogue& catalogue = *context.catalogue;
  using Key = std::pair<TagKind, std::string_view>;
  using Place = std::pair<std::size_t, const Tag*>;  // the run's place in the list
  std::map<Key, std::vector<Place>> tags;
  std::map<Key, std::uint32_t> orders;              // as the first run has it that knows
  std::vector<std::shared_ptr<const Facts>> facts;  // keeps the tags
  std::vector<std::string_view> runs;
  for (const Catalogue::Item& item : catalogue.runs) {
    if (!matches(*run_pattern, item.entry->name)) continue;
    const auto& known = facts.emplace_back(item.entry->facts());
    if (!known) continue;
    for (const Tag& tag : known->tags) {
      if (*kind && tag.kind != **kind) continue;
      if (!matches(*tag_pattern, tag.name)) continue;
      tags[{tag.kind, tag.name}].emplace_back(runs.size(), &tag);
      if (const auto order = order_of(tag, *known)) orders.try_emplace({tag.kind, tag.name}, *order);
    }
    runs.emplace_back(item.entry->name);
  }

  formats::JsonWriter json;
  json.object().key("revision").integer(catalogue.revision);
  json.list("runs", runs, [&](std::string_view name) { json.text(name); }).key("tags").array();
  for (const auto& [key, places] : tags) {
    const Tag& first = *places.front().second;
    json.object().key("tag").text(key.second).key("kind").text(to_string(key.first));
    json.key("display").text(first.display_name).key("description").text(first.description);
    json.key("order");
    if (const auto order = orders.find(key); order != orders.end()) {
      json.integer(order->second);
    } else {
      json.null();
    }
    json.list("runs", places, [&](const Place& place) { json.integer(place.first); });
    json.list("points", places, [&](const Place& place) { json.integer(place.second->points); });
    json.list("first_step", places, [&](const Place& place) { json.integer(place.second->first_step); });
    json.list("last_step", places, [&](const Place& place) { json.integer(place.second->last_step); });
    json.list("interval", places, [&](const Place& place) { json.number(place.second->interval); });
    json.list("written_again", places, [&](const Place& place) { json.integer(place.second->written_again); });
    json.end();
  }
  json.end().end();
  return json_answer(json.take());
}

Result<Answer> answer_probes(const Context& context, const Params& params) {
  const auto name = params.text("run");
  if (!name) return name.error();
  const auto item = context.catalogue->run(*name);
  if (!item) return item.error();
  formats::JsonWriter json;
  json.object().key("run").text(*name);
  json.list("probes", item->entry->run.probes(), [&](const ProbeInfo& probe) { store::put_probe(json, probe); });
  return json_answer(json.end().take());
}

Result<Answer> answer_layouts(const Context& context, const Params& /*params*/) {
  formats::JsonWriter json;
  json.object().key("revision").integer(context.catalogue->revision).key("layouts").array();
  for (const Catalogue::Item& item : context.catalogue->runs) {
    const std::shared_ptr<const Facts> facts = item.entry->facts();
    if (!facts) continue;
    for (const std::string& categories : facts->layouts) {
      json.object().key("run").text(item.entry->name).key("categories").raw(categories).end();
    }
  }
  json.end().end();
  return json_answer(json.take());
}

}  // namespace sonde::query
