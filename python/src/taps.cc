// Where the forward hooks of sonde.watch hand over tensors: one call for each module and pass, which must be short.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "convert.h"
#include "owner.h"
#include "state.h"
#include "tensor_import.h"

namespace sonde::python {
namespace {

using namespace nb::literals;

// The taps of one watched module, and the passes that its threads are in. All under the interpreter's lock. Where a
// Python object is released other threads may run: torch gives the lock away while it frees a tensor. So a pass is held
// while it is used, and what it lets go of is released last.
class Taps {
 public:
  Taps(StatePtr state, nb::object tensor_type, nb::object parameter_type, nb::object backward, bool hold)
      : state_(std::move(state)),
        tensor_type_(std::move(tensor_type)),
        parameter_type_(std::move(parameter_type)),
        backward_(std::move(backward)),
        hold_(hold) {}

  // This thread enters a pass. Whether any of the probes is wanted in any pass that is open.
  bool begin(nb::handle step) {
    (void)nb::cast<const StepObject&>(step);
    passes_.push_back(std::make_shared<Pass>(Pass{std::this_thread::get_id(), nb::borrow(step), {}, {}}));
    for (const std::shared_ptr<Pass>& pass : passes_) {
      const Step& in = nb::inst_ptr<StepObject>(pass->step)->step;
      for (const nb::object& probe : probes_) {
        if (nb::inst_ptr<ProbeObject>(probe)->probe.wanted(in)) return true;
      }
    }
    return false;
  }

  // The last of this step's passes ends. Returns the names of tensors that were lent and written to since.
  std::vector<std::string> end(nb::handle step) {
    std::vector<std::string> written;
    for (std::size_t i = passes_.size(); i-- > 0;) {
      if (!passes_[i]->step.is(step)) continue;
      const std::shared_ptr<Pass> ended = std::move(passes_[i]);
      passes_.erase(passes_.begin() + static_cast<std::ptrdiff_t>(i));
      for (const Lent& lent : ended->lent) {
        if (version_of(lent.tensor) != lent.version) written.push_back(lent.name);
      }
      break;
    }
    if (!state_->closed()) state_->report();
    return written;
  }

  nb::object step() {
    const std::shared_ptr<Pass> pass = find();
    return pass == nullptr ? nb::none() : pass->step;
  }

  void add(nb::object probe) { probes_.push_back(std::move(probe)); }

  bool on() const noexcept { return on_; }
  void set_on(bool on) noexcept { on_ = on; }

  // Whether the tensor needs no more attention: it was recorded, or is not wanted.
  bool record(const ProbeObject& probe, bool container, nb::handle tensor) {
    const std::shared_ptr<Pass> pass = find();
    if (pass == nullptr || state_->closed()) return false;
    const nb::handle type = tensor.type();
    if (type.ptr() != tensor_type_.ptr() && type.ptr() != parameter_type_.ptr()) return false;
    // A container that returns what its last module has returned: the tensor is known by that module's name.
    if (container && pass->last.ptr() == tensor.ptr()) return true;
    if (in_backward()) return true;  // a checkpoint that is computed again
    const nb::object previous = std::exchange(pass->last, nb::borrow(tensor));
    const nb::object held = pass->step;
    const StepObject& step = *nb::inst_ptr<StepObject>(held);
    if (!probe.probe.wanted(step.step)) return true;
    const std::optional<ImportedTensor> imported = ImportedTensor::exchange(tensor);
    if (!imported) return false;
    if (hold_) {
      const long long version = version_of(tensor);
      pass->lent.push_back({nb::borrow(tensor), version, probe.name});
      probe.probe.record(step.step, imported->shared());
    } else if (imported->bytes() < kLargeCopy) {
      probe.probe.record(step.step, imported->view());
    } else {
      const Unlocked unlocked;
      probe.probe.record(step.step, imported->view());
    }
    return true;
  }

  bool in_backward() const {
    const nb::object task = backward_();
    return PyLong_AsLong(task.ptr()) != -1;
  }

 private:
  struct Lent {
    nb::object tensor;
    long long version;
    std::string name;
  };
  struct Pass {
    std::thread::id thread;
    nb::object step;
    nb::object last;  // held, so that no other tensor gets its address
    std::vector<Lent> lent;
  };

  std::shared_ptr<Pass> find() const {
    const std::thread::id self = std::this_thread::get_id();
    for (std::size_t i = passes_.size(); i-- > 0;) {
      if (passes_[i]->thread == self) return passes_[i];
    }
    return nullptr;
  }

  // torch counts the writes to a tensor, except in inference mode: then this is -1.
  static long long version_of(nb::handle tensor) {
    const nb::object version = nb::steal(PyObject_GetAttrString(tensor.ptr(), "_version"));
    if (!version.is_valid()) {
      PyErr_Clear();
      return -1;
    }
    return PyLong_AsLongLong(version.ptr());
  }

