// What somebody who watches a run should know of.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "formats/json_writer.h"
#include "formats/run_layout.h"
#include "query/answers.h"
#include "store/access.h"

namespace sonde::query {
namespace {

constexpr std::size_t kMostAlerts = 1'000;
constexpr std::size_t kMostOfAKind = 100;  // of one run: the newest
constexpr std::string_view kBudgetTag = "sonde/budget";

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return grouped(static_cast<std::int64_t>(count)).append(" ").append(count == 1 ? one : many);
}

std::string file_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// At most kMostOfAKind, those with the latest times.
template <class Item, class TimeOf>
void keep_newest(std::vector<Item>& items, TimeOf time_of) {
  if (items.size() <= kMostOfAKind) return;
  std::ranges::stable_sort(items, std::ranges::greater(), time_of);
  items.resize(kMostOfAKind);
}

// "loss is NaN from step 1,500 on (500 points)"
std::string text_of(const store::NonFiniteSeries& series) {
  const bool statistics = series.kind == TagKind::statistics;
  const std::string_view what = statistics             ? " has NaN or infinite elements"
                                : series.infinite == 0 ? " is NaN"
                                : series.nan == 0      ? " is infinite"
                                                       : " is NaN or infinite";
  std::string text = series.tag;
  text.append(what).append(series.until_the_end && series.count > 1 ? " from step " : " at step ");
  text += grouped(series.first_step);
  if (series.count == 1) return text;
  if (series.until_the_end) {
    return text + " on (" + counted(series.count, "", statistics ? "steps" : "points") + ")";
  }
  return text + " and at " + counted(series.count - 1, "later point", "later points");
}

// The first value that is not finite; nothing for tensors, whose elements may be of all sorts.
std::optional<double> first_value(const Run& run, const store::NonFiniteSeries& series) {
  if (series.kind != TagKind::scalars) return std::nullopt;
  if (series.infinite == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto points = run.scalars(series.tag, {.first_step = series.first_step, .last_step = series.first_step});
  if (!points) return std::nullopt;
  const auto found = std::ranges::find_if(points->values, [](double value) { return !std::isfinite(value); });
  return found != points->values.end() ? std::optional(*found) : std::nullopt;
}

// Within a step, non-finite values run through the whole network: of its tensors the first one is named.
void add_non_finite(const Run& run, Facts& facts) {
  const std::vector<store::NonFiniteSeries> all = store::Access::source(run).non_finite();
  if (!all.empty()) facts.first_bad_step = all.front().first_step;
  struct Found {
    const store::NonFiniteSeries* series = nullptr;
    std::uint64_t others = 0;
  };
  std::vector<Found> found;
  std::map<std::int64_t, std::size_t> tensors;  // places in `found` by first step
  for (const store::NonFiniteSeries& series : all) {
    const bool tensor = series.kind == TagKind::statistics;
    const auto known = tensor ? tensors.find(series.first_step) : tensors.end();
    if (known != tensors.end()) {
      ++found[known->second].others;
      continue;
    }
    if (tensor) tensors.emplace(series.first_step, found.size());
    found.push_back({&series, 0});
  }
  keep_newest(found, [](const Found& one) { return one.series->first_time; });
  for (const auto& [series, others] : found) {
    facts.alerts.push_back({.kind = Alert::Kind::nonfinite,
                            .tag = series->tag,
                            .tag_kind = series->kind,
                            .step = series->first_step,
                            .time = series->first_time,
                            .text = text_of(*series),
                            .value = first_value(run, *series),
                            .others = others});
    if (others == 0) continue;
    facts.alerts.back().text += "; and " + counted(others, "other tensor", "other tensors") + " from the same step on";
  }
}

// Adds the alert that `read` makes from a file, unless it was made before: a live run is checked many times per second.
template <class Read>
void add_read(const std::string& from, const Facts* before, Facts& facts, Read read) {
  std::optional<Alert> alert;
  if (before != nullptr) {
    if (const auto known = before->read_alerts.find(from); known != before->read_alerts.end()) alert = known->second;
  }
  if (!alert) alert = read();
  if (!alert) return;
  facts.alerts.push_back(*alert);
  facts.read_alerts.insert_or_assign(from, *std::move(alert));
}

CaptureFact read_capture(const Run& run, const std::string& path) {
  const Result<CaptureInfo> capture = store::Access::source(run).capture(path);
  CaptureFact fact = {.name = file_name(path), .problem = capture ? "" : capture.error().message()};
  if (!capture) return fact;
  const CaptureInfo& info = *capture;
  fact.cause = info.cause;
  fact.reason = info.reason;
  fact.when = info.when;
  fact.values = info.values;
  fact.step = info.step;
  fact.wall_time = info.wall_time;
  fact.steps = info.steps.size();
  for (const CapturedStep& step : info.steps) fact.tensors += step.tensors.size();
  Origin origin = find_origin(info);
  fact.found = origin.found;
  fact.producers = std::move(origin.producers);
  return fact;
}

Alert alert_of_capture(const CaptureFact& fact) {
  const bool crash = fact.cause == CaptureInfo::Cause::crash;
  Alert alert = {.kind = crash ? Alert::Kind::died : Alert::Kind::trigger};
  alert.step = fact.step;
  alert.time = fact.wall_time;
  if (crash) {
    alert.text = "the process ended without closing the log after step " + grouped(fact.step);
  } else if (fact.cause == CaptureInfo::Cause::manual) {
    alert.text = "a capture was requested at step " + grouped(fact.step);
  } else {
    alert.text = "the trigger '" + fact.reason + "' fired at step " + grouped(fact.step);
    if (!fact.when.empty() && fact.when != fact.reason) alert.text += ": " + fact.when;
  }
  alert.text += "; it is saved in " + std::string(run_layout::kCaptures) + "/" + fact.name;
  alert.capture = fact.name;
  if (!fact.producers.empty()) alert.producer = fact.producers.front();
  return alert;
}

// "activation/dense_1 produced the first NaN at step 1,500: 3 of 128 elements, from finite inputs; then 4 other
// tensors"
std::string text_of(const Origin::Place& producer, std::uint64_t others) {
  const std::string_view what = producer.infinite == 0 ? "NaN" : producer.nan == 0 ? "Inf" : "NaN and Inf";
  std::string text = producer.key;
  text.append(" produced the first ").append(what).append(" at step ").append(grouped(producer.step)).append(": ");
  text += grouped(static_cast<std::int64_t>(producer.nan + producer.infinite)) + " of " +
          counted(producer.count, "element", "elements");
  text += producer.unseen.empty() ? ", from finite inputs" : "; some of its inputs are not in the capture";
  if (others > 0) text += "; then " + counted(others, "other tensor", "other tensors");
  return text;
}

// If a capture shows which tensor produced the non-finite values, the alert of its step names it.
void name_producers(Facts& facts) {
  std::vector<Alert> added;
  std::vector<std::int64_t> told;  // steps
  for (const Alert& capture : facts.alerts) {
    if (!capture.producer || std::ranges::find(told, capture.producer->step) != told.end()) continue;
    const Origin::Place& producer = *capture.producer;
    told.push_back(producer.step);
    const auto known = std::ranges::find_if(facts.alerts, [&](const Alert& one) {
      return one.kind == Alert::Kind::nonfinite && one.tag_kind == TagKind::statistics && one.step == producer.step;
    });
    Alert cause = {.kind = Alert::Kind::nonfinite, .step = producer.step, .time = capture.time};
    Alert& alert = known != facts.alerts.end() ? *known : cause;
    if (facts.find(producer.key, TagKind::statistics) != nullptr) {
      alert.tag = producer.key;
      alert.tag_kind = TagKind::statistics;
    }
    alert.text = text_of(producer, alert.others);
    alert.capture = capture.capture;
    if (known == facts.alerts.end()) added.push_back(std::move(cause));
  }
  facts.alerts.insert(facts.alerts.begin(), added.begin(), added.end());
}

// The order of alerts of one run and step: causes before symptoms.
int rank_of(const Alert& alert) {
  if (alert.kind != Alert::Kind::nonfinite) return 2;
  return alert.tag_kind == TagKind::scalars ? 1 : 0;
}

void add_captures(const Run& run, const Facts* before, Facts& facts) {
  const std::vector<std::string> paths = store::Access::source(run).captures();
  const std::size_t skipped = paths.size() > kMostOfAKind ? paths.size() - kMostOfAKind : 0;
  facts.older_captures = skipped;
  for (std::size_t i = skipped; i < paths.size(); ++i) {
    // A capture appears complete and does not change; one that cannot be read may have been repaired.
    const auto known = before != nullptr ? before->captures.find(paths[i]) : facts.captures.end();
    const bool use = before != nullptr && known != before->captures.end() && known->second.problem.empty();
    CaptureFact fact = use ? known->second : read_capture(run, paths[i]);
    if (fact.problem.empty()) facts.alerts.push_back(alert_of_capture(fact));
    facts.captures.insert_or_assign(paths[i], std::move(fact));
  }
}

// When that step was, as nearly as the run's scalars say.
double time_of_step(const Run& run, const Facts& facts, std::int64_t step) {
  const Tag* longest = nullptr;
  for (const Tag& tag : facts.tags) {
    if (tag.kind == TagKind::scalars && (longest == nullptr || tag.points > longest->points)) longest = &tag;
  }
  if (longest == nullptr) return facts.last_time;
  std::shared_ptr<const store::Averages> none;
  const auto found = store::Access::source(run).summary(longest->name, {}, step, 0, none);
  return found && found->count > 0 ? found->last.time : facts.last_time;
}

// One for each reason: a recorder in trouble leaves out something at every step.
void add_gaps(const Run& run, Facts& facts) {
  struct Sum {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::uint64_t count = 0;
  };
  std::map<std::pair<RecordingGap::Reason, std::string>, Sum> sums;  // by reason and detail
  for (const RecordingGap& gap : run.gaps()) {
    facts.dropped += gap.count;
    const auto [at, is_new] = sums.try_emplace({gap.reason, gap.detail}, Sum{gap.first_step, gap.last_step, 0});
    Sum& sum = at->second;
    sum.first = std::min(sum.first, gap.first_step);
    sum.last = std::max(sum.last, gap.last_step);
    sum.count += gap.count;
  }
  std::vector<Alert> alerts;
  for (const auto& [why, sum] : sums) {
    const auto& [reason, detail] = why;
    Alert alert = {.kind = reason == RecordingGap::Reason::budget ? Alert::Kind::budget : Alert::Kind::dropped};
    alert.step = sum.first;
    alert.time = time_of_step(run, facts, sum.last);
    alert.text = counted(sum.count, "recording", "recordings") + " of tensors left out from step " +
                 grouped(sum.first) + " to " + grouped(sum.last) + ": " + std::string(to_string(reason));
    if (!detail.empty()) alert.text += ": " + detail;
    alerts.push_back(std::move(alert));
  }
  keep_newest(alerts, [](const Alert& alert) { return alert.time; });
  facts.alerts.insert(facts.alerts.end(), alerts.begin(), alerts.end());
}

void add_budget(const Run& run, const Facts* before, Facts& facts) {
  if (facts.find(kBudgetTag, TagKind::text) == nullptr) return;
  const auto values = run.values(kBudgetTag, TagKind::text);
  if (!values) return;
  const std::size_t skipped = values->size() > kMostOfAKind ? values->size() - kMostOfAKind : 0;
  for (std::size_t i = skipped; i < values->size(); ++i) {
    const ValueRef& value = (*values)[i];
    const std::string from = std::to_string(value.file) + ":" + std::to_string(value.offset);
    add_read(from, before, facts, [&]() -> std::optional<Alert> {
      const auto texts = run.text(value);
      if (!texts || texts->empty()) return std::nullopt;
      return Alert{.kind = Alert::Kind::budget,
                   .tag = std::string(kBudgetTag),
                   .tag_kind = TagKind::text,
                   .step = value.step,
                   .time = value.wall_time,
                   .text = texts->front()};
    });
  }
}

void add_damage(const Run& run, Facts& facts) {
  const std::vector<Damage> damage = run.damage();
  facts.damaged = damage.size();
  std::map<std::string, std::vector<const Damage*>> by_file;
  for (const Damage& one : damage) by_file[one.file].push_back(&one);
  std::size_t left = kMostOfAKind;
  // A file may have nothing in it that can be read.
  const double time = facts.last_time > 0 ? facts.last_time : store::Access::source(run).job().last_modified;
  const auto add = [&](std::string text) {
    if (left == 0) return;
    --left;
    facts.alerts.push_back({.kind = Alert::Kind::damage, .time = time, .text = std::move(text)});
  };
  for (const auto& [file, places] : by_file) {
    std::uint64_t bytes = 0;
    for (const Damage* one : places) bytes += one->size;
    add(file_name(file) + " is damaged in " + counted(places.size(), "place", "places") + " (" +
        counted(bytes, "byte", "bytes") + "), first at byte " +
        grouped(static_cast<std::int64_t>(places.front()->offset)) + ": " + places.front()->reason);
  }
  for (const LogFile& file : run.files()) {
    if (!file.gone && !file.error.empty()) add(file.error);
  }
}

void put_alert(formats::JsonWriter& json, std::string_view run, const Alert& alert) {
  json.object().key("kind").text(to_string(alert.kind)).key("run").text(run).key("tag");
  if (alert.tag_kind) {
    json.text(alert.tag).key("tag_kind").text(to_string(*alert.tag_kind));
  } else {
    json.null().key("tag_kind").null();
  }
  json.key("step");
  if (alert.step) {
    json.integer(*alert.step);
  } else {
    json.null();
  }
  json.key("time");
  if (alert.time > 0) {
    json.number(alert.time);
  } else {
    json.null();
  }
  json.key("text").text(alert.text).key("value");
  if (alert.value) {
    json.number(*alert.value);
  } else {
    json.null();
  }
  json.key("capture");
  if (alert.capture.empty()) {
    json.null();
  } else {
    json.text(alert.capture);
  }
  json.end();
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

void gather_alerts(const Run& run, const Facts* before, Facts& facts) {
  add_non_finite(run, facts);
  add_captures(run, before, facts);
  name_producers(facts);
  add_gaps(run, facts);
  add_budget(run, before, facts);
  add_damage(run, facts);
}

namespace {

using Entry = std::pair<const std::string*, Alert>;

// The newest first; but those of one run and step stay together, the cause in front.
void sort_alerts(std::vector<Entry>& all) {
  std::map<std::pair<const std::string*, std::int64_t>, double> newest;
  const auto time_of = [&](const Entry& entry) -> double& {
    const auto& [run, alert] = entry;
    return newest.try_emplace({run, *alert.step}, alert.time).first->second;
  };
  for (const Entry& entry : all) {
    if (entry.second.step) time_of(entry) = std::max(time_of(entry), entry.second.time);
  }
  const auto key = [&](const Entry& entry) {
    const auto& [run, alert] = entry;
    const double time = alert.step ? time_of(entry) : alert.time;
    return std::tuple(-time, *run, alert.step.value_or(0), rank_of(alert), -alert.time);
  };
  std::ranges::stable_sort(all, std::ranges::less(), key);
}

}  // namespace

Result<Answer> answer_alerts(const Context& context, const Params& /*params*/) {
  std::vector<Entry> all;
  for (const Catalogue::Item& item : context.catalogue->runs) {
    const std::shared_ptr<const Facts> facts = item.entry->facts();
    if (!facts) continue;
    for (const Alert& alert : facts->alerts) all.emplace_back(&item.entry->name, alert);
    const bool told =
        std::ranges::any_of(facts->alerts, [](const Alert& one) { return one.kind == Alert::Kind::died; });
    if (item.state() != RunState::died || told) continue;
    all.emplace_back(&item.entry->name,
                     Alert{.kind = Alert::Kind::died,
                           .step = facts->last_step,
                           .time = facts->last_time,
                           .text = "the process ended without closing the log after step " + grouped(facts->last_step) +
                                   "; 'sonde recover' saves what its flight ring holds"});
  }
  sort_alerts(all);
  if (all.size() > kMostAlerts) all.resize(kMostAlerts);
  formats::JsonWriter json;
  json.object().key("revision").integer(context.catalogue->revision).key("alerts").array();
  for (const auto& [run, alert] : all) put_alert(json, *run, alert);
  json.end().end();
  return json_answer(json.take());
}

}  // namespace sonde::query
