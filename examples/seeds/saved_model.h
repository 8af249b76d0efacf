// What the programs about saved models share: the models that make_models.py has trained, and digits for them.
#pragma once

#include <sonde/model.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "seeds/task.h"

namespace seeds {

inline int failed(const sonde::Status& status) {
  std::cerr << status.message() << '\n';
  return 1;
}

// models/NAME.onnx beside these sources, or the end of the program with the reason.
inline sonde::Model open_model(const std::string& name) {
  auto opened = sonde::Model::open(SEEDS_FOLDER "/models/" + name + ".onnx");
  if (!opened) std::exit(failed(opened.error()));
  return *std::move(opened);
}

// The first of the held-out digits, [n,8,8,1].
inline Tensor held_out_digits(std::size_t count) {
  std::vector<std::size_t> first(count);
  std::iota(first.begin(), first.end(), 0);
  return digits::pick(digits::load().test, first).images;
}

inline Tensor noisy_digits(std::size_t count) {
  Tensor images = held_out_digits(count);
  digits::Random random(3);
  std::normal_distribution<float> noise(0, 0.3F);
  for (float& value : images.values) value = std::clamp(value + noise(random), 0.0F, 1.0F);
  return images;
}

}  // namespace seeds
