// The task of these examples: a small network learns the handwritten digits of ../digits. All of it is plain C++ that
// knows nothing of Sonde, except `view`, which says to Sonde where a tensor's numbers are.
#pragma once

#include <sonde/sonde.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "digits/data.h"
#include "digits/network.h"

namespace seeds {

using digits::Batches;
using digits::Dataset;
using digits::Network;
using digits::Score;
using digits::Tensor;

inline sonde::TensorView view(const Tensor& tensor) {
  sonde::Shape shape;
  for (const std::size_t size : tensor.shape) shape.push_back(static_cast<std::int64_t>(size));
  return sonde::view(tensor.values, shape);
}

// [n,8,8,1] -> dense_1 -> relu_1 -> dense_2 -> relu_2 -> dense_3 -> ten logits.
inline Network dense_network(std::size_t first, std::size_t second) {
  digits::Random random(7);
  digits::Layers layers;
  layers.push_back(std::make_unique<digits::Dense>("dense_1", 64, first, random));
  layers.push_back(std::make_unique<digits::Relu>("relu_1"));
  layers.push_back(std::make_unique<digits::Dense>("dense_2", first, second, random));
  layers.push_back(std::make_unique<digits::Relu>("relu_2"));
  layers.push_back(std::make_unique<digits::Dense>("dense_3", second, 10, random));
  return Network(std::move(layers));
}

inline const digits::Layer& layer(const Network& network, std::string_view name) {
  for (const auto& each : network.layers()) {
    if (each->name == name) return *each;
  }
  std::cerr << "there is no layer " << name << '\n';
  std::exit(1);
}

// One step of training.
inline Score train(Network& network, const Dataset& batch) {
  const Score score = network.forward(batch.images, batch.labels);
  network.backward();
  network.learn(0.003);
  return score;
}

// The first argument of the program is where it writes.
inline std::string directory(int count, char** arguments, const char* otherwise) {
  return count > 1 ? arguments[1] : otherwise;
}

// A recorder, or the end of the program with the reason.
inline sonde::Recorder open(const std::string& directory, const sonde::RecorderOptions& options = {}) {
  auto opened = sonde::Recorder::open(directory, options);
  if (!opened) {
    std::cerr << opened.error().message() << '\n';
    std::exit(1);
  }
  return *std::move(opened);
}

// A policy in TOML, or the end of the program with the place of the mistake.
inline sonde::Policy policy(std::string_view toml) {
  auto parsed = sonde::Policy::parse(toml);
  if (!parsed) {
    std::cerr << parsed.error().message() << '\n';
    std::exit(1);
  }
  return *std::move(parsed);
}

}  // namespace seeds
