// For the tests of captures and rings: steps as a ring holds them, and a run's directory for captures.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/temp_dir_testing.h"
#include "formats/flight.h"
#include "sonde/capture.h"
#include "tensor_files/capture_files.h"

namespace sonde::tensor_files {

inline const float kNan = std::nanf("");
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline flight::Tensor tensor(std::string name, const std::vector<float>& values, Kind kind = Kind::activation,
                             std::vector<std::string> inputs = {}) {
  flight::Tensor made;
  made.name = std::move(name);
  made.kind = kind;
  made.inputs = std::move(inputs);
  made.view = view(values);
  return made;
}

inline flight::Step step(std::int64_t number, std::vector<flight::Tensor> tensors) {
  flight::Step made;
  made.step = number;
  made.complete = true;
  made.wall_time = 1700000000.5;
  made.scalars = {{"loss", 0.5}};
  made.tensors = std::move(tensors);
  return made;
}

inline CaptureInfo info(std::string reason) {
  CaptureInfo made;
  made.reason = std::move(reason);
  made.step = 7;
  return made;
}

class Captures : public ::testing::Test {
 protected:
  std::string written(const std::string& reason, const std::vector<flight::Step>& steps) {
    const auto path = tensor_files::write_capture(dir_.path(), info(reason), tensor_files::each_of(steps));
    EXPECT_TRUE(path.ok()) << path.status().message();
    return path ? *path : "";
  }
  static Capture opened(const std::string& path) {
    auto capture = Capture::open(path);
    EXPECT_TRUE(capture.ok()) << capture.status().message();
    return *std::move(capture);
  }

  base::TempDir dir_;
  const std::vector<float> values_ = {1, 2, 3, 4, 5, 6};
  const std::vector<float> bad_values_ = {1, kNan, kInfinity, -kInfinity, kNan, 6};
};

}  // namespace sonde::tensor_files
