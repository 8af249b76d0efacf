#include "inspect/fallback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace sonde::inspect {
namespace {

using testing::ElementsAre;

// A runtime with two layers, which fails where it is told to.
struct Plan {
  std::string name;
  Status open, select, run;
  std::size_t kept = 0;
  bool gives_before_failing = false;
};

class FakeRuntime final : public Runtime {
 public:
  FakeRuntime(Plan plan, std::vector<std::string>& calls) : plan_(std::move(plan)), calls_(calls) {
    info_.name = plan_.name;
    description_.layers.resize(2);
    description_.layers[1].index = 1;
  }
  const RuntimeInfo& info() const noexcept override { return info_; }
  const Description& description() const noexcept override { return description_; }
  Status select(const std::vector<std::int64_t>& layers) override {
    calls_.push_back(plan_.name + " select " + std::to_string(layers.size()));
    return plan_.select;
  }
  Status run(const std::vector<NamedView>&, const TakeOutput& take, const TakeResult&) override {
    calls_.push_back(plan_.name + " run");
    if (!plan_.run && !plan_.gives_before_failing) return plan_.run;
    for (const Layer& layer : description_.layers) {
      values_[static_cast<std::size_t>(layer.index)] = static_cast<float>(layer.index);
      if (take) {
        if (Status taken = take({&layer, view(&values_[static_cast<std::size_t>(layer.index)], {1}), "", plan_.kept});
            !taken)
          return taken;
      }
      if (!plan_.run) return plan_.run;
    }
    return {};
  }
  Result<std::vector<Value>> infer_values() override { return std::vector<Value>{{plan_.name, {}, {}, {}}}; }
  Result<std::vector<std::int64_t>> fusions() override { return std::vector<std::int64_t>{plan_.name == "first"}; }
  Result<std::vector<LayerTime>> times() override { return std::vector<LayerTime>{{0, plan_.name, 1}}; }

 private:
  Plan plan_;
  std::vector<std::string>& calls_;
  RuntimeInfo info_;
  Description description_;
  std::array<float, 2> values_{};  // the memory of the outputs
};

class Fallback : public testing::Test {
 protected:
  Open opening(const Plan& plan) {
    return [this, plan]() -> Result<std::unique_ptr<Runtime>> {
      if (!plan.open) return plan.open;
      return std::unique_ptr<Runtime>(std::make_unique<FakeRuntime>(plan, calls_));
    };
  }
  std::unique_ptr<Runtime> open(const Plan& first, const Plan& second) {
    auto runtime = open_with_fallback(opening(first), opening(second));
    EXPECT_TRUE(runtime) << runtime.error().message();
    return *std::move(runtime);
  }
  // The number of outputs and how long each is kept.
  std::vector<std::size_t> run(Runtime& runtime, Status* status = nullptr) {
    std::vector<std::size_t> kept;
    const Status ran = runtime.run({},
                                   [&](const Output& output) {
                                     kept.push_back(output.kept);
                                     return Status::success();
                                   },
                                   {});
    if (status != nullptr) *status = ran;
    return kept;
  }

  const Status unsupported_{Code::unsupported, "no operation Foo"};
  const Status invalid_{Code::invalid_argument, "wrong input"};
  std::vector<std::string> calls_;
};

TEST_F(Fallback, UsesTheFirstAsLongAsItWorks) {
  const auto runtime = open({.name = "first"}, {.name = "second"});
  EXPECT_TRUE(runtime->select({0}));
  run(*runtime);
  EXPECT_EQ(runtime->info().name, "first");
  EXPECT_EQ(runtime->info().note, "");
  EXPECT_THAT(calls_, ElementsAre("first select 1", "first run"));
}

TEST_F(Fallback, TakesTheSecondIfTheFirstCannotBeOpened) {
  const auto runtime = open({.name = "first", .open = unsupported_}, {.name = "second"});
  EXPECT_EQ(runtime->info().name, "second");
  EXPECT_EQ(runtime->info().note, "no operation Foo");
  EXPECT_EQ(run(*runtime).size(), 2U);
}

TEST_F(Fallback, TakesTheSecondIfTheFirstCannotBeCompiled) {
  const auto runtime = open({.name = "first", .select = unsupported_}, {.name = "second"});
  EXPECT_TRUE(runtime->select({0, 1}));
  EXPECT_EQ(runtime->info().name, "second");
  EXPECT_EQ(runtime->info().note, "no operation Foo");
  run(*runtime);
  EXPECT_THAT(calls_, ElementsAre("first select 2", "second select 2", "second run"));
  EXPECT_EQ(runtime->times()->at(0).name, "second");
}

TEST_F(Fallback, SelectsAgainIfTheFirstFailsWhenItRuns) {
  const auto runtime = open({.name = "first", .run = unsupported_}, {.name = "second"});
  EXPECT_TRUE(runtime->select({1}));
  EXPECT_EQ(run(*runtime).size(), 2U);
  EXPECT_THAT(calls_, ElementsAre("first select 1", "first run", "second select 1", "second run"));
}

TEST_F(Fallback, GivesNoOutputTwice) {
  const auto runtime = open({.name = "first", .run = unsupported_, .gives_before_failing = true}, {.name = "second"});
  Status status;
  EXPECT_EQ(run(*runtime, &status).size(), 1U);
  EXPECT_EQ(status.code(), Code::unsupported);
}

TEST_F(Fallback, OtherErrorsAreErrors) {
  const auto runtime = open({.name = "first", .run = invalid_}, {.name = "second"});
  Status status;
  run(*runtime, &status);
  EXPECT_EQ(status.message(), "wrong input");
  EXPECT_EQ(runtime->info().name, "first");
}

TEST_F(Fallback, TheErrorIsThatOfTheFirstIfTheSecondFailsToo) {
  const auto failed = open_with_fallback(opening({.name = "first", .open = unsupported_}),
                                         opening({.name = "second", .open = {Code::io, "not installed"}}));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "no operation Foo");
  const auto runtime = open({.name = "first", .run = unsupported_}, {.name = "second", .run = invalid_});
  Status status;
  run(*runtime, &status);
  EXPECT_EQ(status.message(), "no operation Foo");
}

TEST_F(Fallback, EachOutputSaysHowLongItsOwnRuntimeKeepsIt) {
  const auto first = open({.name = "first", .kept = 2}, {.name = "second"});
  EXPECT_THAT(run(*first), ElementsAre(2, 2));
  const auto second = open({.name = "first", .run = unsupported_, .kept = 2}, {.name = "second"});
  EXPECT_THAT(run(*second), ElementsAre(0, 0));
}

TEST_F(Fallback, AsksTheRuntimeThatRunsForWhatItInfersAndFuses) {
  const auto runtime = open({.name = "first", .select = unsupported_}, {.name = "second"});
  EXPECT_EQ(runtime->infer_values()->at(0).name, "first");
  EXPECT_EQ(runtime->fusions()->at(0), 1);
  EXPECT_TRUE(runtime->select({0}));
  EXPECT_EQ(runtime->infer_values()->at(0).name, "second");
  EXPECT_EQ(runtime->fusions()->at(0), 0);
}

}  // namespace
}  // namespace sonde::inspect
