#include "policy/engine.h"

#include <algorithm>
#include <utility>

#include "policy/rules.h"

namespace sonde::policy {
namespace {

// Exchanges the states of all that are in both lists, each once.
template <class State, class Said>
void swap_equal(std::vector<State>& states, const std::vector<Said>& said, std::vector<State>& others,
                const std::vector<Said>& other_said) {
  std::vector<bool> taken(others.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::size_t j = 0; j < others.size(); ++j) {
      if (taken[j] || said[i] != other_said[j]) continue;
      taken[j] = true;
      std::swap(states[i], others[j]);
      break;
    }
  }
}

std::int64_t floor_division(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

bool Part::due(const Moment& moment) const noexcept {
  if (every <= 0 || moment.step < first_step || moment.step > last_step) return false;
  if (spent[moment.evaluation ? 1 : 0]) return false;
  if (epochs) return moment.begins_epoch && moment.epoch % every == 0;
  if (every == 1) return true;
  // Evaluation seldom happens at a multiple: it is due once one has passed.
  if (moment.evaluation) return floor_division(moment.step, every) > floor_division(moment.since, every);
  return moment.step % every == 0;
}

Parts Plan::due(const Moment& moment) const noexcept {
  Parts bits = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].due(moment)) bits |= Parts{1} << i;
  }
  return bits;
}

Keep Plan::keep(Parts due) const noexcept {
  Keep all = Keep::nothing;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (has_part(due, i)) all = all | parts[i].keep;
  }
  return all;
}

void Plan::finalize() noexcept {
  const bool same = !flight && !observed && !parts.empty() &&
                    std::ranges::all_of(parts, [&](const Part& part) { return part.sample == parts[0].sample; });
  sample = same ? parts[0].sample : RowSample{};
}

Result<std::shared_ptr<Engine>> Engine::create(const Policy& policy) {
  if (Status status = policy.check(); !status.ok()) return status;
  std::shared_ptr<Engine> engine(new Engine(policy));
  if (Status status = engine->compile(); !status.ok()) return status;
  return engine;
}

Status Engine::compile() {
  for (const WatchPolicy& watch : policy_.watches) {
    if (Status status = compile_watch(watch); !status.ok()) return status;
  }
  for (const TriggerPolicy& trigger : policy_.triggers) {
    auto made = Trigger::create(trigger);
    if (!made) return made.error();
    triggers_.push_back(std::move(*made));
    has_conditions_ = true;
  }
  const FlightPolicy& flight = policy_.flight;
  auto selector = tags::Selector::create(flight.tensors, flight.exclude, flight.kinds);
  if (!selector) return selector.error();
  flight_.push_back(std::move(*selector));
  for (const std::string& pattern : policy_.allow_negative_infinity) {
    auto allowed = tags::Selector::create(pattern);
    if (!allowed) return allowed.error();
    allowed_.push_back(std::move(*allowed));
  }
  return Status::success();
}

Status Engine::compile_watch(const WatchPolicy& watch) {
  auto selector = tags::Selector::create(watch.tensors, watch.exclude, watch.kinds);
  if (!selector) return selector.error();
  WatchState state = {.selector = std::move(*selector), .conditions = {}};
  for (int i = 0; i < 2 && !watch.when.empty(); ++i) {
    auto condition = Expression::parse(watch.when);
    if (!condition) return condition.error();
    state.conditions.push_back(std::move(*condition));
    has_conditions_ = true;
  }
  watches_.push_back(std::move(state));
  return Status::success();
}

bool wants_flight(const Policy& policy) noexcept {
  using Use = FlightPolicy::Use;
  return policy.flight.use == Use::on || (policy.flight.use == Use::automatic && !policy.triggers.empty());
}

bool Engine::is_observed(std::string_view name, Kind kind) const {
  const auto looks = [&](const Expression& condition) { return condition.looks_at(name, kind); };
  return std::ranges::any_of(triggers_, [&](const Trigger& trigger) { return looks(trigger.condition()); }) ||
         std::ranges::any_of(watches_, [&](const WatchState& watch) {
           return !watch.conditions.empty() && looks(watch.conditions[0]);
         });
}

Plan Engine::plan(std::string_view name, Kind kind, std::span<const Part> own) const {
  Plan plan;
  plan.engine = this;
  for (const Part& part : own) {
    if (!watches_.empty() || part.every <= 0 || part.keep == Keep::nothing) continue;
    plan.crowded = plan.parts.size() == Plan::kMaxParts;
    if (!plan.crowded) plan.parts.push_back(part);
  }
  for (std::uint32_t i = 0; i < watches_.size(); ++i) {
    if (watches_[i].selector.match(name, kind) == tags::Match::none) continue;
    plan.crowded = plan.parts.size() == Plan::kMaxParts;
    if (plan.crowded) continue;
    const WatchPolicy& watch = policy_.watches[i];
    Part part = {
        .watch = i, .every = watch.every, .epochs = watch.epochs, .sample = watch.sample, .keep = watch.record};
    if (watch.first_step > 0) part.first_step = watch.first_step;
    if (watch.last_step >= 0) part.last_step = watch.last_step;
    std::ranges::copy(watches_[i].spent, part.spent);
    plan.parts.push_back(part);
  }
  plan.flight = wants_flight() && flight_[0].match(name, kind) != tags::Match::none;
  plan.observed = is_observed(name, kind);
  plan.negative_infinity_allowed = std::ranges::any_of(
      allowed_, [&](const tags::Selector& selector) { return selector.match(name, kind) != tags::Match::none; });
  plan.finalize();
  return plan;
}

