// What the benchmark programs share. Each prints one line a result - name, value, unit, separated by tabs - which
// bench/run reads, and checks its own answers: a wrong one ends the program with exit code 1.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "sonde/recorder.h"

namespace bench {

inline void report(std::string_view name, double value, std::string_view unit) {
  std::printf("%.*s\t%.6g\t%.*s\n", static_cast<int>(name.size()), name.data(), value, static_cast<int>(unit.size()),
              unit.data());
  std::fflush(stdout);
}

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "wrong answer: %s\n", why.c_str());
  std::exit(1);
}
inline void check(bool right, const std::string& why) {
  if (!right) fail(why);
}

// ---- Time.

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Reads the finest clock there is, and keeps the processor from moving what is measured across it.
inline std::uint64_t ticks() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

inline double measure_nanoseconds_per_tick() {
  const double begin = seconds();
  const std::uint64_t first = ticks();
  while (seconds() - begin < 0.05) {
  }
  const std::uint64_t last = ticks();
  return (seconds() - begin) * 1e9 / static_cast<double>(last - first);
}

inline double nanoseconds(std::uint64_t tick_count) {
  static const double per_tick = measure_nanoseconds_per_tick();
  return static_cast<double>(tick_count) * per_tick;
}

inline void spin_for(std::uint64_t tick_count) {
  const std::uint64_t begin = ticks();
  while (ticks() - begin < tick_count) {
  }
}

// The value that a share of all values does not exceed.
inline double quantile(std::vector<double>& values, double share) {
  const auto at = std::min(values.size() - 1, static_cast<std::size_t>(static_cast<double>(values.size()) * share));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

// The mean of the middle half: near the median, but finer than the steps of the clock, which are 10 ns on some
// machines.
inline double median(std::vector<double>& values) {
  std::ranges::sort(values);
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 3 / 4 + 1);
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

// ---- The process.

// The CPU time of the backend thread, in seconds.
class BackendClock {
 public:
  BackendClock() {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream comm(task.path() / "comm");
      std::string name;
      std::getline(comm, name);
      // How the kernel names the clock of a thread of this process: its id inverted, then "per thread, scheduled time".
      if (name == "sonde") clock_ = static_cast<clockid_t>((~std::stoi(task.path().filename().string()) << 3) | 6);
    }
    check(clock_ != 0, "there is no backend thread");
  }
  double seconds() const {
    timespec now{};
    check(clock_gettime(clock_, &now) == 0, "the backend's CPU clock cannot be read");
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }

 private:
  clockid_t clock_ = 0;
};

// A field of /proc/self/status that is given in kB; in bytes.
inline double memory_status(std::string_view field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(field)) return std::stod(line.substr(field.size() + 1)) * 1024;
  }
  fail("/proc/self/status has no field " + std::string(field));
}

// ---- Logs.

// A new directory that is removed at the end, under TMPDIR.
class LogDirectory {
 public:
  LogDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde-bench-XXXXXX").string();
    check(mkdtemp(pattern.data()) != nullptr, "no temporary directory could be made");
    path_ = pattern;
  }
  ~LogDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  LogDirectory(const LogDirectory&) = delete;
  LogDirectory& operator=(const LogDirectory&) = delete;

  const std::string& path() const { return path_; }
  // The one file whose name begins so.
  std::filesystem::path file(std::string_view prefix) const {
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().filename().string().starts_with(prefix)) return entry.path();
    }
    fail("no file " + std::string(prefix) + "* was written");
  }

 private:
  std::string path_;
};

inline sonde::Recorder open(const LogDirectory& directory, const sonde::RecorderOptions& options = {}) {
  auto opened = sonde::Recorder::open(directory.path(), options);
  check(opened.ok(), opened.ok() ? "" : opened.error().message());
  return std::move(*opened);
}

// Everything arrived, nothing was dropped, rejected or lost because of the disk.
inline void check_complete(sonde::Recorder& recorder, std::uint64_t scalars, std::uint64_t tensors) {
  const sonde::Status flushed = recorder.flush();
  check(flushed.ok(), flushed.message());
  const sonde::Counters counters = recorder.counters();
  check(counters.dropped_scalars == 0 && counters.dropped_tensors == 0, "records were dropped");
  check(counters.rejected == 0 && counters.write_errors == 0, "records were rejected or not written");
  check(counters.scalars == scalars && counters.tensors == tensors, "the counts of records are wrong");
}

inline std::vector<float> normal_values(std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

}  // namespace bench
