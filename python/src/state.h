// What stands behind the recording classes of the module. All of it under the interpreter's lock, unless it says
// otherwise.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sonde/recorder.h"

namespace sonde::python {

namespace nb = nanobind;

// Errors on their way from the recorder to Python. Pushed without the interpreter's lock, taken with it.
class ErrorBox {
 public:
  void push(const Status& status);
  std::vector<Status> take();
  bool empty() const noexcept { return !pending_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::vector<Status> errors_;
  std::atomic<bool> pending_{false};
};

// A sonde::Recorder as Python holds it.
class RecorderState {
 public:
  RecorderState(Recorder recorder, std::shared_ptr<ErrorBox> errors, nb::object on_error);
  RecorderState(const RecorderState&) = delete;
  RecorderState& operator=(const RecorderState&) = delete;
  ~RecorderState();

  // Raises ValueError after close.
  Recorder& recorder() {
    if (closed_) raise_closed();
    return recorder_;
  }
  const Recorder& peek() const noexcept { return recorder_; }
  bool closed() const noexcept { return closed_; }
  nb::object& on_error() noexcept { return on_error_; }
  const std::shared_ptr<ErrorBox>& errors() const noexcept { return errors_; }

  // Gives the errors that wait to on_error, or warns of them. Raises what that raises.
  void report() {
    (void)recorder_.run_callbacks();
    if (!errors_->empty()) deliver();
  }
  void flush();
  void close();

 private:
  [[noreturn]] static void raise_closed();
  void deliver();

  Recorder recorder_;
  std::shared_ptr<ErrorBox> errors_;
  nb::object on_error_;  // a function of one str, or None: warnings
  bool closed_ = false;
};

using StatePtr = std::shared_ptr<RecorderState>;

// The classes of the module. A Recorder that Python lets go of is closed; its handles may outlive it.
struct RecorderObject {
  explicit RecorderObject(StatePtr opened) : state(std::move(opened)) {}
  RecorderObject(const RecorderObject&) = delete;
  RecorderObject& operator=(const RecorderObject&) = delete;
  ~RecorderObject();
  StatePtr state;
};
// One that has add_scalar, for SummaryWriter.
struct WriterObject : RecorderObject {
  using RecorderObject::RecorderObject;
};
struct SeriesObject {
  Scalar scalar;
  StatePtr state;
};
struct StepObject {
  Step step;
  StatePtr state;
  bool ended = false;  // by the program
};
struct ProbeObject {
  Probe probe;
  StatePtr state;
  std::string name;
};
struct GroupObject {
  Group group;
  StatePtr state;
};

// The step that a call names. Raises TypeError for its number, which does not say of which recorder it is.
const StepObject& to_step_object(nb::handle object);

// Closes every recorder that is still open: the interpreter ends.
void close_all();

// Copies of more bytes than this run without the interpreter's lock. Below it, to wait for the lock would take longer.
inline constexpr std::int64_t kLargeCopy = 256 << 10;

void bind_handles(nb::module_& module);
void bind_recorder(nb::module_& module);
void bind_summaries(nb::class_<RecorderObject>& type);
void bind_add_scalar(nb::class_<WriterObject, RecorderObject>& type);
void bind_reader(nb::module_& module);
void bind_show(nb::module_& module);
void bind_taps(nb::module_& module);

}  // namespace sonde::python
