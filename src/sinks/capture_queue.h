// Writes captures on a thread of its own, so that recording goes on meanwhile. The thread starts with the first one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/thread.h"
#include "sinks/flight_ring.h"
#include "sonde/capture.h"
#include "sonde/status.h"

namespace sonde::sinks {

// All calls come from one thread. The rings whose steps are pinned must outlive it.
class CaptureQueue {
 public:
  explicit CaptureQueue(std::string run_directory) : run_directory_(std::move(run_directory)) {}
  ~CaptureQueue();  // writes what is left first
  CaptureQueue(const CaptureQueue&) = delete;
  CaptureQueue& operator=(const CaptureQueue&) = delete;

  // `info` without its steps, which are those of the pins, in their order.
  Status push(CaptureInfo info, std::vector<FlightPin> pins);

  // What became of captures since the last call.
  struct Outcome {
    std::string reason;
    std::int64_t step = 0;
    Result<std::string> path;  // of the capture's directory
  };
  std::vector<Outcome> take_outcomes();
  // Returns when all is written.
  void wait();

 private:
  struct Job {
    CaptureInfo info;
    std::vector<FlightPin> pins;
  };
  void work();
  Outcome write(Job job) const;

  const std::string run_directory_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<Outcome> outcomes_;
  bool writing_ = false;
  bool ending_ = false;
  std::optional<Thread> thread_;  // the last member: it uses all others
};

}  // namespace sonde::sinks
