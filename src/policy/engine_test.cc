#include "policy/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace sonde::policy {
namespace {

using ::testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<Engine> engine_of(const Policy& policy) {
  auto engine = Engine::create(policy);
  EXPECT_TRUE(engine) << engine.error().message();
  return *engine;
}

std::shared_ptr<Engine> watching(std::vector<WatchPolicy> watches) {
  return engine_of({.watches = std::move(watches)});
}

// Ends a step with a loss; NaN: without one.
void end_step(Engine& engine, std::int64_t step, double loss, std::vector<std::uint32_t> due = {}) {
  const std::array<std::pair<std::string_view, double>, 1> scalars = {{{"loss", loss}}};
  const StepFacts facts = {.step = step, .scalars = std::span(scalars).first(loss == loss ? 1 : 0), .tensors = {}};
  engine.end_step(facts, false, due);
}

TEST(Plan, IsTheProgramsOwnWithoutAWatch) {
  const auto engine = engine_of({});
  const Part own[] = {{.every = 3, .keep = Keep::stats}};
  const Plan plan = engine->plan("dense", Kind::activation, own);
  ASSERT_EQ(plan.parts.size(), 1U);
  EXPECT_EQ(plan.due({.step = 6}), 1U);
  EXPECT_EQ(plan.due({.step = 7}), 0U);
  const Part never[] = {{.every = 0, .keep = Keep::stats}};
  EXPECT_TRUE(engine->plan("dense", Kind::activation, never).idle());
}

TEST(Plan, HasSeveralPartsOfTheProgramsOwnEachInItsOwnTime) {
  const Part own[] = {{.every = 1, .keep = Keep::stats}, {.every = 100, .keep = Keep::image}, {.every = 7}};
  const Plan plan = engine_of({})->plan("dense", Kind::activation, own);
  ASSERT_EQ(plan.parts.size(), 2U);
  EXPECT_EQ(plan.keep(plan.due({.step = 7})), Keep::stats);
  EXPECT_EQ(plan.keep(plan.due({.step = 200})), Keep::stats | Keep::image);
  const std::vector<Part> many(Plan::kMaxParts + 1, {.keep = Keep::stats});
  EXPECT_TRUE(engine_of({})->plan("dense", Kind::activation, many).crowded);
}

// An evaluation at the end of an epoch of 937 steps is at no multiple of 1000.
TEST(Plan, IsDueInAnEvaluationPassOnceAMultipleOfItsIntervalHasPassed) {
  const Part own[] = {{.every = 1000, .keep = Keep::stats}};
  const Plan plan = engine_of({})->plan("dense", Kind::activation, own);
  const auto due = [&](std::int64_t step, std::int64_t since) {
    return plan.due({.step = step, .evaluation = true, .since = since}) == 1U;
  };
  EXPECT_TRUE(due(0, -1));
  EXPECT_TRUE(due(937, -1)) << "the first one of a process";
  EXPECT_TRUE(due(1874, 937));
  EXPECT_FALSE(due(1900, 1874));
  EXPECT_TRUE(due(2000, 1900));
  EXPECT_FALSE(due(2001, 2000));
  EXPECT_TRUE(due(5000, 2001));
}

TEST(Plan, IsIdleForATensorThatNoWatchMatches) {
  const auto engine = watching({{.tensors = "encoder/.*"}});
  const Part own[] = {{.keep = Keep::stats}};
  EXPECT_TRUE(engine->plan("decoder/0", Kind::activation, own).idle());
  EXPECT_FALSE(engine->plan("encoder/0", Kind::activation, {}).idle());
}

TEST(Plan, LooksAtKindsAndExclusions) {
  const auto engine = watching({{.tensors = ".*", .exclude = "skip.*", .kinds = {Kind::gradient}}});
  EXPECT_FALSE(engine->plan("a", Kind::gradient, {}).idle());
  EXPECT_TRUE(engine->plan("a", Kind::weight, {}).idle());
  EXPECT_TRUE(engine->plan("skipped", Kind::gradient, {}).idle());
}

TEST(Plan, AddsUpAllWatchesThatMatch) {
  const auto engine = watching({{.every = 10, .record = Keep::stats}, {.every = 4, .record = Keep::image}});
  const Plan plan = engine->plan("a", Kind::activation, {});
  EXPECT_EQ(plan.keep(plan.due({.step = 10})), Keep::stats);
  EXPECT_EQ(plan.keep(plan.due({.step = 4})), Keep::image);
  EXPECT_EQ(plan.keep(plan.due({.step = 20})), Keep::stats | Keep::image);
  EXPECT_EQ(plan.due({.step = 3}), 0U);
}

TEST(Plan, AllMatchingWatchesApplyEvenIfOneNamesTheTensorExactly) {
  const auto engine = watching({{.tensors = ".*", .record = Keep::stats},
                                {.tensors = "a", .record = Keep::image},
                                {.tensors = "a.*", .record = Keep::whole}});
  const Plan plan = engine->plan("a", Kind::activation, {});
  EXPECT_EQ(plan.keep(plan.due({.step = 0})), Keep::stats | Keep::image | Keep::whole);
  EXPECT_EQ(engine->plan("ab", Kind::activation, {}).parts.size(), 2U);
}

TEST(Plan, KeepsToRangesOfSteps) {
  const auto engine = watching({{.first_step = 10, .last_step = 12}});
  const Plan plan = engine->plan("a", Kind::activation, {});
  for (const auto& [step, due] : {std::pair{9, 0U}, {10, 1U}, {12, 1U}, {13, 0U}}) {
    EXPECT_EQ(plan.due({.step = step}), due) << step;
  }
}

TEST(Plan, CountsEpochs) {
  const auto engine = watching({{.every = 2, .epochs = true}});
  const Plan plan = engine->plan("a", Kind::activation, {});
  EXPECT_EQ(plan.due({.step = 100, .begins_epoch = true, .epoch = 4}), 1U);
  EXPECT_EQ(plan.due({.step = 101, .begins_epoch = false, .epoch = 4}), 0U);
  EXPECT_EQ(plan.due({.step = 200, .begins_epoch = true, .epoch = 5}), 0U);
}

TEST(Plan, SamplesOnTheCallersThreadOnlyIfAllAgree) {
  const RowSample eight = {.rows = 8};
  EXPECT_EQ(watching({{.sample = eight}, {.sample = eight}})->plan("a", Kind::input, {}).sample, eight);
  EXPECT_EQ(watching({{.sample = eight}, {}})->plan("a", Kind::input, {}).sample, RowSample{});
  Policy flying = {.watches = {{.sample = eight}}};
  flying.flight.use = FlightPolicy::Use::on;
  EXPECT_EQ(engine_of(flying)->plan("a", Kind::input, {}).sample, RowSample{});
}

TEST(Plan, IsSharedByTensorsThatThePolicyTreatsAlike) {
  const auto engine = watching({{.tensors = "a.*", .every = 5}, {.tensors = ".*", .kinds = {Kind::weight}}});
  EXPECT_EQ(engine->plan("a/0", Kind::input, {}), engine->plan("a/1", Kind::input, {}));
  EXPECT_NE(engine->plan("a/0", Kind::input, {}), engine->plan("a/0", Kind::weight, {}));
  EXPECT_NE(engine->plan("a/0", Kind::input, {}), engine->plan("b", Kind::input, {}));
}

TEST(Plan, ATensorThatAConditionAsksForIsSeenAtEveryStep) {
  const auto engine =
      engine_of({.watches = {{.tensors = "nothing"}}, .triggers = {{.when = "nonfinite('grad.*') > 0"}}});
  EXPECT_TRUE(engine->plan("grad_1", Kind::gradient, {}).observed);
  EXPECT_TRUE(engine->wants_flight()) << "triggers come with a ring";
}

TEST(Engine, AsksConditionsAtTheEndOfTheStep) {
  const auto engine = watching({{.when = "loss > 1"}});
  EXPECT_TRUE(engine->is_conditional(0));
  end_step(*engine, 1, 2.0, {0});
  EXPECT_TRUE(engine->keeps(0, false));
  end_step(*engine, 2, 0.5, {0});
  EXPECT_FALSE(engine->keeps(0, false));
  end_step(*engine, 3, kNaN, {0});
  EXPECT_FALSE(engine->keeps(0, false)) << "no loss was recorded";
}

TEST(Engine, TakesTheFirstStepsThatAreDueAndHold) {
  const auto engine = watching({{.first = 2, .when = "loss > 1"}});
  std::vector<bool> kept;
  for (const double loss : {2.0, 0.0, 2.0, 2.0}) {
    end_step(*engine, 0, loss, {0});
    kept.push_back(engine->keeps(0, false));
  }
  EXPECT_EQ(kept, (std::vector<bool>{true, false, true, false}));
}

TEST(Engine, CreditsALostCaptureToItsTrigger) {
  const auto engine =
      engine_of({.triggers = {{.when = "loss > 5", .rearm = Rearm::always, .max_captures = 1},
                              {.when = "loss > 1", .rearm = Rearm::always, .max_captures = 1}}});  // both are "trigger"
  const auto fired = [&](std::int64_t step, double loss) {
    end_step(*engine, step, loss, {});
    std::vector<std::string> texts;
    for (const Trigger* trigger : engine->fired()) texts.push_back(trigger->condition().text());
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(fired(0, 2), Texts{"loss > 1"});
  EXPECT_EQ(fired(1, 9), Texts{"loss > 5"});
  engine->capture_ended("trigger", 0, false);
  engine->capture_ended("trigger", 1, true);
  EXPECT_EQ(fired(2, 9), Texts{"loss > 1"}) << "whose capture was lost";
  engine->capture_ended("trigger", 2, false);
  engine->capture_ended("trigger", 7, false);
  engine->capture_ended("other", 1, false);
  EXPECT_EQ(fired(3, 9), Texts{"loss > 1"});
}

TEST(Engine, NamesPatternsThatMatchNothing) {
  const auto engine = engine_of({.watches = {{.tensors = "encodr/.*"}, {.tensors = "dec.*"}},
                                 .triggers = {{.name = "nan", .when = "nonfinite('gradiant/.*') > 0"}}});
  const std::array<Engine::Named, 1> tensors = {{{"decoder/0", Kind::gradient}}};
  const auto unmatched = engine->unmatched(tensors);
  ASSERT_EQ(unmatched.size(), 2U);
  EXPECT_EQ(unmatched[0].place, "the watch on 'encodr/.*'");
  EXPECT_EQ(unmatched[1].place, "the pattern in the trigger 'nan', 'gradiant/.*'");
}

TEST(Engine, NamesExclusionsThatMatchNothing) {
  const auto engine = engine_of({.watches = {{.tensors = "dec.*", .exclude = "bais"}, {.exclude = "decoder/.*"}},
                                 .triggers = {{.when = "loss > 1"}},
                                 .flight = {.exclude = "inptu/.*"}});
  const std::array<Engine::Named, 2> tensors = {{{"decoder/0", Kind::gradient}, {"encoder/0", Kind::gradient}}};
  const auto unmatched = engine->unmatched(tensors);
  ASSERT_EQ(unmatched.size(), 2U);
  EXPECT_EQ(unmatched[0].place, "the exclusion in the watch on 'dec.*', 'bais'");
  EXPECT_EQ(unmatched[0].pattern, "bais");
  EXPECT_EQ(unmatched[1].place, "the flight ring's exclusion 'inptu/.*'");
}

TEST(Engine, NamesThePatternsAndScalarsOfAllConditions) {
  const auto engine = *Engine::create({.watches = {{.tensors = "a", .when = "max('nothing') > scalar('test/loss')"}},
                                       .triggers = {{.name = "t", .when = "loss > 2"}},
                                       .allow_negative_infinity = {"mask"}});
  const std::vector<Engine::Named> tensors = {{"a", Kind::activation}};
  std::vector<std::string> places;
  for (const auto& one : engine->unmatched(tensors)) places.push_back(one.place);
  EXPECT_THAT(places, ElementsAre("the pattern in the condition of the watch on 'a', 'nothing'",
                                  "the allowance of -inf for 'mask'"));
  places.clear();
  for (const auto& one : engine->scalars()) places.push_back(one.place);
  EXPECT_THAT(places, ElementsAre("the scalar 'test/loss' in the condition of the watch on 'a'",
                                  "the scalar 'loss' in the trigger 't'"));
  // The rule uses a loss if there is one, and works without.
  EXPECT_TRUE((*Engine::create({.triggers = {{.rule = "nonfinite"}}}))->scalars().empty());
}

TEST(Engine, RejectsInvalidPolicies) {
  EXPECT_FALSE(Engine::create({.watches = {{.tensors = "("}}}));
  EXPECT_FALSE(Engine::create({.watches = {{.when = "loss >"}}}));
  EXPECT_FALSE(Engine::create({.triggers = {{.rule = "no_such_rule"}}}));
  EXPECT_FALSE(Engine::create({.triggers = {{}}}));
}

// ---- Triggers.

// The steps at which it fires, for a loss at each step.
std::vector<int> fires(TriggerPolicy policy, const std::vector<double>& losses) {
  if (policy.when.empty()) policy.when = "loss > 1";
  const auto engine = engine_of({.triggers = {policy}});
  std::vector<int> steps;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    end_step(*engine, static_cast<std::int64_t>(i), losses[i]);
    if (!engine->fired().empty()) steps.push_back(static_cast<int>(i));
  }
  return steps;
}

TEST(Trigger, FiresOnceWhileItsConditionHolds) {
  EXPECT_EQ(fires({}, {0, 2, 2, 2, 0, 2, 2}), (std::vector<int>{1, 5}));
}

TEST(Trigger, MayFireAgainAtOnce) {
  EXPECT_EQ(fires({.rearm = Rearm::always}, {0, 2, 2, 0, 2}), (std::vector<int>{1, 2, 4}));
}

TEST(Trigger, MayFireOnceForAll) { EXPECT_EQ(fires({.rearm = Rearm::never}, {2, 0, 2, 0, 2}), (std::vector<int>{0})); }

TEST(Trigger, IsQuietUntilItsCaptureAndItsHoldOffAreOver) {
  EXPECT_EQ(fires({.after = 1, .hold_off = 2, .rearm = Rearm::always}, {2, 2, 2, 2, 2, 2, 2, 2, 2}),
            (std::vector<int>{0, 4, 8}));
  EXPECT_EQ(fires({.hold_off = 3}, {2, 0, 2, 0, 0, 2}), (std::vector<int>{0, 5}));
}

TEST(Trigger, StopsAtItsMaximum) {
  EXPECT_EQ(fires({.max_captures = 2}, {2, 0, 2, 0, 2}), (std::vector<int>{0, 2}));
  EXPECT_EQ(fires({.max_captures = 0}, {2, 0, 2, 0, 2}), (std::vector<int>{0, 2, 4}));
}

TEST(Trigger, DoesNotCountACaptureThatWasLost) {
  Trigger trigger = *Trigger::create({.name = "t", .when = "loss > 1", .rearm = Rearm::always, .max_captures = 1});
  const std::array<std::pair<std::string_view, double>, 1> scalars = {{{"loss", 2}}};
  EXPECT_TRUE(trigger.end_step({.step = 0, .scalars = scalars, .tensors = {}}));
  EXPECT_FALSE(trigger.end_step({.step = 1, .scalars = scalars, .tensors = {}}));
  EXPECT_FALSE(trigger.capture_ended(1, false)) << "it did not fire then";
  EXPECT_TRUE(trigger.capture_ended(0, false));
  EXPECT_FALSE(trigger.capture_ended(0, false)) << "once";
  EXPECT_TRUE(trigger.end_step({.step = 2, .scalars = scalars, .tensors = {}}));
  EXPECT_FALSE(trigger.end_step({.step = 3, .scalars = scalars, .tensors = {}}));
}

TEST(Trigger, ThatFiresOnceFiresAgainIfItsCaptureWasLost) {
  Trigger trigger = *Trigger::create({.name = "t", .when = "loss > 1", .rearm = Rearm::never});
  const auto fires_at = [&](std::int64_t step, double loss) {
    const std::array<std::pair<std::string_view, double>, 1> scalars = {{{"loss", loss}}};
    return trigger.end_step({.step = step, .scalars = scalars, .tensors = {}});
  };
  EXPECT_TRUE(fires_at(0, 2));
  EXPECT_TRUE(trigger.capture_ended(0, false));
  EXPECT_FALSE(fires_at(1, 2)) << "its condition was not false in between";
  EXPECT_FALSE(fires_at(2, 0));
  EXPECT_TRUE(fires_at(3, 2));
  EXPECT_TRUE(trigger.capture_ended(3, true));
  EXPECT_FALSE(fires_at(4, 0));
  EXPECT_FALSE(fires_at(5, 2));
}

TEST(Trigger, IsNamedAfterItsRule) {
  const auto trigger = Trigger::create({.rule = "nonfinite"});
  ASSERT_TRUE(trigger) << trigger.error().message();
  EXPECT_EQ(trigger->name(), "nonfinite");
  EXPECT_EQ(Trigger::create({.name = "mine", .when = "loss > 1"})->name(), "mine");
}

}  // namespace
}  // namespace sonde::policy
