#include "digits/network.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace digits {
namespace {

constexpr std::size_t kSide = 3;  // of a convolution's kernel

// y += a * x
void add_scaled(float a, std::span<const float> x, std::span<float> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];
}

float dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0f);
}

// Uniform, with the variance 2 / fan_in that keeps activations in range through ReLUs. Written out, because the
// standard distributions give other numbers with each standard library.
void initialise(Tensor& weights, std::size_t fan_in, Random& random) {
  const float limit = std::sqrt(6.0f / static_cast<float>(fan_in));
  for (float& weight : weights.values) weight = limit * (static_cast<float>(random() >> 40) * 0x1p-23f - 1);
}

// For each pixel of the output calls begin(out), and then visit(out, in, cell) for each pixel of the input that the
// kernel covers there, and the kernel's cell that is over it.
template <class Begin, class Visit>
void for_each_covered_pixel(const Shape& images, Begin begin, Visit visit) {
  const std::size_t height = images[1], width = images[2];
  for (std::size_t n = 0; n < images[0]; ++n) {
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t out = (n * height + y) * width + x;
        begin(out);
        for (std::size_t cell = 0; cell < kSide * kSide; ++cell) {
          const std::size_t in_y = y + cell / kSide - 1, in_x = x + cell % kSide - 1;  // -1 wraps to beyond the edge
          if (in_y < height && in_x < width) visit(out, (n * height + in_y) * width + in_x, cell);
        }
      }
    }
  }
}

}  // namespace

Convolution::Convolution(std::string layer_name, std::size_t channels, std::size_t filters, Random& random)
    : Layer(std::move(layer_name), "Conv2D") {
  parameters.emplace_back(name + "/kernel", Shape{kSide, kSide, channels, filters});
  parameters.emplace_back(name + "/bias", Shape{filters});
  initialise(parameters[0].value, kSide * kSide * channels, random);
}

void Convolution::forward(const Tensor& input) {
  const Tensor &kernel = parameters[0].value, &bias = parameters[1].value;
  const std::size_t channels = input.shape[3];
  output.reshape({input.shape[0], input.shape[1], input.shape[2], bias.size()});
  const auto begin = [&](std::size_t out) { std::ranges::copy(bias.values, row(output, out).begin()); };
  for_each_covered_pixel(input.shape, begin, [&](std::size_t out, std::size_t in, std::size_t cell) {
    for (std::size_t c = 0; c < channels; ++c) {
      add_scaled(input.values[in * channels + c], row(kernel, cell * channels + c), row(output, out));
    }
  });
}

void Convolution::backward(const Tensor& input, Tensor& input_gradient) {
  const Tensor& kernel = parameters[0].value;
  Tensor &kernel_gradient = parameters[0].gradient, &bias_gradient = parameters[1].gradient;
  const std::size_t channels = input.shape[3];
  input_gradient.clear(input.shape);
  const auto begin = [&](std::size_t out) { add_scaled(1, row(gradient, out), bias_gradient.values); };
  for_each_covered_pixel(input.shape, begin, [&](std::size_t out, std::size_t in, std::size_t cell) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t weights = cell * channels + c;
      add_scaled(input.values[in * channels + c], row(gradient, out), row(kernel_gradient, weights));
      input_gradient.values[in * channels + c] += dot(row(kernel, weights), row(gradient, out));
    }
  });
}

void Brighten::forward(const Tensor& input) {
  output.reshape(input.shape);
  const std::size_t pixels = input.size() / input.shape[0];
  for (std::size_t begin = 0; begin < input.size(); begin += pixels) {
    const auto image = std::span(input.values).subspan(begin, pixels);
    const float brightest = std::ranges::max(image);
    for (std::size_t i = 0; i < pixels; ++i) output.values[begin + i] = image[i] / brightest;
  }
}

