#include "policy/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "policy/expression_testing.h"

namespace sonde::policy {
namespace {

using ::testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Expression rule(std::string name, std::string tensors = {}, std::string scalar = {}) {
  TriggerPolicy trigger;
  trigger.rule = std::move(name);
  trigger.tensors = std::move(tensors);
  trigger.scalar = std::move(scalar);
  const auto text = expression_of(trigger);
  EXPECT_TRUE(text) << text.error().message();
  auto expression = Expression::parse(*text);
  EXPECT_TRUE(expression) << *text << '\n' << expression.error().message();
  return std::move(*expression);
}

using Values = std::vector<float>;

// Numbers as they occur in networks; always the same ones.
class Draw {
 public:
  Values normal(double deviation, std::size_t count = 128, double mean = 0) {
    std::normal_distribution<double> distribution(mean, deviation);
    Values values(count);
    for (float& value : values) value = static_cast<float>(distribution(random_));
    return values;
  }
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  double gauss() { return std::normal_distribution<double>(0, 1)(random_); }

 private:
  std::mt19937_64 random_{7};
};

Values each(Values values, const std::function<double(double)>& function) {
  for (float& value : values) value = static_cast<float>(function(value));
  return values;
}
double relu(double x) { return std::max(x, 0.0); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Values softmax(const Values& logits, std::size_t classes) {
  Values out(logits.size());
  for (std::size_t row = 0; row + classes <= logits.size(); row += classes) {
    double sum = 0;
    for (std::size_t i = row; i < row + classes; ++i) sum += std::exp(double{logits[i]});
    for (std::size_t i = row; i < row + classes; ++i) out[i] = static_cast<float>(std::exp(double{logits[i]}) / sum);
  }
  return out;
}

// The first of this many steps at which it holds; -1: none.
int first_of(Expression& expression, int steps, const std::function<void(Step&, int)>& fill) {
  Step step;
  for (int i = 0; i < steps; ++i) {
    step.clear();
    fill(step, i);
    if (step.holds(expression, i)) return i;
  }
  return -1;
}

// A network that learns: its loss falls, its gradients shrink, its biases begin at zero.
class Healthy {
 public:
  void fill(Step& step, int i) {
    const double progress = std::exp(-i / 300.0);
    step.scalar("loss", 0.3 + 2 * progress + 0.1 * draw_.gauss());
    step.tensor("tokens", Kind::input,
                each(draw_.normal(1, 64), [](double x) { return std::round(40'000 + 5'000 * x); }));
    step.tensor("dense/out", Kind::activation, each(draw_.normal(1), relu));
    step.tensor("sparse/out", Kind::activation, each(draw_.normal(1, 1024, -1.5), relu));  // nine of ten are zero
    step.tensor("tanh/out", Kind::activation, each(draw_.normal(1), [](double x) { return std::tanh(x); }));
    step.tensor("gate/out", Kind::activation, each(draw_.normal(2), sigmoid));
    step.tensor("mask", Kind::activation, Values(256, 1.0F));
    step.tensor("chosen", Kind::activation, each(draw_.normal(1), [](double x) { return x > 1 ? 1 : 0; }));
    for (const std::size_t classes : {2U, 3U, 10U}) {  // which become certain
      step.tensor("classes_" + std::to_string(classes), Kind::activation,
                  softmax(draw_.normal(20, 30 * classes), classes));
    }
    const double noise = std::exp(0.5 * draw_.gauss());
    step.tensor("dense/kernel", Kind::gradient, draw_.normal(0.02 * noise * progress + 1e-4));
    step.tensor("embedding", Kind::gradient, i == 0 ? Values(128) : draw_.normal(1e-6));  // zero at first
    learn(step, "dense/kernel", kernel_, 0.01 * progress);
    learn(step, "dense/bias", bias_, 0.05 * progress);
  }

 private:
  void learn(Step& step, const std::string& name, Values& weight, double rate) {
    Values update = draw_.normal(rate * 0.1, weight.size());
    std::ranges::transform(weight, update, weight.begin(), std::plus<>());
    step.tensor(name, Kind::weight, weight).tensor(name, Kind::update, update);
  }

  Draw draw_;
  Values kernel_ = draw_.normal(0.05, 512);
  Values bias_ = Values(64);
};

class EveryRule : public ::testing::TestWithParam<Rule> {};

TEST_P(EveryRule, StaysQuietOnAHealthyNetwork) {
  Expression expression = rule(std::string(GetParam().name));
  Healthy network;
  EXPECT_EQ(first_of(expression, 1000, [&](Step& step, int i) { network.fill(step, i); }), -1);
}

TEST_P(EveryRule, StaysQuietIfNothingIsRecorded) {
  Expression expression = rule(std::string(GetParam().name));
  EXPECT_EQ(first_of(expression, 300, [](Step& /*step*/, int /*i*/) {}), -1);
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryRule, ::testing::ValuesIn(rules().begin(), rules().end()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// The same network with a fault planted at step 150 by `plant`, which adds to the step.
int with_fault(const std::string& name, const std::function<void(Step&, Draw&)>& plant, int steps = 200) {
  Expression expression = rule(name);
  Healthy network;
  Draw draw;
  return first_of(expression, steps, [&](Step& step, int i) {
    network.fill(step, i);
    if (i >= 150) plant(step, draw);
  });
}

TEST(Nonfinite, HoldsAtOnce) {
  EXPECT_EQ(with_fault("nonfinite", [](Step& s, Draw&) { s.tensor<float>("x", Kind::activation, {1, kNaN}); }), 150);
  EXPECT_EQ(with_fault("nonfinite", [](Step& s, Draw&) { s.tensor<float>("x", Kind::gradient, {1, -kInf}); }), 150);
  for (const double loss : {double{kNaN}, double{kInf}, -double{kInf}}) {
    Expression expression = rule("nonfinite");
    EXPECT_TRUE(Step().scalar("loss", loss).holds(expression));
  }
}

TEST(Nonfinite, LooksOnlyAtTheSelectedTensors) {
  Expression expression = rule("nonfinite", "encoder/.*", "train/loss");
  Step step;
  step.tensor<float>("decoder/x", Kind::activation, {kNaN}).scalar("loss", kNaN);
  EXPECT_FALSE(step.holds(expression));
  EXPECT_TRUE(Step().scalar("train/loss", kNaN).holds(expression));
  step.tensor<float>("encoder/mask", Kind::activation, {-kInf}, true);
  EXPECT_FALSE(step.holds(expression)) << "an intended -inf";
}

TEST(ExplodingGradient, HoldsIfOneIsHugeOrGrowsAHundredfold) {
  EXPECT_EQ(with_fault("exploding_gradient", [](Step& s, Draw& d) { s.tensor("new", Kind::gradient, d.normal(1000)); }),
            150);
  EXPECT_EQ(
      with_fault("exploding_gradient", [](Step& s, Draw& d) { s.tensor("embedding", Kind::gradient, d.normal(10)); }),
      150);
  EXPECT_EQ(with_fault("exploding_gradient", [](Step& s, Draw&) { s.tensor<float>("x", Kind::gradient, {kInf}); }),
            150);
}

TEST(ExplodingGradient, TakesNothingElseForAGradient) {
  Expression expression = rule("exploding_gradient", "dense.*");
  Draw draw;
  EXPECT_FALSE(Step().tensor("dense", Kind::activation, draw.normal(1e6)).holds(expression));
  EXPECT_TRUE(Step().tensor("dense", Kind::gradient, draw.normal(1e6)).holds(expression));
}

TEST(VanishingGradient, HoldsAfterTenSteps) {
  EXPECT_EQ(
      with_fault("vanishing_gradient", [](Step& s, Draw& d) { s.tensor("first", Kind::gradient, d.normal(1e-10)); }),
      159);
  EXPECT_EQ(with_fault("vanishing_gradient", [](Step& s, Draw&) { s.tensor("dead", Kind::gradient, Values(64)); }),
            159);
}

TEST(DeadRelu, HoldsAtOnce) {
  EXPECT_EQ(with_fault("dead_relu",
                       [](Step& s, Draw& d) { s.tensor("relu", Kind::activation, each(d.normal(1, 1024, -3), relu)); }),
            150);
  EXPECT_EQ(with_fault("dead_relu", [](Step& s, Draw&) { s.tensor("relu", Kind::activation, Values(64)); }), 150);
}

TEST(SaturatedActivation, HoldsForTanhAndSigmoid) {
  const auto saturated = [](const std::function<double(double)>& function, double mean) {
    return with_fault("saturated_activation", [&](Step& s, Draw& d) {
      s.tensor("x", Kind::activation, each(d.normal(100, 1024, mean), function));
    });
  };
  EXPECT_EQ(saturated([](double x) { return std::tanh(x); }, 0), 150);
  EXPECT_EQ(saturated([](double x) { return std::tanh(x); }, 150), 150);
  EXPECT_EQ(saturated(sigmoid, 30), 150);
  EXPECT_EQ(saturated(sigmoid, 200), 150);
}

TEST(UpdateRatio, HoldsAfterAFewSteps) {
  const auto learning = [](double rate) {
    Expression expression = rule("update_ratio");
    Draw draw;
    Values weight = draw.normal(0.05);
    return first_of(expression, 300, [&](Step& step, int /*i*/) {
      const Values update = draw.normal(rate);
      std::ranges::transform(weight, update, weight.begin(), std::plus<>());
      step.tensor("kernel", Kind::update, update).tensor("kernel", Kind::weight, weight);
    });
  };
  EXPECT_EQ(learning(1), 4) << "every step replaces the weight";
  EXPECT_EQ(learning(1e-9), 99) << "no step reaches its digits";
  EXPECT_EQ(learning(1e-4), -1);
}

// The first of 1000 steps at which a rule about the loss holds.
int with_loss(const std::string& name, const std::function<double(int, Draw&)>& loss) {
  Expression expression = rule(name);
  Draw draw;
  return first_of(expression, 1000, [&](Step& step, int i) { step.scalar("loss", loss(i, draw)); });
}

TEST(LossSpike, HoldsAtTheSpike) {
  const auto spike = [](double height) {
    return [height](int i, Draw& d) { return (i == 700 ? height : 0) + 0.5 + std::exp(-i / 100.0) + 0.05 * d.gauss(); };
  };
  EXPECT_EQ(with_loss("loss_spike", spike(2)), 700);
  EXPECT_EQ(with_loss("loss_spike", spike(std::numeric_limits<double>::infinity())), 700);
  EXPECT_EQ(with_loss("loss_spike", spike(0.1)), -1);
  EXPECT_EQ(with_loss("loss_spike", spike(-2)), -1) << "a fall is none";
  EXPECT_EQ(with_loss("loss_spike", [](int i, Draw& d) { return 2.3 + (i == 700 ? 0.01 : 0) + 1e-4 * d.gauss(); }), -1)
      << "a hundred deviations, but half a percent";
}

TEST(LossNotDecreasing, HoldsIfItStaysOrGrows) {
  const int flat = with_loss("loss_not_decreasing", [](int, Draw& d) { return 2.3 + 0.05 * d.gauss(); });
  EXPECT_GE(flat, 199);
  EXPECT_LT(flat, 400);
  const int growing = with_loss("loss_not_decreasing", [](int i, Draw& d) { return 1 + 1e-3 * i + 0.05 * d.gauss(); });
  EXPECT_GE(growing, 199);
  EXPECT_LT(growing, 300);
  EXPECT_EQ(
      with_loss("loss_not_decreasing", [](int i, Draw& d) { return 2.3 * std::exp(-i / 2000.0) + 0.02 * d.gauss(); }),
      -1);
  EXPECT_EQ(
      with_loss("loss_not_decreasing", [](int i, Draw& d) { return 2 * std::exp(-i / 50.0) + 0.1 + 0.02 * d.gauss(); }),
      -1)
      << "it has converged, within the last thousand steps";
  EXPECT_EQ(with_loss("loss_not_decreasing", [](int i, Draw& d) { return -1e-3 * i + 0.02 * d.gauss(); }), -1)
      << "below zero as well";
}

TEST(Fp16Overflow, HoldsBeforeItHappens) {
  EXPECT_EQ(with_fault("fp16_overflow", [](Step& s, Draw&) { s.tensor<float>("x", Kind::activation, {1, -40'000}); }),
            150);
  Expression expression = rule("fp16_overflow");
  EXPECT_FALSE(Step().tensor<float>("x", Kind::activation, {30'000}).holds(expression));
}

TEST(Rules, UseTheTriggersTensorsAndScalar) {
  EXPECT_EQ(*expression_of({.rule = "nonfinite", .tensors = "it's", .scalar = "train/loss"}),
            "nonfinite(\"it's\") > 0 or isnan(scalar('train/loss')) or isinf(scalar('train/loss'))");
  EXPECT_EQ(*expression_of({.rule = "nonfinite", .scalar = "mean"}),
            "nonfinite('.*') > 0 or isnan(scalar('mean')) or isinf(scalar('mean'))")
      << "a bare word that means something else";
  EXPECT_EQ(*expression_of({.when = "x > 1"}), "x > 1");
}

TEST(Rules, ReportErrorsOfATrigger) {
  EXPECT_EQ(expression_of({}).error().message(), "a trigger needs 'when' or 'rule'");
  EXPECT_EQ(expression_of({.rule = "dead_rellu"}).error().message(),
            "there is no rule 'dead_rellu'; did you mean 'dead_relu'?");
  EXPECT_THAT(expression_of({.rule = "xyz"}).error().message(),
              HasSubstr("there is no rule 'xyz'; there are nonfinite, exploding_gradient, vanishing_gradient"));
  EXPECT_EQ(expression_of({.rule = "dead_relu", .scalar = "x"}).error().message(),
            "the rule 'dead_relu' looks at no scalar; remove 'scalar' from its trigger");
  EXPECT_EQ(expression_of({.when = "1", .tensors = "x"}).error().message(),
            "'tensors' belongs to a rule; write the pattern into 'when'");
  EXPECT_EQ(expression_of({.when = "1", .scalar = "x"}).error().message(),
            "'scalar' belongs to a rule; write the name into 'when'");
  EXPECT_THAT(expression_of({.rule = "nonfinite", .tensors = "'\""}).error().message(),
              HasSubstr("both kinds of quotes"));
}

TEST(Rules, NeedTheirScalarsUnlessTheyLookAtTensorsToo) {
  EXPECT_FALSE(needs_scalars({.rule = "nonfinite"}));
  EXPECT_FALSE(needs_scalars({.rule = "nonfinite", .tensors = "gradient/.*"}));
  EXPECT_TRUE(needs_scalars({.rule = "nonfinite", .scalar = "train/loss"}));
  EXPECT_TRUE(needs_scalars({.rule = "loss_spike"}));
  EXPECT_TRUE(needs_scalars({.when = "nonfinite('.*') > 0 or isnan(loss)"}));
}

}  // namespace
}  // namespace sonde::policy
