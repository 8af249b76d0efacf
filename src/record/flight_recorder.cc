#include "record/flight_recorder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/process.h"

namespace sonde::record {
namespace {

constexpr std::size_t kStepsRemembered = 10'000;
constexpr std::int64_t kMostAhead = 1'000'000'000;  // maximum number of steps to come
constexpr std::size_t kMissesRemembered = 10'000;
constexpr std::uint64_t kSmallest = std::uint64_t{1} << 20;

// A quarter of a budget is for the ring, as long as that is of any use, and as much for what a capture still needs of
// it.
std::uint64_t share_of(const BudgetPolicy& budget) { return std::max(*budget.memory / 4, kSmallest); }
std::uint64_t bytes_of(const Policy& policy) {
  const std::uint64_t bytes = policy.flight.bytes > 0 ? policy.flight.bytes : sinks::FlightRing::default_bytes();
  return policy.budget.memory ? std::min(share_of(policy.budget), bytes) : bytes;
}

std::int64_t later(std::int64_t step, std::int64_t by) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(step, by, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace

FlightRecorder::FlightRecorder(std::string run_directory, std::string writer, sinks::Tally& tally)
    : run_directory_(std::move(run_directory)), writer_(std::move(writer)), captures_(run_directory_, tally) {}

FlightRecorder::~FlightRecorder() = default;

FlightRecorder::Form FlightRecorder::form_of(const Policy& policy) {
  const FlightPolicy& flight = policy.flight;
  return {flight.directory, flight.steps, flight.bytes, bytes_of(policy), policy.budget.memory};
}

void FlightRecorder::apply(const policy::Engine& engine, bool at_once) {
  const Policy& policy = engine.policy();
  const bool allows_others =
      std::exchange(allow_negative_infinity_, policy.allow_negative_infinity) != policy.allow_negative_infinity;
  if (ring_ && allows_others) ring_->set_allowed(allow_negative_infinity_);
  const bool wanted = engine.wants_flight();
  Form form = form_of(policy);
  if (wanted && making_ && making_->same(form)) return;
  stale_ += std::exchange(making_, std::nullopt).has_value() ? 1U : 0U;
  if (!wanted) {
    no_ring_ = "the policy wants no flight ring";
    return retire_ring();
  }
  if (ring_ && form_.same(form)) return;
  auto job = std::make_unique<CaptureWriter::RingJob>();
  job->options = {.directory = form.directory.empty() ? run_directory_ : form.directory,
                  .bytes = form.bytes,
                  .steps = form.steps,
                  .writer = writer_,
                  .allow_negative_infinity = allow_negative_infinity_,
                  .copy_bytes = form.memory ? form.bytes : 0};
  if (!ring_) no_ring_ = "the flight ring was not created yet";
  making_ = std::move(form);
  if (!at_once) return push(std::move(job));
  ++ring_jobs_;
  captures_.run(std::move(job));
}

void FlightRecorder::push(std::unique_ptr<CaptureWriter::RingJob> job) noexcept {
  ++ring_jobs_;
  captures_.push(std::move(job));
}

std::optional<Status> FlightRecorder::follow_ring(std::span<const std::int64_t> in_progress) {
  const std::unique_ptr<CaptureWriter::RingJob> job = captures_.take_ring();
  if (!job) return std::nullopt;
  --ring_jobs_;
  if (job->close) return job->status;
  if (stale_ > 0) {  // they come back in order, and only the last one may be wanted
    --stale_;
    return job->ring ? job->ring->close() : Status::success();
  }
  if (!job->ring) return keep_ring(job->status);
  try {
    return use_ring(job->ring, in_progress);
  } catch (...) {
    if (job->ring) (void)job->ring->close();  // it would stay behind
    return keep_ring({Code::exhausted, "out of memory"});
  }
}

// Where another one cannot be had, what the old one holds is not lost.
Status FlightRecorder::keep_ring(const Status& why) {
  making_.reset();
  if (ring_) return {why.code(), "the flight ring stays as it was: " + why.message()};
  no_ring_ = why.message();
  return {why.code(), "recording continues, but " + why.message()};
}

Status FlightRecorder::use_ring(std::unique_ptr<sinks::FlightRing>& ring, std::span<const std::int64_t> in_progress) {
  retire_ring();
  ring->set_allowed(allow_negative_infinity_);  // they may have changed meanwhile
  ring_ = std::move(ring);
  form_ = *std::exchange(making_, std::nullopt);
  for (const std::int64_t step : in_progress) {
    miss(step, "all tensors", "the flight ring was created in the middle of the step");
  }
  if (form_.memory && form_.bytes > *form_.memory / 4) {
    return {Code::exhausted, "the flight ring has " + std::to_string(form_.bytes) +
                                 " bytes, more than a quarter of [budget] memory: a smaller one would be useless"};
  }
  if (form_.bytes < form_.asked) {
    return {Code::exhausted, "the flight ring has " + std::to_string(form_.bytes) + " bytes instead of " +
                                 std::to_string(form_.asked) + ": a quarter of [budget] memory"};
  }
  return Status::success();
}

// It is removed when the captures out of it are written.
void FlightRecorder::retire_ring() {
  if (!ring_) return;
  auto job = std::make_unique<CaptureWriter::RingJob>();
  finish_pending();
  job->close = true;
  dropped_ += ring_->dropped();
  job->ring = std::move(ring_);
  missed_.clear();
  push(std::move(job));
}

void FlightRecorder::lose(const sinks::Stamp& stamp, Pass pass, std::string what, std::string_view reason,
                          std::uint64_t count) {
  if (!ring_) return;
  ring_->lose(stamp, pass.evaluation, count, pass.id);
  miss(stamp.step, std::move(what), reason, count);
}

void FlightRecorder::miss(std::int64_t step, std::string what, std::string_view reason, std::uint64_t count) {
  if (!ring_) return;
  if (missed_.size() == kMissesRemembered) missed_.pop_front();
  missed_.push_back({ring_->ended(), {std::move(what), step, step, count, std::string(reason)}});
}

// Misses of one name and for one reason are one gap, from the first step to the last.
void FlightRecorder::tell_missed(const OpenCapture& capture, CaptureInfo& info) const {
  for (const Missed& missed : missed_) {
    if (missed.ended < capture.first) continue;
    const auto same = std::ranges::find_if(info.dropped, [&](const CaptureGap& gap) {
      return gap.what == missed.gap.what && gap.reason == missed.gap.reason;
    });
    if (same == info.dropped.end()) {
      info.dropped.push_back(missed.gap);
      continue;
    }
    same->first_step = std::min(same->first_step, missed.gap.first_step);
    same->last_step = std::max(same->last_step, missed.gap.last_step);
    same->count += missed.gap.count;
  }
}

Status FlightRecorder::end_step(const sinks::Stamp& stamp, Pass pass,
                                std::span<const std::pair<std::string_view, double>> scalars) {
  if (ring_) ring_->end_step(stamp, pass.evaluation, scalars, pass.id);
  if (pass.evaluation) return Status::success();
  if (steps_.size() == kStepsRemembered) steps_.pop_front();
  steps_.push_back(stamp.step);
  for (OpenCapture& open : open_) {
    ++open.wanted;
    if (ring_) ring_->pin_more(open.capture->pin, ring_->ended() - 1, ring_->ended() - 1);
    if (--open.missing <= 0) finish(open);
  }
  std::erase_if(open_, [](const OpenCapture& open) { return open.capture == nullptr; });
  return give_up_lost_ring();
}

Status FlightRecorder::give_up_lost_ring() {
  if (!ring_ || !ring_->lost()) return Status::success();
  no_ring_ = "the file of the flight ring, '" + ring_->path() + "', was truncated or could not be written";
  retire_ring();
  return {Code::io, "recording continues without a flight ring: " + no_ring_};
}

void FlightRecorder::fire(const sinks::Stamp& stamp, Firing firing, std::uint64_t bytes) {
  OpenCapture open;
  open.capture = std::make_unique<CaptureWriter::Capture>();
  open.capture->bytes = bytes;
  CaptureInfo& info = open.capture->info;
  info.cause = firing.cause;
  info.reason = std::move(firing.reason);
  info.when = std::move(firing.when);
  info.values = std::move(firing.values);
  info.step = steps_.empty() ? stamp.step : steps_.back();
  info.wall_time = stamp.wall_time;
  info.before = firing.before;
  info.after = firing.after;
  info.host = base::host_name();
  info.pid = base::process_id();
  info.writer = writer_;
  info.allow_negative_infinity = allow_negative_infinity_;
  // Pinned at once, or the ring would overwrite it while the steps after it come in.
  if (ring_) {
    const std::uint64_t ended = ring_->ended();
    open.fired = ended;
    const auto asked = static_cast<std::uint64_t>(std::max<std::int64_t>(firing.before, 0)) + 1;
    open.wanted = std::min<std::uint64_t>(asked, steps_.size());
    open.older = open.wanted - std::min(open.wanted, ended);
    open.first = ended - std::min(open.wanted, ended);
    if (ended > 0) open.capture->pin = ring_->pin(open.first, ended - 1);
  }
  open.missing = std::max<std::int64_t>(firing.after, 0);
  if (open.missing == 0) return finish(open);
  open_.push_back(std::move(open));
}

// Where memory runs out there is no capture, rather than one that does not say what it lacks.
void FlightRecorder::finish(OpenCapture& open) noexcept {
  try {
    complete(open);
  } catch (...) {
    return captures_.refuse(std::move(open.capture), {Code::exhausted, "out of memory"});  // short: needs none
  }
  captures_.push(std::move(open.capture));
}

// Says what the capture lacks.
void FlightRecorder::complete(OpenCapture& open) {
  CaptureInfo& info = open.capture->info;
  sinks::FlightPin& pin = open.capture->pin;
  const std::int64_t last = steps_.empty() ? info.step : steps_.back();
  const auto gap = [&](std::int64_t first, std::int64_t until, std::uint64_t count, std::string reason) {
    info.dropped.push_back({"all tensors", first, until, count, std::move(reason)});
  };
  if (!ring_) return gap(info.step, last, 0, no_ring_);
  // Evaluation passes may have ended later than the steps among which they began.
  if (ring_->ended() > open.fired) ring_->pin_more(pin, open.fired, ring_->ended() - 1);
  const std::uint64_t kept = pin.training_steps();
  // The missing steps are the oldest ones.
  const auto from_end = [&](std::uint64_t count) {
    return steps_[steps_.size() - std::min<std::uint64_t>(count, steps_.size())];
  };
  const std::uint64_t seen = open.wanted - open.older;  // by the ring
  if (open.older > 0) {
    gap(from_end(open.wanted), from_end(seen + 1), open.older, "the flight ring was created after these steps");
  }
  if (kept < seen) {
    gap(from_end(seen), from_end(kept + 1), seen - kept,
        form_.steps > 0 && kept >= static_cast<std::uint64_t>(form_.steps)
            ? "the flight ring keeps only as many steps as [flight] steps says"
            : "the flight ring has no room for this many steps");
  }
  tell_missed(open, info);
  if (open.missing > 0) {
    gap(later(last, 1), later(last, std::min(open.missing, kMostAhead)), static_cast<std::uint64_t>(open.missing),
        "recording ended before these steps came");
  }
}

void FlightRecorder::abandon() noexcept {
  if (ring_) ring_->abandon();
}

void FlightRecorder::finish_pending() noexcept {
  for (OpenCapture& open : open_) finish(open);
  open_.clear();
}

Status FlightRecorder::close() {
  Status status;
  while (const std::unique_ptr<CaptureWriter::RingJob> job = captures_.take_ring()) {
    if (!job->close && job->ring) job->status = job->ring->close();  // made when nobody wanted it any more
    if (status.ok() && (job->close || job->ring)) status = std::move(job->status);
  }
  making_.reset();
  stale_ = ring_jobs_ = 0;
  if (!ring_) return status;
  dropped_ += ring_->dropped();
  if (Status closed = ring_->close(); status.ok()) status = std::move(closed);
  ring_.reset();
  missed_.clear();
  return status;
}

}  // namespace sonde::record
