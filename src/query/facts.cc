#include "query/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "query/plugin_data.h"
#include "store/access.h"

namespace sonde::query {

std::string_view to_string(RunState state) noexcept {
  switch (state) {
    case RunState::live: return "live";
    case RunState::finished: return "finished";
    case RunState::died: return "died";
  }
  return "finished";
}

std::string_view to_string(Alert::Kind kind) noexcept {
  switch (kind) {
    case Alert::Kind::nonfinite: return "nonfinite";
    case Alert::Kind::trigger: return "trigger";
    case Alert::Kind::died: return "died";
    case Alert::Kind::dropped: return "dropped";
    case Alert::Kind::budget: return "budget";
    case Alert::Kind::damage: return "damage";
  }
  return "damage";
}

const Tag* Facts::find(std::string_view tag, TagKind kind) const {
  const auto [begin, end] =
      std::ranges::equal_range(tags, tag, {}, [](const Tag& one) -> std::string_view { return one.name; });
  const auto found = std::find_if(begin, end, [&](const Tag& one) { return one.kind == kind; });
  return found != end ? &*found : nullptr;
}

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double rate(double steps, double seconds) { return seconds > 0 && std::isfinite(seconds) ? steps / seconds : kNaN; }

// Over the last minute of the series with the most points, which tells it best.
double recent_rate(const Run& run, const Facts& facts) {
  constexpr double kWindow = 60;
  const Tag* longest = nullptr;
  for (const Tag& tag : facts.tags) {
    if (tag.kind == TagKind::scalars && (longest == nullptr || tag.points > longest->points)) longest = &tag;
  }
  if (longest == nullptr) return facts.steps_per_second;
  const auto since = store::Access::source(run).first_since(longest->name, longest->last_time - kWindow);
  if (!since) return facts.steps_per_second;
  return rate(static_cast<double>(longest->last_step) - static_cast<double>(since->step),
              longest->last_time - since->time);
}

void gather_plugins(const Run& run, Facts& facts) {
  for (const Tag& tag : facts.tags) {
    if (tag.kind == TagKind::hparams) {
      if (auto hparams = session_hparams(tag.plugin_content)) facts.hparams = *std::move(hparams);
      if (auto metrics = experiment_metrics(tag.plugin_content)) facts.metrics = *std::move(metrics);
    }
    if (tag.kind != TagKind::custom_scalars) continue;
    const auto values = run.values(tag.name, tag.kind);
    if (!values || values->empty()) continue;
    const auto texts = run.text(values->back());
    if (!texts || texts->empty()) continue;
    if (auto categories = layout_categories(texts->front())) facts.layouts.push_back(*std::move(categories));
  }
}

}  // namespace

Facts gather_facts(const Run& run, const Facts* before) {
  Facts facts;
  facts.tags = run.tags();
  facts.started = run.start_time();
  bool any = false;
  for (const Tag& tag : facts.tags) {
    facts.points += tag.points;
    facts.first_step = any ? std::min(facts.first_step, tag.first_step) : tag.first_step;
    facts.last_step = any ? std::max(facts.last_step, tag.last_step) : tag.last_step;
    if (std::isfinite(tag.last_time)) facts.last_time = std::max(facts.last_time, tag.last_time);
    any = true;
  }
  const double steps = static_cast<double>(facts.last_step) - static_cast<double>(facts.first_step);
  facts.steps_per_second = rate(steps, facts.last_time - facts.started);
  facts.recent_steps_per_second = recent_rate(run, facts);
  gather_plugins(run, facts);
  for (const ProbeInfo& probe : run.probes()) facts.order.emplace(probe.tag, probe.order);
  facts.note = store::Access::source(run).note();
  gather_alerts(run, before, facts);
  return facts;
}

}  // namespace sonde::query