void Brighten::backward(const Tensor& input, Tensor& input_gradient) {
  input_gradient.clear(input.shape);
  const std::size_t pixels = input.size() / input.shape[0];
  for (std::size_t begin = 0; begin < input.size(); begin += pixels) {
    const auto image = std::span(input.values).subspan(begin, pixels);
    const auto back = std::span(gradient.values).subspan(begin, pixels);
    const auto into = std::span(input_gradient.values).subspan(begin, pixels);
    const auto brightest = std::ranges::max_element(image);
    add_scaled(1 / *brightest, back, into);
    // All pixels get darker as the brightest one gets brighter.
    into[static_cast<std::size_t>(brightest - image.begin())] -= dot(image, back) / (*brightest * *brightest);
  }
}

void MaxPool::forward(const Tensor& input) {
  const std::size_t height = input.shape[1] / 2, width = input.shape[2] / 2, channels = input.shape[3];
  output.reshape({input.shape[0], height, width, channels});
  largest_.resize(output.size());
  for (std::size_t i = 0; i < output.size(); ++i) {
    const std::size_t c = i % channels, x = i / channels % width, y = i / channels / width;  // y counts on over images
    const std::size_t corner = (2 * y * input.shape[2] + 2 * x) * channels + c;
    const std::size_t below = corner + input.shape[2] * channels;
    largest_[i] = std::max({corner, corner + channels, below, below + channels},
                           [&](std::size_t a, std::size_t b) { return input.values[a] < input.values[b]; });
    output.values[i] = input.values[largest_[i]];
  }
}

void MaxPool::backward(const Tensor& input, Tensor& input_gradient) {
  input_gradient.clear(input.shape);
  for (std::size_t i = 0; i < gradient.size(); ++i) input_gradient.values[largest_[i]] += gradient.values[i];
}

Dense::Dense(std::string layer_name, std::size_t inputs, std::size_t outputs, Random& random)
    : Layer(std::move(layer_name), "MatMul") {
  parameters.emplace_back(name + "/kernel", Shape{inputs, outputs});
  parameters.emplace_back(name + "/bias", Shape{outputs});
  initialise(parameters[0].value, inputs, random);
}

void Dense::forward(const Tensor& input) {
  const Tensor &kernel = parameters[0].value, &bias = parameters[1].value;
  const std::size_t count = input.shape[0], inputs = kernel.shape[0];
  output.reshape({count, bias.size()});
  for (std::size_t n = 0; n < count; ++n) {
    std::ranges::copy(bias.values, row(output, n).begin());
    for (std::size_t i = 0; i < inputs; ++i) add_scaled(input.values[n * inputs + i], row(kernel, i), row(output, n));
  }
}

void Dense::backward(const Tensor& input, Tensor& input_gradient) {
  const Tensor& kernel = parameters[0].value;
  Tensor &kernel_gradient = parameters[0].gradient, &bias_gradient = parameters[1].gradient;
  const std::size_t count = input.shape[0], inputs = kernel.shape[0];
  input_gradient.reshape(input.shape);
  for (std::size_t n = 0; n < count; ++n) {
    add_scaled(1, row(gradient, n), bias_gradient.values);
    for (std::size_t i = 0; i < inputs; ++i) {
      add_scaled(input.values[n * inputs + i], row(gradient, n), row(kernel_gradient, i));
      input_gradient.values[n * inputs + i] = dot(row(kernel, i), row(gradient, n));
    }
  }
}

void Relu::forward(const Tensor& input) {
  output.reshape(input.shape);
  for (std::size_t i = 0; i < input.size(); ++i) output.values[i] = std::max(input.values[i], 0.0f);
}

void Relu::backward(const Tensor& input, Tensor& input_gradient) {
  input_gradient.reshape(input.shape);
  for (std::size_t i = 0; i < input.size(); ++i) {
    input_gradient.values[i] = input.values[i] > 0 ? gradient.values[i] : 0;
  }
}

