// The flight ring of a recorder, and its captures. Belongs to the backend thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/engine.h"
#include "record/message.h"
#include "sinks/capture_queue.h"
#include "sinks/flight_ring.h"
#include "sonde/capture.h"

namespace sonde::record {

class FlightRecorder {
 public:
  // `tally` must outlive it.
  FlightRecorder(std::string run_directory, std::string writer, sinks::Tally& tally);
  ~FlightRecorder();

  // Creates the ring if the policy wants one, replaces it if the policy wants another, and removes it if it wants none.
  // On failure it keeps the current one, if any; otherwise captures say why they hold nothing. `in_progress`: the steps
  // that have begun.
  Status apply(const policy::Engine& engine, std::span<const std::int64_t> in_progress);
  // Works without a ring; captures give this reason.
  void forgo(std::string why) { no_ring_ = std::move(why); }
  bool has_ring() const noexcept { return ring_ != nullptr; }
  const sinks::FlightRing* ring() const noexcept { return ring_.get(); }  // or null
  std::uint64_t dropped() const noexcept { return dropped_ + (ring_ ? ring_->dropped() : 0); }

  // False: there is a ring, but the tensor does not fit.
  bool add(const sinks::Stamp& stamp, Pass pass, const sinks::FlightRing::Entry& tensor) {
    return !ring_ || ring_->add(stamp, pass.evaluation, tensor, pass.id);
  }
  // Notes something of the current step that the ring does not get. Captures of the step say so.
  void miss(std::int64_t step, std::string what, std::string_view reason, std::uint64_t count = 1);
  // Notes tensors that were dropped before they reached the ring, which counts them: captures of a killed process have
  // no other source.
  void lose(const sinks::Stamp& stamp, Pass pass, std::string what, std::string_view reason, std::uint64_t count);
  // After this the step survives the process. Captures that are now complete are passed to their writer.
  Status end_step(const sinks::Stamp& stamp, Pass pass, std::span<const std::pair<std::string_view, double>> scalars);

  // A capture with the last training step that ended, `before` steps before it and `after` steps to come.
  struct Firing {
    CaptureInfo::Cause cause = CaptureInfo::Cause::trigger;
    std::string reason;
    std::string when = {};
    std::vector<std::pair<std::string, double>> values = {};
    std::int64_t before = 0;
    std::int64_t after = 0;
  };
  Status fire(const sinks::Stamp& stamp, Firing firing);

  std::vector<sinks::CaptureQueue::Outcome> take_outcomes() { return captures_.take_outcomes(); }
  // Passes incomplete captures to their writer.
  Status finish_pending();
  // Returns when all captures are written. Any thread, as long as nothing else happens here.
  void wait() { captures_.wait(); }
  // After both: removes the ring.
  Status close();
  // Closes the ring without removing it, in a forked child: it belongs to the parent.
  void abandon() noexcept;

 private:
  struct OpenCapture {
    CaptureInfo info;
    sinks::FlightPin pin;
    std::uint64_t wanted = 0;  // steps so far
    std::uint64_t older = 0;   // of these, older than the ring
    std::uint64_t first = 0;   // step, in the numbering of FlightRing::ended
    std::uint64_t fired = 0;   // steps that had ended, in the same numbering
    std::int64_t missing = 0;  // steps to come
  };
  struct Missed {
    std::uint64_t ended = 0;  // steps before it, in the numbering of FlightRing::ended
    CaptureGap gap;
  };
  Status make_ring(const Policy& policy, std::span<const std::int64_t> in_progress);
  Status close_ring();  // after all captures from it are written
  Status give_up_lost_ring();
  Status finish(OpenCapture capture);
  void tell_missed(const OpenCapture& capture, CaptureInfo& info) const;

  const std::string run_directory_;
  const std::string writer_;
  std::string no_ring_ = "the policy has no flight ring";  // why there is none
  std::vector<std::string> allow_negative_infinity_;
  FlightPolicy policy_;      // of the ring
  std::uint64_t bytes_ = 0;  // of the ring
  std::unique_ptr<sinks::FlightRing> ring_;
  std::uint64_t dropped_ = 0;       // tensors, by closed rings
  std::deque<std::int64_t> steps_;  // the last training steps that ended
  std::deque<Missed> missed_;       // by the ring that is open
  std::vector<OpenCapture> open_;
  sinks::CaptureQueue captures_;  // after the ring, whose steps it reads
};

}  // namespace sonde::record
