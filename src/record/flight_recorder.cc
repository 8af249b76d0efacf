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
    : run_directory_(std::move(run_directory)), writer_(std::move(writer)), captures_(run_directory_, &tally) {}

FlightRecorder::~FlightRecorder() = default;

Status FlightRecorder::apply(const policy::Engine& engine, std::span<const std::int64_t> in_progress) {
  const Policy& policy = engine.policy();
  const bool allows_others =
      std::exchange(allow_negative_infinity_, policy.allow_negative_infinity) != policy.allow_negative_infinity;
  if (!engine.wants_flight()) return close_ring();
  const FlightPolicy& flight = policy.flight;
  const bool same = flight.steps == policy_.steps && flight.directory == policy_.directory &&
                    flight.bytes == policy_.bytes && bytes_of(policy) == bytes_;
  if (!ring_ || !same) return make_ring(policy, in_progress);
  if (allows_others) ring_->set_allowed(allow_negative_infinity_);
  return Status::success();
}

// The current ring stays until the new one exists: if that fails, its content is not lost.
Status FlightRecorder::make_ring(const Policy& policy, std::span<const std::int64_t> in_progress) {
  const FlightPolicy& flight = policy.flight;
  const std::uint64_t bytes = bytes_of(policy);
  auto ring = sinks::FlightRing::create({.directory = flight.directory.empty() ? run_directory_ : flight.directory,
                                         .bytes = bytes,
                                         .steps = flight.steps,
                                         .writer = writer_,
                                         .allow_negative_infinity = allow_negative_infinity_,
                                         .copy_bytes = policy.budget.memory ? bytes : 0});
  if (!ring && ring_) {
    ring_->set_allowed(allow_negative_infinity_);
    return {ring.error().code(), "the flight ring stays as it was: " + ring.error().message()};
  }
  if (!ring) {
    no_ring_ = ring.error().message();
    return {ring.error().code(), "recording continues, but " + ring.error().message()};
  }
  Status closed = close_ring();
  ring_ = std::move(*ring);
  policy_ = flight;
  bytes_ = bytes;
  for (const std::int64_t step : in_progress) {
    miss(step, "all tensors", "the flight ring was created in the middle of the step");
  }
  if (!closed.ok()) return closed;
  if (policy.budget.memory && bytes > *policy.budget.memory / 4) {
    return {Code::exhausted, "the flight ring has " + std::to_string(bytes) +
                                 " bytes, more than a quarter of [budget] memory: a smaller one would be useless"};
  }
  if (bytes < flight.bytes) {
    return {Code::exhausted, "the flight ring has " + std::to_string(bytes) + " bytes instead of " +
                                 std::to_string(flight.bytes) + ": a quarter of [budget] memory"};
  }
  return Status::success();
}

Status FlightRecorder::close_ring() {
  if (!ring_) return Status::success();
  Status status = finish_pending();
  wait();
  if (Status closed = close(); status.ok()) status = std::move(closed);
  return status;
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
  steps_.push_back(stamp.step);
  if (steps_.size() > kStepsRemembered) steps_.pop_front();
  Status first;
  for (OpenCapture& capture : open_) {
    ++capture.wanted;
    if (ring_) ring_->pin_more(capture.pin, ring_->ended() - 1, ring_->ended() - 1);
    if (--capture.missing > 0) continue;
    Status status = finish(std::move(capture));
    if (first.ok()) first = std::move(status);
  }
  std::erase_if(open_, [](const OpenCapture& capture) { return capture.missing <= 0; });
  if (Status lost = give_up_lost_ring(); !lost.ok()) return lost;
  return first;
}

Status FlightRecorder::give_up_lost_ring() {
  if (!ring_ || !ring_->lost()) return Status::success();
  no_ring_ = "the file of the flight ring, '" + ring_->path() + "', was truncated or could not be written";
  (void)close_ring();
  return {Code::io, "recording continues without a flight ring: " + no_ring_};
}

Status FlightRecorder::fire(const sinks::Stamp& stamp, Firing firing) {
  OpenCapture capture;
  CaptureInfo& info = capture.info;
  info.cause = firing.cause;
  info.reason = std::move(firing.reason);
  info.when = std::move(firing.when);
  info.values = std::move(firing.values);
  info.step = steps_.empty() ? stamp.step : steps_.back();
  info.wall_time = stamp.wall_time;
  info.before = firing.before;
  info.after = firing.after;
  info.host = host_name();
  info.pid = process_id();
  info.writer = writer_;
  info.allow_negative_infinity = allow_negative_infinity_;
  // Pinned at once, or the ring would overwrite it while the steps after it come in.
  if (ring_) {
    const std::uint64_t ended = ring_->ended();
    capture.fired = ended;
    const auto asked = static_cast<std::uint64_t>(std::max<std::int64_t>(firing.before, 0)) + 1;
    capture.wanted = std::min<std::uint64_t>(asked, steps_.size());
    capture.older = capture.wanted - std::min(capture.wanted, ended);
    capture.first = ended - std::min(capture.wanted, ended);
    if (ended > 0) capture.pin = ring_->pin(capture.first, ended - 1);
  }
  capture.missing = std::max<std::int64_t>(firing.after, 0);
  if (capture.missing == 0) return finish(std::move(capture));
  open_.push_back(std::move(capture));
  return Status::success();
}

Status FlightRecorder::finish(OpenCapture capture) {
  CaptureInfo& info = capture.info;
  const std::int64_t last = steps_.empty() ? info.step : steps_.back();
  const auto gap = [&](std::int64_t first, std::int64_t until, std::uint64_t count, std::string reason) {
    info.dropped.push_back({"all tensors", first, until, count, std::move(reason)});
  };
  if (!ring_) {
    gap(info.step, last, 0, no_ring_);
    return captures_.push(std::move(info), {});
  }
  // Evaluation passes may have ended later than the steps among which they began.
  if (ring_->ended() > capture.fired) ring_->pin_more(capture.pin, capture.fired, ring_->ended() - 1);
  const std::uint64_t kept = capture.pin.training_steps();
  // The missing steps are the oldest ones.
  const auto from_end = [&](std::uint64_t count) {
    return steps_[steps_.size() - std::min<std::uint64_t>(count, steps_.size())];
  };
  const std::uint64_t seen = capture.wanted - capture.older;  // by the ring
  if (capture.older > 0) {
    gap(from_end(capture.wanted), from_end(seen + 1), capture.older, "the flight ring was created after these steps");
  }
  if (kept < seen) {
    gap(from_end(seen), from_end(kept + 1), seen - kept,
        policy_.steps > 0 && kept >= static_cast<std::uint64_t>(policy_.steps)
            ? "the flight ring keeps only as many steps as [flight] steps says"
            : "the flight ring has no room for this many steps");
  }
  tell_missed(capture, info);
  if (capture.missing > 0) {
    gap(later(last, 1), later(last, std::min(capture.missing, kMostAhead)), static_cast<std::uint64_t>(capture.missing),
        "recording ended before these steps came");
  }
  return captures_.push(std::move(info), std::move(capture.pin));
}

void FlightRecorder::abandon() noexcept {
  if (ring_) ring_->abandon();
}

Status FlightRecorder::finish_pending() {
  Status first;
  for (OpenCapture& capture : open_) {
    Status status = finish(std::move(capture));
    if (first.ok()) first = std::move(status);
  }
  open_.clear();
  return first;
}

Status FlightRecorder::close() {
  if (!ring_) return Status::success();
  dropped_ += ring_->dropped();
  Status status = ring_->close();
  ring_.reset();
  missed_.clear();
  return status;
}

}  // namespace sonde::record
