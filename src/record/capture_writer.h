// Writes captures on a thread of its own, so that recording goes on meanwhile; makes and removes flight rings there
// too, as that may take long. All in the order in which it comes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/serial_queue.h"
#include "record/return_list.h"
#include "sinks/capture_store.h"
#include "sinks/flight_ring.h"
#include "sonde/capture.h"
#include "sonde/status.h"

namespace sonde::record {

// All calls come from one thread, but for wait.
class CaptureWriter {
 public:
  // `tally` must outlive it.
  CaptureWriter(const std::string& run_directory, sinks::Tally& tally) : tally_(tally), store_(run_directory, tally) {}

  struct Capture {
    CaptureInfo info;  // without its steps, which are those that are pinned
    sinks::FlightPin pin = {};
    std::uint64_t bytes = 0;  // of the disk that it will about take
    std::string path = {};    // of its directory, once it is written; or
    Status status = {};       // why there is none
    std::unique_ptr<Capture> next = {};
  };
  void push(std::unique_ptr<Capture> capture) noexcept;
  // One that cannot be written. It is counted, and comes back with its reason.
  void refuse(std::unique_ptr<Capture> capture, Status why) noexcept;
  // The oldest one that is written, or failed to be, and was not taken yet; or null.
  std::unique_ptr<Capture> take() noexcept { return written_.take(); }

  // A ring to make, or one to close when all captures out of it are written.
  struct RingJob {
    sinks::FlightRing::Options options = {};
    std::unique_ptr<sinks::FlightRing> ring = {};  // to close; or the one that was made
    bool close = false;
    Status status = {};
    std::unique_ptr<RingJob> next = {};
  };
  void push(std::unique_ptr<RingJob> job) noexcept;
  // The same on the calling thread, as long as there is nothing else to do.
  void run(std::unique_ptr<RingJob> job) noexcept { work(*job.release()); }
  std::unique_ptr<RingJob> take_ring() noexcept { return rings_.take(); }

  // Returns when all is done. Any thread.
  void wait() { queue_.wait(); }

 private:
  void write(Capture& capture) noexcept;
  void work(RingJob& job) noexcept;

  sinks::Tally& tally_;
  sinks::CaptureStore store_;  // the queue's thread's
  ReturnList<Capture> written_;
  ReturnList<RingJob> rings_;
  base::SerialQueue queue_{"sonde-capture"};  // the last member: it uses all others
};

}  // namespace sonde::record
