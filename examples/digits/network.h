// A convolutional network in plain C++: small enough to read in one sitting, real enough to learn handwritten digits.
//
//   input -> conv_1 -> relu_1 -> pool_1 -> dense_1 -> relu_2 -> dense_2 -> softmax cross-entropy
//
// Every layer keeps what it computed, and the gradient that came back, until the next pass: that is what the training
// in train.cc records.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "digits/tensor.h"

namespace digits {

using Random = std::mt19937_64;
using Labels = std::vector<std::uint8_t>;

// Something that a layer learns. `gradient` is that of the loss, `update` what the optimiser added last.
struct Parameter {
  Parameter(std::string full_name, const Shape& shape)
      : name(std::move(full_name)), value(shape), gradient(shape), update(shape), mean(shape), square(shape) {}

  std::string name;  // "conv_1/kernel"
  Tensor value;
  Tensor gradient;
  Tensor update;
  Tensor mean;  // running averages of the gradient and of its square, for Adam
  Tensor square;
};

class Layer {
 public:
  Layer(std::string layer_name, std::string layer_op) : name(std::move(layer_name)), op(std::move(layer_op)) {}
  virtual ~Layer() = default;

  // Computes `output`.
  virtual void forward(const Tensor& input) = 0;
  // From `gradient`, that of the loss with respect to `output`, computes `input_gradient` and adds to the gradients of
  // the parameters. `input` is the tensor that forward saw.
  virtual void backward(const Tensor& input, Tensor& input_gradient) = 0;

  const std::string name;  // "conv_1"
  const std::string op;    // "Conv2D", as graphs call it
  std::vector<Parameter> parameters;
  double rate = 1;  // it learns so many times as fast as the network
  Tensor output;
  Tensor gradient;
};

// Divides every image by its brightest pixel, so that faint ones look like all others: [n,...] -> [n,...]. Of an image
// that is black all over this makes 0 / 0, which is why programs that are meant to last add a small number below the
// line. This one does not: `sonde demo --fault nan` lives on it.
class Brighten final : public Layer {
 public:
  explicit Brighten(std::string layer_name) : Layer(std::move(layer_name), "Div") {}
  void forward(const Tensor& input) override;
  void backward(const Tensor& input, Tensor& input_gradient) override;
};

// 3x3, stride 1, zero padding: [n,h,w,c] -> [n,h,w,filters].
class Convolution final : public Layer {
 public:
  Convolution(std::string layer_name, std::size_t channels, std::size_t filters, Random& random);
  void forward(const Tensor& input) override;
  void backward(const Tensor& input, Tensor& input_gradient) override;
};

// The largest of each 2x2 pixels: [n,h,w,c] -> [n,h/2,w/2,c].
class MaxPool final : public Layer {
 public:
  explicit MaxPool(std::string layer_name) : Layer(std::move(layer_name), "MaxPool") {}
  void forward(const Tensor& input) override;
  void backward(const Tensor& input, Tensor& input_gradient) override;

 private:
  std::vector<std::size_t> largest_;  // for each output, where it is in the input
};

// [n,...] -> [n,outputs].
class Dense final : public Layer {
 public:
  Dense(std::string layer_name, std::size_t inputs, std::size_t outputs, Random& random);
  void forward(const Tensor& input) override;
  void backward(const Tensor& input, Tensor& input_gradient) override;
};

class Relu final : public Layer {
 public:
  explicit Relu(std::string layer_name) : Layer(std::move(layer_name), "Relu") {}
  void forward(const Tensor& input) override;
  void backward(const Tensor& input, Tensor& input_gradient) override;
};

// How well a batch was read. `loss` is the mean cross-entropy in nats, `accuracy` the share that is right.
struct Score {
  double loss = 0;
  double accuracy = 0;
};

// Writes the probabilities, and the gradient of the loss with respect to the logits.
Score softmax_cross_entropy(const Tensor& logits, std::span<const std::uint8_t> labels, Tensor& probabilities,
                            Tensor& gradient);

// The digit with the greatest value in each row.
Labels largest(const Tensor& rows);

using Layers = std::vector<std::unique_ptr<Layer>>;

// Those above, for 8x8 grey images of ten classes. The same seed gives the same weights.
Layers digit_layers(std::uint64_t seed);

class Network {
 public:
  explicit Network(std::uint64_t seed) : Network(digit_layers(seed)) {}
  // The last layer gives the logits.
  explicit Network(Layers layers) : layers_(std::move(layers)) {}

  // Reads the images, [n,8,8,1] in 0..1, and compares with what they are.
  Score forward(const Tensor& images, std::span<const std::uint8_t> labels);
  // After forward: the gradients of everything, from the loss down to the pixels.
  void backward();
  // After backward: one step of Adam.
  void learn(double rate);

  const Layers& layers() const { return layers_; }
  const Tensor& input() const { return input_; }
  const Tensor& input_gradient() const { return input_gradient_; }
  const Tensor& probabilities() const { return probabilities_; }
  std::size_t parameter_count() const;

 private:
  Tensor input_;
  Tensor input_gradient_;
  Layers layers_;
  Tensor probabilities_;
  std::int64_t steps_learned_ = 0;
};

}  // namespace digits
