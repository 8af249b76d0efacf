#include "record/capture_writer.h"

#include <functional>
#include <utility>

namespace sonde::record {

void CaptureWriter::push(std::unique_ptr<Capture> capture) noexcept {
  queue_.push([this, raw = capture.release()] { write(*raw); });  // small enough to need no memory of its own
}

void CaptureWriter::push(std::unique_ptr<RingJob> job) noexcept {
  queue_.push([this, raw = job.release()] { work(*raw); });
}

void CaptureWriter::refuse(std::unique_ptr<Capture> capture, Status why) noexcept {
  tally_.write_errors.fetch_add(1, std::memory_order_relaxed);
  tally_.lost_records.fetch_add(1, std::memory_order_relaxed);
  capture->status = std::move(why);
  capture->pin = {};
  written_.put(std::move(capture));
}

void CaptureWriter::write(Capture& capture) noexcept {
  try {
    const std::function<const flight::Step*()> next = [&pin = capture.pin] { return pin.next(); };
    const sinks::Value value = sinks::CaptureValue{&capture.info, &next};
    capture.status = store_.write({capture.info.wall_time, capture.info.step}, {&value, 1});
    if (capture.status.ok()) capture.path = store_.path();
  } catch (...) {  // it is there, and only its path is not known
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
  }
  capture.pin = {};
  written_.put(std::unique_ptr<Capture>(&capture));
}

void CaptureWriter::work(RingJob& job) noexcept {
  try {
    if (job.close) {
      job.status = job.ring->close();
    } else {
      auto made = sinks::FlightRing::create(job.options);
      if (made) {
        job.ring = *std::move(made);
      } else {
        job.status = made.error();
      }
    }
  } catch (...) {
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
    job.status = {Code::exhausted, "out of memory"};  // short enough to need none
  }
  rings_.put(std::unique_ptr<RingJob>(&job));
}

}  // namespace sonde::record
