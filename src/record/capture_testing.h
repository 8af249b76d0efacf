// For the tests of captures: a small network to record, and its captures.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "record/recorder_testing.h"
#include "sonde/capture.h"
#include "sonde/recorder.h"

namespace sonde::record {

inline Policy triggered(TriggerPolicy trigger) {
  Policy policy = {.triggers = {std::move(trigger)}};
  policy.flight.bytes = 1 << 20;
  return policy;
}

// A network of two layers whose second one breaks at a step.
inline void train(Recorder& rec, std::int64_t first, std::int64_t last, std::int64_t breaks_at) {
  const Probe in = rec.probe("in", {.kind = Kind::input});
  const Probe one = rec.probe("one", {.inputs = {"in"}});
  const Probe two = rec.probe("two", {.inputs = {"one"}});
  const Probe three = rec.probe("three", {.inputs = {"two"}});
  for (std::int64_t n = first; n <= last; ++n) {
    auto step = rec.step(n);
    std::vector<float> values(64, static_cast<float>(n));
    in.record(step, view(values, {8, 8}));
    one.record(step, view(values, {8, 8}));
    if (n >= breaks_at) values[3] = std::numeric_limits<float>::quiet_NaN();
    two.record(step, view(values, {8, 8}));
    three.record(step, view(values, {8, 8}));
    rec.scalar("loss", n >= breaks_at ? std::numeric_limits<float>::quiet_NaN() : 1.0 / static_cast<double>(n + 1), n);
  }
}

inline std::vector<Capture> captures_of(const std::string& directory) {
  const auto paths = list_captures(directory);
  EXPECT_TRUE(paths) << paths.error().message();
  std::vector<Capture> captures;
  for (const std::string& path : *paths) {
    auto capture = Capture::open(path);
    EXPECT_TRUE(capture) << capture.error().message();
    captures.push_back(std::move(*capture));
  }
  return captures;
}

inline std::vector<std::int64_t> steps_of(const Capture& capture) {
  std::vector<std::int64_t> steps;
  for (const CapturedStep& step : capture.steps()) steps.push_back(step.step);
  return steps;
}

inline Policy flying() {
  Policy policy;
  policy.flight.use = FlightPolicy::Use::on;
  policy.flight.bytes = 256 << 10;
  return policy;
}

}  // namespace sonde::record
