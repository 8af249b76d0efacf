// For the tests of this module: recorders, tensors to record, and errors.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "record/log_testing.h"
#include "sonde/recorder.h"

namespace sonde::record {

inline std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

inline Recorder open(const std::string& directory, const RecorderOptions& options = {}) {
  auto opened = Recorder::open(directory, options);
  EXPECT_TRUE(opened.ok()) << opened.error().message();
  return std::move(*opened);
}

// Errors as the handler gets them.
struct Errors {
  std::mutex mutex;
  std::vector<std::string> messages;
  ErrorHandler handler() {
    return [this](const Status& status) {
      const std::scoped_lock lock(mutex);
      messages.push_back(status.message());
    };
  }
};

// Polls until the condition is true, for at most 30 seconds.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace sonde::record
