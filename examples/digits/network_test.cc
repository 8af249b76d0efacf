#include "digits/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "digits/data.h"

namespace digits {
namespace {

Tensor random_tensor(const Shape& shape, Random& random) {
  Tensor tensor(shape);
  for (float& value : tensor.values) value = static_cast<float>(random() >> 40) * 0x1p-23f - 1;  // -1..1
  return tensor;
}

double product(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double{a.values[i]} * b.values[i];
  return sum;
}

// Compares a gradient with central differences of `loss`, which depends on `values`.
void expect_gradient(Tensor& values, const Tensor& gradient, float step, double tolerance,
                     const std::function<double()>& loss) {
  ASSERT_EQ(gradient.shape, values.shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = values.values[i];
    values.values[i] = value + step;
    const double above = loss();
    values.values[i] = value - step;
    const double below = loss();
    values.values[i] = value;
    ASSERT_NEAR(gradient.values[i], (above - below) / (2 * double{step}), tolerance) << "element " << i;
  }
}

// All gradients of a layer that is linear, or piecewise linear with no corner within `step`: differences are exact
// then, except for rounding.
void expect_layer_gradients(Layer& layer, Tensor input, float step, Random& random) {
  layer.forward(input);
  const Tensor weights = random_tensor(layer.output.shape, random);
  const auto loss = [&] {
    layer.forward(input);
    return product(layer.output, weights);
  };
  layer.gradient = weights;
  Tensor input_gradient(input.shape);
  layer.backward(input, input_gradient);
  expect_gradient(input, input_gradient, step, 1e-4, loss);
  for (Parameter& parameter : layer.parameters) {
    SCOPED_TRACE(parameter.name);
    expect_gradient(parameter.value, parameter.gradient, step, 1e-4, loss);
  }
}

TEST(Convolution, HasTheGradientsOfFiniteDifferences) {
  Random random(1);
  Convolution layer("conv", 3, 5, random);
  expect_layer_gradients(layer, random_tensor({2, 4, 6, 3}, random), 0.5f, random);
}

TEST(Convolution, OfAKernelWithOneInTheMiddleKeepsTheImage) {
  Random random(1);
  Convolution layer("conv", 1, 1, random);
  std::ranges::fill(layer.parameters[0].value.values, 0.0f);
  layer.parameters[0].value.values[4] = 1;
  const Tensor image = random_tensor({1, 8, 8, 1}, random);
  layer.forward(image);
  EXPECT_EQ(layer.output.values, image.values);
}

TEST(Dense, HasTheGradientsOfFiniteDifferences) {
  Random random(2);
  Dense layer("dense", 12, 7, random);
  expect_layer_gradients(layer, random_tensor({3, 2, 2, 3}, random), 0.5f, random);
}

TEST(Relu, HasTheGradientsOfFiniteDifferences) {
  Random random(3);
  Relu layer("relu");
  Tensor input = random_tensor({4, 9}, random);
  for (float& value : input.values) value += std::copysign(0.1f, value);  // away from the corner at zero
  expect_layer_gradients(layer, input, 0.05f, random);
}

TEST(Brighten, HasTheGradientsOfFiniteDifferences) {
  Random random(8);
  Brighten layer("brighten");
  Tensor input = random_tensor({3, 4, 4, 1}, random);
  for (std::size_t n = 0; n < 3; ++n) input.values[16 * n + 5] = 2;  // the brightest of each, by far
  expect_layer_gradients(layer, input, 0.01f, random);
}

TEST(Brighten, MakesNaNOfAnImageThatIsBlackAndOfNoOther) {
  Brighten layer("brighten");
  Tensor input({2, 1, 2, 1});
  input.values = {0, 0, 0.25f, 0.5f};
  layer.forward(input);
  EXPECT_TRUE(std::isnan(layer.output.values[0]));
  EXPECT_TRUE(std::isnan(layer.output.values[1]));
  EXPECT_EQ(layer.output.values[2], 0.5f);
  EXPECT_EQ(layer.output.values[3], 1);
}

TEST(MaxPool, HasTheGradientsOfFiniteDifferences) {
  Random random(4);
  MaxPool layer("pool");
  Tensor input({2, 4, 6, 3});
  for (std::size_t i = 0; i < input.size(); ++i) {
    input.values[i] = 0.1f * static_cast<float>(i * 37 % input.size());  // all different
  }
  expect_layer_gradients(layer, input, 0.02f, random);
}

TEST(SoftmaxCrossEntropy, HasTheGradientOfFiniteDifferences) {
  Random random(5);
  Tensor logits = random_tensor({6, 10}, random);
  const Labels labels{0, 9, 3, 3, 7, 1};
  Tensor probabilities, gradient, unused;
  softmax_cross_entropy(logits, labels, probabilities, gradient);
  expect_gradient(logits, gradient, 0.01f, 1e-5,
                  [&] { return softmax_cross_entropy(logits, labels, probabilities, unused).loss; });
}

TEST(SoftmaxCrossEntropy, StaysFiniteForHugeLogits) {
  Tensor logits({1, 3}), probabilities, gradient;
  logits.values = {1e4f, -1e4f, 0};
  const Score score = softmax_cross_entropy(logits, Labels{1}, probabilities, gradient);
  EXPECT_DOUBLE_EQ(score.loss, 2e4);
  EXPECT_EQ(score.accuracy, 0);
  EXPECT_EQ(probabilities.values, (Values{1, 0, 0}));
}

// Noise for images and biases: exact zeros would be at the corners of ReLU and MaxPool.
TEST(Network, HasTheGradientsOfFiniteDifferencesFromLossToPixels) {
  Random random(6);
  Network network(6);
  for (const auto& layer : network.layers()) {
    if (!layer->parameters.empty())
      layer->parameters[1].value = random_tensor(layer->parameters[1].value.shape, random);
  }
  Tensor images = random_tensor({8, 8, 8, 1}, random);
  const Labels labels{3, 1, 4, 1, 5, 9, 2, 6};
  network.forward(images, labels);
  network.backward();

  // Along the gradient the loss changes most, so that rounding matters least.
  const auto expect_slope = [&](Tensor& values, const Tensor& gradient) {
    const Tensor before = values;
    const double length = std::sqrt(product(gradient, gradient));
    const auto loss_at = [&](double distance) {
      for (std::size_t i = 0; i < before.size(); ++i) {
        values.values[i] = static_cast<float>(before.values[i] + distance * gradient.values[i] / length);
      }
      return network.forward(images, labels).loss;
    };
    EXPECT_NEAR((loss_at(1e-3) - loss_at(-1e-3)) / 2e-3, length, 0.01 * length);
    values = before;
  };
  for (const auto& layer : network.layers()) {
    for (Parameter& parameter : layer->parameters) {
      SCOPED_TRACE(parameter.name);
      expect_slope(parameter.value, parameter.gradient);
    }
  }
  expect_slope(images, network.input_gradient());
}

TEST(Network, MovesEveryWeightByTheRateInItsFirstStep) {  // as Adam does, whatever the size of the gradient
  const Dataset digits = Batches(load().train, 32, 1).next();
  Network network(7);
  network.forward(digits.images, digits.labels);
  network.backward();
  const Parameter& kernel = network.layers().back()->parameters[0];
  const Tensor before = kernel.value;
  network.learn(0.01);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float gradient = kernel.gradient.values[i];
    const double expected = std::abs(gradient) > 1e-5f ? -std::copysign(0.01, gradient) : kernel.update.values[i];
    EXPECT_NEAR(kernel.update.values[i], expected, 1e-5);
    EXPECT_EQ(kernel.value.values[i], before.values[i] + kernel.update.values[i]);
  }
}

TEST(Network, LetsALayerLearnFasterThanTheOthers) {
  const Dataset digits = Batches(load().train, 32, 1).next();
  const auto first_update = [&](double rate) {
    Network network(7);
    network.layers().back()->rate = rate;
    network.forward(digits.images, digits.labels);
    network.backward();
    network.learn(0.01);
    return std::pair(network.layers().front()->parameters[0].update, network.layers().back()->parameters[0].update);
  };
  const auto [first, last] = first_update(1);
  const auto [first_beside, last_faster] = first_update(3);
  EXPECT_EQ(first_beside.values, first.values);
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_FLOAT_EQ(last_faster.values[i], 3 * last.values[i]);
}

struct Trained {
  Score batch;  // the last one
  Score test;
};
Trained train_for(int steps, std::uint64_t seed) {
  const Split digits = load();
  Network network(seed);
  Batches batches(digits.train, 32, seed);
  Score batch;
  for (int i = 0; i < steps; ++i) {
    const Dataset& next = batches.next();
    batch = network.forward(next.images, next.labels);
    network.backward();
    network.learn(2e-3);
  }
  return {batch, network.forward(digits.test.images, digits.test.labels)};
}

TEST(Network, ReadsHeldOutDigitsAfterALittleTraining) {
  EXPECT_LT(train_for(0, 1).test.accuracy, 0.3);
  EXPECT_GT(train_for(300, 1).test.accuracy, 0.95);
}

TEST(Network, DoesNotWriteToLentTensors) {
  const Split data = load();
  Network network(1);
  const auto pass = [&] {
    network.forward(data.test.images, data.test.labels);
    network.backward();
    network.learn(1e-3);
  };
  pass();
  std::vector<std::pair<const Tensor*, std::shared_ptr<const void>>> lent;
  for (const auto& layer : network.layers()) {
    for (const Tensor* tensor : {&layer->output, &layer->gradient}) lent.emplace_back(tensor, tensor->values.lend());
    for (const Parameter& p : layer->parameters) {
      for (const Tensor* tensor : {&p.gradient, &p.update, &p.value}) lent.emplace_back(tensor, tensor->values.lend());
    }
  }
  std::vector<Values> before;
  std::vector<const float*> places;
  for (const auto& [tensor, memory] : lent) {
    before.push_back(tensor->values);
    places.push_back(tensor->values.data());
  }
  pass();
  pass();
  for (std::size_t i = 0; i < lent.size(); ++i) {
    EXPECT_NE(lent[i].first->values.data(), places[i]);
    EXPECT_TRUE(std::ranges::equal(before[i], std::span(places[i], before[i].size())));
  }
}

TEST(Network, LearnsTheSameFromTheSameSeed) {
  const Trained once = train_for(20, 1), again = train_for(20, 1), other = train_for(20, 2);
  EXPECT_EQ(once.batch.loss, again.batch.loss);
  EXPECT_EQ(once.test.loss, again.test.loss);
  EXPECT_NE(once.test.loss, other.test.loss);
}

}  // namespace
}  // namespace digits