Score softmax_cross_entropy(const Tensor& logits, std::span<const std::uint8_t> labels, Tensor& probabilities,
                            Tensor& gradient) {
  const std::size_t count = logits.shape[0];
  const float share = 1 / static_cast<float>(count);
  probabilities.reshape(logits.shape);
  gradient.reshape(logits.shape);
  double loss = 0, right = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const auto x = row(logits, n);
    const auto p = row(probabilities, n);
    const auto greatest = std::ranges::max_element(x);  // subtracted, so that no exponential overflows
    double sum = 0;
    for (float value : x) sum += std::exp(double{value} - *greatest);
    for (std::size_t k = 0; k < x.size(); ++k) p[k] = static_cast<float>(std::exp(double{x[k]} - *greatest) / sum);
    loss += std::log(sum) - (double{x[labels[n]]} - *greatest);
    right += greatest - x.begin() == labels[n];
    for (std::size_t k = 0; k < x.size(); ++k) row(gradient, n)[k] = share * (p[k] - (k == labels[n] ? 1.0f : 0.0f));
  }
  return {.loss = loss / static_cast<double>(count), .accuracy = right / static_cast<double>(count)};
}

Labels largest(const Tensor& rows) {
  Labels result(rows.shape[0]);
  for (std::size_t n = 0; n < result.size(); ++n) {
    const auto values = row(rows, n);
    result[n] = static_cast<std::uint8_t>(std::ranges::max_element(values) - values.begin());
  }
  return result;
}

Layers digit_layers(std::uint64_t seed) {
  Random random(seed);
  Layers layers;
  layers.push_back(std::make_unique<Convolution>("conv_1", 1, 16, random));
  layers.push_back(std::make_unique<Relu>("relu_1"));
  layers.push_back(std::make_unique<MaxPool>("pool_1"));
  layers.push_back(std::make_unique<Dense>("dense_1", 4 * 4 * 16, 64, random));
  layers.push_back(std::make_unique<Relu>("relu_2"));
  layers.push_back(std::make_unique<Dense>("dense_2", 64, 10, random));
  return layers;
}

Score Network::forward(const Tensor& images, std::span<const std::uint8_t> labels) {
  input_ = images;
  const Tensor* values = &input_;
  for (const auto& layer : layers_) {
    layer->forward(*values);
    values = &layer->output;
  }
  return softmax_cross_entropy(*values, labels, probabilities_, layers_.back()->gradient);
}

void Network::backward() {
  for (const auto& layer : layers_) {
    for (Parameter& p : layer->parameters) p.gradient.values.assign(p.value.size(), 0.0f);
  }
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Tensor& input = i > 0 ? layers_[i - 1]->output : input_;
    Tensor& input_gradient = i > 0 ? layers_[i - 1]->gradient : input_gradient_;
    layers_[i]->backward(input, input_gradient);
  }
}

void Network::learn(double rate) {
  constexpr double kMeanDecay = 0.9, kSquareDecay = 0.999, kEpsilon = 1e-8;
  ++steps_learned_;
  // The averages begin at zero; this undoes their bias towards it.
  const auto steps = static_cast<double>(steps_learned_);
  const double mean_scale = 1 / (1 - std::pow(kMeanDecay, steps));
  const double square_scale = 1 / (1 - std::pow(kSquareDecay, steps));
  for (const auto& layer : layers_) {
    for (Parameter& p : layer->parameters) {
      p.update.values.renew(p.value.size());
      const std::span<const float> before = p.value.values.advance();
      for (std::size_t i = 0; i < p.value.size(); ++i) {
        const double g = p.gradient.values[i];
        const double mean = kMeanDecay * p.mean.values[i] + (1 - kMeanDecay) * g;
        const double square = kSquareDecay * p.square.values[i] + (1 - kSquareDecay) * g * g;
        p.mean.values[i] = static_cast<float>(mean);
        p.square.values[i] = static_cast<float>(square);
        p.update.values[i] =
            static_cast<float>(-rate * layer->rate * mean * mean_scale / (std::sqrt(square * square_scale) + kEpsilon));
        p.value.values[i] = before[i] + p.update.values[i];
      }
    }
  }
}

std::size_t Network::parameter_count() const {
  std::size_t count = 0;
  for (const auto& layer : layers_) {
    for (const Parameter& parameter : layer->parameters) count += parameter.value.size();
  }
  return count;
}

}  // namespace digits
