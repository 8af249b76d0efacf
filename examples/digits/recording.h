// What is recorded of the training: one class for each run. This is the part to read for how a program uses Sonde.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "digits/data.h"
#include "digits/network.h"
#include "sonde/sonde.h"

namespace digits {

// Tensors that stay where they are while their values change, each with its probe.
class Probes {
 public:
  Probes(sonde::Recorder& recorder, std::int64_t every) : recorder_(recorder), every_(every) {}

  // `inputs` are the tensors that this one is computed from: "weight/conv_1/kernel".
  void add(const std::string& name, sonde::Kind kind, std::vector<std::string> inputs, const Tensor& tensor);
  void record(const sonde::Step& step) const;

 private:
  struct Watched {
    sonde::Probe probe;
    const Tensor* tensor;
  };

  sonde::Recorder& recorder_;
  std::int64_t every_;
  std::vector<Watched> probes_;
};

// What the run "train" is watched for at every step. The flight ring keeps the last steps whole; when one of the rules
// comes true, the step and the five before it are saved as a capture.
sonde::Policy train_policy();

// The run "train": numbers of every step; activations, gradients, weights and updates of every twentieth. Each tensor
// says what it is computed from, so that a capture can tell who made the first NaN.
//
// A step is recorded as it continues, each part when it has been computed. What was lent is then long back when the
// next step computes it again, and no other memory has to be taken for it.
class TrainRun {
 public:
  TrainRun(sonde::Recorder& recorder, const Network& network);

  // Once, when the network has seen a first batch and its shapes are known.
  void describe(const std::string& note, const sonde::HParams& hparams);
  sonde::Step step(std::int64_t n) { return recorder_.step(n); }
  void forward(const sonde::Step& step, const Score& score);
  void backward(const sonde::Step& step);
  void learning(const sonde::Step& step, double rate);

 private:
  void add_forward();
  void add_backward();
  void add_learning();

  sonde::Recorder& recorder_;
  const Network& network_;
  sonde::Scalar loss_;
  sonde::Scalar accuracy_;
  sonde::Scalar learning_rate_;
  Probes forward_;
  Probes backward_;
  Probes learning_;
};

// The run "test", of passes over held-out digits. Its tags are those of "train" where the meaning is the same, so that
// TensorBoard draws both in one chart.
class TestRun {
 public:
  TestRun(sonde::Recorder& recorder, const Network& network, const Dataset& digits);

  void describe(const sonde::HParams& hparams);  // of the training that it tests
  void record(std::int64_t n, const Score& score);
  void draw_features(std::int64_t n);  // what the layers make of a digit
  void draw_errors(std::int64_t n);    // which digits were misread, and how sure the network was
  // A line on the console for each layer.
  void print(std::int64_t n);

 private:
  sonde::Recorder& recorder_;
  const Network& network_;
  const Dataset& digits_;
  Probes probes_;
};

}  // namespace digits