  StatePtr state_;
  nb::object tensor_type_;
  nb::object parameter_type_;
  nb::object backward_;
  bool hold_;
  bool on_ = true;  // whether anything is wanted in this pass
  std::vector<nb::object> probes_;
  std::vector<std::shared_ptr<Pass>> passes_;
};

struct TapsObject {
  std::shared_ptr<Taps> taps;
};
struct TapObject {
  std::shared_ptr<Taps> taps;
  nb::object probe;
  bool container;
};
// Calls a module whose output is known to be one tensor, and records that tensor. It costs less than a hook of torch:
// with one, torch takes its longer way through Module.__call__.
struct CallObject {
  std::shared_ptr<Taps> taps;
  nb::object probe;
  bool container;
  nb::object call;       // the module's own
  nb::object otherwise;  // a function of the arguments and the output, if the tensor cannot be recorded here
};

PyObject* call_module(PyObject* self, PyObject* args, PyObject* kwargs) {
  const CallObject& object = *nb::inst_ptr<CallObject>(self);
  nb::object output = nb::steal(PyObject_Call(object.call.ptr(), args, kwargs));
  if (!output.is_valid() || !object.taps->on()) return output.release().ptr();
  try {
    if (!object.taps->record(*nb::inst_ptr<ProbeObject>(object.probe), object.container, output)) {
      const nb::object held = object.otherwise;
      held(nb::handle(args), kwargs == nullptr ? nb::object(nb::dict()) : nb::borrow(kwargs), output);
    }
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  }
  return output.release().ptr();
}

int traverse_call(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto* object = nb::inst_ptr<CallObject>(self);
  Py_VISIT(object->call.ptr());
  Py_VISIT(object->otherwise.ptr());
  return 0;
}

int clear_call(PyObject* self) {
  auto* object = nb::inst_ptr<CallObject>(self);
  const nb::object call = std::exchange(object->call, nb::none());
  const nb::object otherwise = std::exchange(object->otherwise, nb::none());
  return 0;
}

}  // namespace

void bind_taps(nb::module_& module) {
  nb::class_<TapObject>(module, "_Tap", "A module's output, on its way to a probe.")
      .def(
          "record",
          [](const TapObject& self, nb::handle tensor) {
            return self.taps->record(*nb::inst_ptr<ProbeObject>(self.probe), self.container, tensor);
          },
          "tensor"_a.none(), "Record the tensor in the pass of this thread. False: it needs another way.");
  static const PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_module)},
                                      {Py_tp_traverse, reinterpret_cast<void*>(&traverse_call)},
                                      {Py_tp_clear, reinterpret_cast<void*>(&clear_call)},
                                      {0, nullptr}};
  nb::class_<CallObject>(module, "_Call", nb::type_slots(slots), "The call of a watched module.")
      .def_prop_ro("call", [](const CallObject& self) { return self.call; });
  nb::class_<TapsObject>(module, "_Taps", "What the hooks of a watched module share.")
      .def(
          "__init__",
          [](TapsObject* self, const RecorderObject& recorder, nb::object tensor_type, nb::object parameter_type,
             nb::object backward, bool hold) {
            new (self) TapsObject{std::make_shared<Taps>(recorder.state, std::move(tensor_type),
                                                         std::move(parameter_type), std::move(backward), hold)};
          },
          "recorder"_a, "tensor_type"_a, "parameter_type"_a, "backward"_a, "hold"_a)
      .def(
          "tap",
          [](const TapsObject& self, nb::object probe, bool container) {
            (void)nb::cast<const ProbeObject&>(probe);
            self.taps->add(probe);
            return TapObject{self.taps, std::move(probe), container};
          },
          "probe"_a, "container"_a = false)
      .def(
          "call",
          [](const TapsObject& self, nb::object probe, bool container, nb::object call, nb::object otherwise) {
            (void)nb::cast<const ProbeObject&>(probe);
            return CallObject{self.taps, std::move(probe), container, std::move(call), std::move(otherwise)};
          },
          "probe"_a, "container"_a, "call"_a, "otherwise"_a)
      .def_prop_rw(
          "on", [](const TapsObject& self) { return self.taps->on(); },
          [](const TapsObject& self, bool on) { self.taps->set_on(on); })
      .def(
          "begin", [](const TapsObject& self, nb::object step) { return self.taps->begin(step); }, "step"_a)
      .def(
          "end", [](const TapsObject& self, nb::object step) { return self.taps->end(step); }, "step"_a)
      .def("in_backward", [](const TapsObject& self) { return self.taps->in_backward(); })
      .def_prop_ro("step", [](const TapsObject& self) { return self.taps->step(); });
}

}  // namespace sonde::python
