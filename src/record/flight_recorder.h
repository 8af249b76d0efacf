// The flight ring of a recorder, and its captures. Belongs to the backend thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/engine.h"
#include "record/capture_writer.h"
#include "record/message.h"
#include "sinks/flight_ring.h"
#include "sonde/capture.h"

namespace sonde::record {

class FlightRecorder {
 public:
  // `tally` must outlive it.
  FlightRecorder(std::string run_directory, std::string writer, sinks::Tally& tally);
  ~FlightRecorder();

  // Has the ring made that the policy wants, where it is another one than there is, and removed where it wants none.
  // That takes its time on the thread that writes captures: the ring that there is goes on until the new one is there.
  // `at_once`: on the calling thread, for the first one.
  void apply(const policy::Engine& engine, bool at_once);
  // Whether one is being made, and whether there will be news of any.
  bool making_ring() const noexcept { return making_.has_value(); }
  bool awaits_ring() const noexcept { return ring_jobs_ > 0; }
  // What became of a ring that was to be made or removed, one a call, oldest first; none where there is no news. A new
  // one takes the place of the old one here. Where it could not be made the old one stays, if any; otherwise captures
  // say why they hold nothing. `in_progress`: the steps that have begun; the new ring lacks their first part.
  std::optional<Status> follow_ring(std::span<const std::int64_t> in_progress);
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
  // `bytes`: of the disk that it will about take. Throws where there is no memory to begin it.
  void fire(const sinks::Stamp& stamp, Firing firing, std::uint64_t bytes);

  // The oldest capture that is written, or failed to be, and was not taken yet; or null.
  std::unique_ptr<CaptureWriter::Capture> take_written() noexcept { return captures_.take(); }
  // Passes incomplete captures to their writer.
  void finish_pending() noexcept;
  // Returns when all captures are written, and rings are made. Any thread, as long as nothing else happens here.
  void wait() { captures_.wait(); }
  // After both: removes the ring.
  Status close();
  // Closes the ring without removing it, in a forked child: it belongs to the parent.
  void abandon() noexcept;

 private:
  // What a policy wants of a ring.
  struct Form {
    std::string directory;                     // where it is not the run's
    std::int64_t steps = 0;                    // as FlightPolicy
    std::uint64_t asked = 0;                   // bytes, as FlightPolicy
    std::uint64_t bytes = 0;                   // within the budget
    std::optional<std::uint64_t> memory = {};  // of the budget
    bool same(const Form& other) const noexcept {
      return directory == other.directory && steps == other.steps && asked == other.asked && bytes == other.bytes;
    }
  };
  struct OpenCapture {
    std::unique_ptr<CaptureWriter::Capture> capture;
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
  static Form form_of(const Policy& policy);
  void push(std::unique_ptr<CaptureWriter::RingJob> job) noexcept;
  Status use_ring(std::unique_ptr<sinks::FlightRing>& ring, std::span<const std::int64_t> in_progress);
  Status keep_ring(const Status& why);
  void retire_ring();
  Status give_up_lost_ring();
  void finish(OpenCapture& capture) noexcept;
  void complete(OpenCapture& capture);
  void tell_missed(const OpenCapture& capture, CaptureInfo& info) const;

  const std::string run_directory_;
  const std::string writer_;
  std::string no_ring_ = "the policy has no flight ring";  // why there is none
  std::vector<std::string> allow_negative_infinity_;
  Form form_;  // of the ring
  std::unique_ptr<sinks::FlightRing> ring_;
  std::optional<Form> making_;      // of the one that is being made
  std::uint64_t ring_jobs_ = 0;     // that have not come back
  std::uint64_t stale_ = 0;         // being made before that one, and not wanted any more
  std::uint64_t dropped_ = 0;       // tensors, by closed rings
  std::deque<std::int64_t> steps_;  // the last training steps that ended
  std::deque<Missed> missed_;       // by the ring that is open
  std::vector<OpenCapture> open_;
  CaptureWriter captures_;  // behind the ring, whose steps it reads
};

}  // namespace sonde::record
