// The flight ring of a recorder, and the captures that are taken out of it. Belongs to the backend thread.
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

  // Makes the ring where the policy wants one, another one where it wants another, and removes it where it wants none.
  // Where that fails it goes on with the one that it has, if any; otherwise captures say why they hold nothing.
  // `in_progress`: the steps that have begun.
  Status apply(const policy::Engine& engine, std::span<const std::int64_t> in_progress);
  // Goes without a ring; why is what captures say.
  void forgo(std::string why) { no_ring_ = std::move(why); }
  bool has_ring() const noexcept { return ring_ != nullptr; }
  const sinks::FlightRing* ring() const noexcept { return ring_.get(); }  // or null
  std::uint64_t dropped() const noexcept { return dropped_ + (ring_ ? ring_->dropped() : 0); }

  // False: there is a ring, but no room in it.
  bool add(const sinks::Stamp& stamp, Pass pass, const sinks::FlightRing::Entry& tensor) {
    return !ring_ || ring_->add(stamp, pass.evaluation, tensor, pass.id);
  }
  // Something of the step in progress that the ring does not get. Captures with the step say so.
  void miss(std::int64_t step, std::string what, std::string_view reason);
  // After it the step survives the process. Captures that are complete with it are handed to their writer.
  Status end_step(const sinks::Stamp& stamp, Pass pass, std::span<const std::pair<std::string_view, double>> scalars);

  // A capture with the last training step that ended, the `before` ones before it and `after` to come.
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
  // Hands what is still being gathered to the writer of captures.
  Status finish_pending();
  // Returns when all captures are written. Any thread, as long as nothing else happens here.
  void wait() { captures_.wait(); }
  // After both: removes the ring.
  Status close();
  // Lets go of the ring, which is another process's: in a forked child.
  void abandon() noexcept;

 private:
  struct OpenCapture {
    CaptureInfo info;
    sinks::FlightPin pin;
    std::uint64_t wanted = 0;  // steps so far
    std::uint64_t older = 0;   // of them, than the ring
    std::uint64_t first = 0;   // step, as FlightRing::ended counts
    std::uint64_t fired = 0;   // steps that had ended, likewise
    std::int64_t missing = 0;  // steps to come
  };
  struct Missed {
    std::uint64_t ended = 0;  // steps before it, as FlightRing::ended
    CaptureGap gap;
  };
  Status make_ring(const Policy& policy, std::span<const std::int64_t> in_progress);
  Status close_ring();  // after all captures out of it are written
  Status give_up_lost_ring();
  Status finish(OpenCapture capture);
  void tell_missed(const OpenCapture& capture, CaptureInfo& info) const;

  const std::string run_directory_;
  const std::string writer_;
  std::string no_ring_ = "the policy wants no flight ring";  // why there is none
  std::vector<std::string> allow_negative_infinity_;
  FlightPolicy policy_;      // of the ring
  std::uint64_t bytes_ = 0;  // likewise
  std::unique_ptr<sinks::FlightRing> ring_;
  std::uint64_t dropped_ = 0;       // tensors, by a ring that is closed
  std::deque<std::int64_t> steps_;  // the last training steps that ended
  std::deque<Missed> missed_;       // by the ring that is open
  std::vector<OpenCapture> open_;
  sinks::CaptureQueue captures_;  // behind the ring, whose steps it reads
};

}  // namespace sonde::record
