// For the tests of this module: event files written piece by piece.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/temp_dir_testing.h"
#include "formats/tfevents.h"
#include "formats/tfrecord.h"
#include "formats/wire.h"
#include "sonde/log.h"

namespace sonde::index {

// Appends to a file; creates it and its directory if they are missing.
inline void append(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}
inline void overwrite(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline constexpr std::string_view kEvents = "events.out.tfevents.1700000000.host.1.0";
inline constexpr double kStart = 1.7e9;

inline std::string version(double time = kStart) {
  std::string file;
  tfevents::put_version_event(file, time);
  return file;
}
// A scalar as most writers write it, one second per step.
inline std::string scalar(std::string_view tag, std::int64_t step, double value, double time = 0) {
  std::string summary;
  std::string inner;
  wire::put_bytes(inner, 1, tag);
  inner += '\x15';
  base::put(inner, static_cast<float>(value));
  wire::put_bytes(summary, 1, inner);
  std::string file;
  tfevents::put_summary_event(file, time == 0 ? kStart + static_cast<double>(step) : time, step, summary);
  return file;
}
// SessionLog { status: START }
inline std::string session_start(std::int64_t step, double time) {
  std::string event;
  wire::put_double_unless_zero(event, 1, time);
  wire::put_integer_unless_zero(event, 2, step);
  wire::put_bytes(event, 7, std::string_view("\x08\x01"));
  std::string file;
  tfrecord::put_record(file, event);
  return file;
}

inline Log open(const std::string& directory, const LogOptions& options = {.cache = LogOptions::Cache::off}) {
  Result<Log> log = Log::open(directory, options);
  EXPECT_TRUE(log) << log.status().message();
  return *log;
}

inline std::vector<std::int64_t> steps_of(const Run& run, std::string_view tag, History history = History::newest) {
  const auto scalars = run.scalars(tag, {}, history);
  EXPECT_TRUE(scalars) << scalars.status().message();
  return scalars ? scalars->steps : std::vector<std::int64_t>();
}
inline std::vector<double> values_of(const Run& run, std::string_view tag, History history = History::newest) {
  const auto scalars = run.scalars(tag, {}, history);
  EXPECT_TRUE(scalars) << scalars.status().message();
  return scalars ? scalars->values : std::vector<double>();
}

}  // namespace sonde::index
