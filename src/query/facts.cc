#include "query/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "index/run_access.h"

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

Facts gather_facts(const Run& run) {
  Facts facts;
  facts.tags = run.tags();
  facts.started = run.start_time();
  bool any = false;
  for (const Tag& tag : facts.tags) {
    facts.points += tag.points;
    facts.first_step = any ? std::min(facts.first_step, tag.first_step) : tag.first_step;
    facts.last_step = any ? std::max(facts.last_step, tag.last_step) : tag.last_step;
    facts.last_time = any ? std::max(facts.last_time, tag.last_time) : tag.last_time;
    any = true;
  }
  facts.damaged = run.damage().size();
  for (const RecordingGap& gap : run.gaps()) facts.dropped += gap.count;
  const double seconds = facts.last_time - facts.started;
  const double steps = static_cast<double>(facts.last_step) - static_cast<double>(facts.first_step);
  facts.steps_per_second = seconds > 0 ? steps / seconds : std::numeric_limits<double>::quiet_NaN();
  facts.recent_steps_per_second = facts.steps_per_second;
  return facts;
}

}  // namespace sonde::query
