// For tests: steps as a program would record them, and the origin found in them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/tensor_tags.h"
#include "sonde/capture.h"

namespace sonde::origin_testing {

enum Value : std::uint8_t { kFinite, kNan, kInfinite, kMinusInfinite };

inline CapturedTensor tensor(std::string_view tag, Value value, std::vector<std::string> inputs = {}) {
  const auto tagged = tags::tensor_of(tag);
  EXPECT_TRUE(tagged.has_value()) << tag;
  CapturedTensor made;
  made.key = tag;
  made.name = tagged->id.name;
  made.kind = tagged->id.kind;
  made.occurrence = tagged->id.occurrence;
  made.inputs = std::move(inputs);
  made.shape = {4};
  made.count = 4;
  made.nan = value == kNan ? 1 : 0;
  made.positive_infinity = value == kInfinite ? 2 : 0;
  made.negative_infinity = value == kMinusInfinite ? 3 : 0;
  return made;
}

inline CapturedStep step(std::int64_t number, std::vector<CapturedTensor> tensors) {
  CapturedStep made;
  made.step = number;
  made.tensors = std::move(tensors);
  return made;
}

inline CaptureInfo capture(std::vector<CapturedStep> steps) {
  CaptureInfo made;
  made.steps = std::move(steps);
  return made;
}

// Adds a finite step before it, so that the first non-finite step is not the first of the capture.
inline CaptureInfo after_a_healthy_step(std::vector<CapturedTensor> tensors) {
  std::vector<CapturedTensor> healthy = tensors;
  for (CapturedTensor& one : healthy) one.nan = one.positive_infinity = one.negative_infinity = 0;
  return capture({step(6, std::move(healthy)), step(7, std::move(tensors))});
}

inline std::vector<std::string> certain(const Origin& origin) {
  std::vector<std::string> keys;
  for (const Origin::Place& place : origin.producers) {
    if (place.unseen.empty()) keys.push_back(place.key);
  }
  return keys;
}
inline std::vector<std::string> unclear(const Origin& origin) {
  std::vector<std::string> keys;
  for (const Origin::Place& place : origin.producers) {
    if (!place.unseen.empty()) keys.push_back(place.key);
  }
  return keys;
}

inline CapturedStep evaluation(std::int64_t number, std::vector<CapturedTensor> tensors) {
  CapturedStep made = step(number, std::move(tensors));
  made.evaluation = true;
  for (CapturedTensor& one : made.tensors) one.key = "eval/" + one.key;
  return made;
}

}  // namespace sonde::origin_testing
