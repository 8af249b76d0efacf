#include "record/flight_recorder.h"

#include <algorithm>

#include "base/process.h"

namespace sonde::record {
namespace {

constexpr std::size_t kStepsRemembered = 10'000;
constexpr std::uint64_t kSmallest = std::uint64_t{1} << 20;

// Within half of a budget.
std::uint64_t default_bytes(const BudgetPolicy& budget) {
  const std::uint64_t bytes = sinks::FlightRing::default_bytes();
  return budget.memory ? std::clamp(*budget.memory / 2, std::min(kSmallest, bytes), bytes) : bytes;
}

}  // namespace

FlightRecorder::FlightRecorder(std::string run_directory, std::string writer)
    : run_directory_(std::move(run_directory)), writer_(std::move(writer)), captures_(run_directory_) {}

FlightRecorder::~FlightRecorder() = default;

Status FlightRecorder::apply(const policy::Engine& engine) {
  allow_negative_infinity_ = engine.policy().allow_negative_infinity;
  if (ring_ || !engine.wants_flight()) return Status::success();
  const FlightPolicy& flight = engine.policy().flight;
  auto ring =
      sinks::FlightRing::create({.directory = flight.directory.empty() ? run_directory_ : flight.directory,
                                 .bytes = flight.bytes > 0 ? flight.bytes : default_bytes(engine.policy().budget),
                                 .steps = flight.steps,
                                 .writer = writer_,
                                 .allow_negative_infinity = allow_negative_infinity_});
  if (!ring) {
    no_ring_ = ring.error().message();
    return {ring.error().code(), "recording goes on without a flight ring: " + ring.error().message()};
  }
  ring_ = std::move(*ring);
  return Status::success();
}

Status FlightRecorder::end_step(const sinks::Stamp& stamp, bool evaluation,
                                std::span<const std::pair<std::string_view, double>> scalars) {
  if (ring_) ring_->end_step(stamp, evaluation, scalars);
  if (evaluation) return Status::success();
  steps_.push_back(stamp.step);
  if (steps_.size() > kStepsRemembered) steps_.pop_front();
  Status first;
  for (OpenCapture& capture : open_) {
    if (--capture.missing > 0) continue;
    Status status = finish(std::move(capture));
    if (first.ok()) first = std::move(status);
  }
  std::erase_if(open_, [](const OpenCapture& capture) { return capture.missing <= 0; });
  return first;
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
  const auto before = static_cast<std::size_t>(std::max<std::int64_t>(firing.before, 0));
  const std::size_t kept = std::min(steps_.size(), before + 1);
  // Pinned at once, or the ring would overwrite it while the steps after it come in.
  if (ring_ && kept > 0) capture.pins.push_back(ring_->pin(steps_[steps_.size() - kept], steps_.back()));
  capture.missing = std::max<std::int64_t>(firing.after, 0);
  if (capture.missing == 0) return finish(std::move(capture));
  open_.push_back(std::move(capture));
  return Status::success();
}

Status FlightRecorder::finish(OpenCapture capture) {
  CaptureInfo& info = capture.info;
  const auto gap = [&](std::uint64_t count, std::string reason) {
    info.dropped.push_back(
        {"all tensors", info.step, steps_.empty() ? info.step : steps_.back(), count, std::move(reason)});
  };
  if (!ring_) {
    gap(0, "there is no flight ring: " + no_ring_);
    return captures_.push(std::move(info), {});
  }
  if (!steps_.empty() && steps_.back() > info.step) capture.pins.push_back(ring_->pin(info.step + 1, steps_.back()));
  return captures_.push(std::move(info), std::move(capture.pins));
}

void FlightRecorder::abandon() noexcept {
  if (ring_) ring_->abandon();
}

Status FlightRecorder::close() {
  Status first;
  for (OpenCapture& capture : open_) {
    Status status = finish(std::move(capture));
    if (first.ok()) first = std::move(status);
  }
  open_.clear();
  captures_.wait();
  if (!ring_) return first;
  dropped_ += ring_->dropped();
  Status status = ring_->close();
  ring_.reset();
  return first.ok() ? status : first;
}

}  // namespace sonde::record
