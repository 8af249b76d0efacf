// Writes captures on its own thread, so that recording continues meanwhile. The thread starts with the first capture.
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
#include "sinks/record_file.h"
#include "sonde/capture.h"
#include "sonde/status.h"

namespace sonde::sinks {

// All calls come from one thread. The rings with pinned steps must outlive it.
class CaptureQueue {
 public:
  // Captures that could not be saved are counted in `tally`, if there is one, which must outlive it: each is one error
  // and one lost record.
  explicit CaptureQueue(std::string run_directory, Tally* tally = nullptr)
      : run_directory_(std::move(run_directory)), tally_(tally) {}
  ~CaptureQueue();  // writes the remaining captures first
  CaptureQueue(const CaptureQueue&) = delete;
  CaptureQueue& operator=(const CaptureQueue&) = delete;

  // `info` without its steps, which are the pinned ones. Never fails: the result is among the outcomes, even if there
  // is no thread to write it.
  Status push(CaptureInfo info, FlightPin pin);

  // The results since the last call: one for each pushed capture, in order.
  struct Outcome {
    CaptureInfo::Cause cause = CaptureInfo::Cause::trigger;
    std::string reason;  // the trigger's name if a trigger was the cause
    std::int64_t step = 0;
    Result<std::string> path;  // of the capture's directory, or why there is none
  };
  std::vector<Outcome> take_outcomes();
  // Returns when everything is written.
  void wait();

 private:
  struct Job {
    CaptureInfo info;
    FlightPin pin;
  };
  void work();
  Outcome write(Job job) const;
  void count(const Outcome& outcome) const noexcept;

  const std::string run_directory_;
  Tally* const tally_;
  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<Outcome> outcomes_;
  bool writing_ = false;
  bool ending_ = false;
  std::optional<Thread> thread_;  // the last member: it uses all others
};

}  // namespace sonde::sinks
