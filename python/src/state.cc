#include "state.h"

#include <algorithm>

#include "convert.h"
#include "owner.h"

namespace sonde::python {
namespace {

// Recorders that are open, for close_all. Never destroyed: recorders may end after it would.
std::vector<RecorderState*>& open_states() {
  static auto& states = *new std::vector<RecorderState*>();
  return states;
}

}  // namespace

void ErrorBox::push(const Status& status) {
  const std::scoped_lock lock(mutex_);
  errors_.push_back(status);
  pending_.store(true, std::memory_order_release);
}

std::vector<Status> ErrorBox::take() {
  const std::scoped_lock lock(mutex_);
  pending_.store(false, std::memory_order_release);
  return std::exchange(errors_, {});
}

RecorderState::RecorderState(Recorder recorder, std::shared_ptr<ErrorBox> errors, nb::object on_error)
    : recorder_(std::move(recorder)), errors_(std::move(errors)), on_error_(std::move(on_error)) {
  open_states().push_back(this);
}

RecorderState::~RecorderState() { std::erase(open_states(), this); }

void RecorderState::raise_closed() { raise_value_error("the recorder is closed"); }

void RecorderState::deliver() {
  for (const Status& status : errors_->take()) {
    if (on_error_.is_none()) {
      static const nb::handle category =
          nb::object(nb::module_::import_("sonde._errors").attr("RecordingWarning")).release();
      if (PyErr_WarnEx(category.ptr(), status.message().c_str(), 1) != 0) throw nb::python_error();
    } else {
      const nb::object handler = on_error_;  // it may replace itself
      handler(nb::str(status.message().data(), status.message().size()));
    }
  }
}

void RecorderState::flush() {
  Recorder& to = recorder();
  Status status;
  {
    const Unlocked unlocked;
    status = to.flush();
  }
  report();
  check(status);
}

void RecorderState::close() {
  if (std::exchange(closed_, true)) return;
  Status status;
  {
    const Unlocked unlocked;
    status = recorder_.close();
    Recorder::release_owners();
  }
  report();
  check(status);
}

RecorderObject::~RecorderObject() {
  if (!state) return;
  try {
    state->close();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("the end of a sonde.Recorder that was not closed");
  }
}

void close_all() {
  const std::vector<RecorderState*> states = open_states();
  for (RecorderState* state : states) {
    try {
      if (std::ranges::find(open_states(), state) != open_states().end()) state->close();
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("the end of the program with an open sonde.Recorder");
    }
  }
  stop_releasing();
}

}  // namespace sonde::python