std::vector<Engine::Unmatched> Engine::unmatched(std::span<const Named> tensors) const {
  std::vector<Unmatched> found;
  const auto look = [&](const tags::Selector& selector, std::string place) {
    const bool matches = std::ranges::any_of(
        tensors, [&](const Named& tensor) { return selector.match(tensor.name, tensor.kind) != tags::Match::none; });
    if (!matches) found.push_back({std::move(place) + " '" + selector.pattern() + "'", selector.pattern()});
  };
  // Compiled before, as a part of something else.
  const auto look_at_text = [&](const std::string& pattern, std::string place) {
    if (auto selector = tags::Selector::create(pattern)) look(*selector, std::move(place));
  };
  for (const WatchState& watch : watches_) {
    look(watch.selector, "the watch on");
    if (watch.selector.exclude().empty()) continue;
    look_at_text(watch.selector.exclude(), "the exclusion in the watch on '" + watch.selector.pattern() + "',");
  }
  for (const auto& [condition, place] : conditions()) {
    for (const std::string& pattern : condition->patterns()) look_at_text(pattern, "the pattern in " + place + ",");
  }
  // A ring for everything may have nothing to do: some triggers use only scalars.
  if (wants_flight() && flight_[0].pattern() != ".*") look(flight_[0], "the flight ring's pattern");
  if (wants_flight() && !flight_[0].exclude().empty())
    look_at_text(flight_[0].exclude(), "the flight ring's exclusion");
  for (const tags::Selector& allowed : allowed_) look(allowed, "the allowance of -inf for");
  return found;
}

std::vector<Engine::Unmatched> Engine::scalars() const {
  std::vector<Unmatched> all;
  for (const auto& [condition, place] : conditions()) {
    const auto trigger = std::ranges::find(triggers_, condition, [](const Trigger& one) { return &one.condition(); });
    if (trigger != triggers_.end() && !needs_scalars(trigger->policy())) continue;
    for (const std::string& name : condition->scalars()) {
      std::string where = "the scalar '";
      where.append(name).append("' in ").append(place);
      all.push_back({std::move(where), name});
    }
  }
  return all;
}

std::vector<std::pair<const Expression*, std::string>> Engine::conditions() const {
  std::vector<std::pair<const Expression*, std::string>> all;
  for (const WatchState& watch : watches_) {
    if (watch.conditions.empty()) continue;
    all.emplace_back(watch.conditions.data(), "the condition of the watch on '" + watch.selector.pattern() + "'");
  }
  for (const Trigger& trigger : triggers_) {
    all.emplace_back(&trigger.condition(), "the trigger '" + trigger.name() + "'");
  }
  return all;
}

void Engine::adopt(Engine& other) {
  swap_equal(watches_, policy_.watches, other.watches_, other.policy_.watches);
  swap_equal(triggers_, policy_.triggers, other.triggers_, other.policy_.triggers);
  newly_spent_ |=
      std::ranges::any_of(watches_, [](const WatchState& watch) { return watch.spent[0] || watch.spent[1]; });
}

bool Engine::is_conditional(std::uint32_t watch) const noexcept {
  return !watches_[watch].conditions.empty() || policy_.watches[watch].first > 0;
}

void Engine::retire_spent() noexcept {
  newly_spent_ = false;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const std::int64_t first = policy_.watches[i].first;
    for (const std::size_t pass : {0U, 1U}) watches_[i].spent[pass] = first > 0 && watches_[i].taken[pass] >= first;
  }
}

void Engine::capture_ended(std::string_view trigger, std::int64_t step, bool saved) noexcept {
  (void)std::ranges::any_of(triggers_,
                            [&](Trigger& one) { return one.name() == trigger && one.capture_ended(step, saved); });
}

void Engine::end_step(const StepFacts& facts, bool evaluation, std::span<const std::uint32_t> due) {
  const std::size_t pass = evaluation ? 1 : 0;
  for (WatchState& watch : watches_)
    watch.keeps[pass] = watch.conditions.empty() || watch.conditions[pass].evaluate(facts);
  for (const std::uint32_t i : due) {
    WatchState& watch = watches_[i];
    const std::int64_t first = policy_.watches[i].first;
    if (first <= 0 || !watch.keeps[pass]) continue;
    watch.keeps[pass] = watch.taken[pass]++ < first;
    newly_spent_ |= watch.taken[pass] == first;
  }
  fired_.clear();
  if (evaluation) return;
  for (Trigger& trigger : triggers_) {
    if (trigger.end_step(facts)) fired_.push_back(&trigger);
  }
}

}  // namespace sonde::policy
