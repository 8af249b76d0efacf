// The one call of SummaryWriter that must cost nothing. The others are Python, in sonde/_writer.py.
#include <cmath>
#include <limits>

#include "convert.h"
#include "state.h"

namespace sonde::python {
namespace {

using namespace nb::literals;

// int(step), as torch takes it; None is 0.
std::int64_t to_step(nb::handle step) {
  if (step.is_none()) return 0;
  if (PyLong_Check(step.ptr())) return to_integer(step, "global_step");
  const nb::object number = nb::steal(PyNumber_Long(step.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    raise_type_error("global_step", "an int or None", step);
  }
  return to_integer(number, "global_step");
}

void add_scalar(RecorderObject& self, nb::handle tag, nb::handle value, nb::handle step, nb::handle wall_time,
                nb::handle /*new_style*/, nb::handle double_precision) {
  Recorder& to = self.state->recorder();
  const std::string_view name = to_text(tag, "tag");
  const double number = to_scalar(value, "scalar_value");
  const std::int64_t at = to_step(step);
  const bool wide = double_precision.ptr() != Py_False && nb::cast<bool>(nb::bool_(double_precision));
  if (wall_time.is_none() && !wide) {
    to.scalar(name, number, at);
  } else {
    const double time =
        wall_time.is_none() ? std::numeric_limits<double>::quiet_NaN() : to_double(wall_time, "walltime");
    Group group = to.group(at, time);
    if (wide) {
      group.tensor(name, view(&number, Shape{}), "scalars");
    } else {
      group.scalar(name, number);
    }
  }
  self.state->report();
}

}  // namespace

void bind_add_scalar(nb::class_<WriterObject, RecorderObject>& type) {
  type.def("add_scalar", &add_scalar, "tag"_a.none(), "scalar_value"_a.none(), "global_step"_a = nb::none(),
           "walltime"_a = nb::none(), "new_style"_a = false, "double_precision"_a = false,
           nb::sig("def add_scalar(self, tag: str, scalar_value: SupportsFloat, global_step: int | None = None, "
                   "walltime: float | None = None, new_style: bool = False, double_precision: bool = False) -> None"),
           R"(Record a number. `new_style` changes nothing: numbers are always written in the new style.

>>> writer.add_scalar("loss", 0.5, 1))");
}

}  // namespace sonde::python
