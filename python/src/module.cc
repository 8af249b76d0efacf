// The module sonde._core. Conversion only: what it does is in the library, what is convenient in the package.
#include <nanobind/nanobind.h>

#include "state.h"

NB_MODULE(_core, module) {
  module.doc() = "The C++ library, as the package sonde uses it.";
  // Recorders that live as long as the program are no mistake.
  nanobind::set_leak_warnings(false);
  sonde::python::bind_handles(module);
  sonde::python::bind_recorder(module);
  sonde::python::bind_taps(module);
  sonde::python::bind_reader(module);
  sonde::python::bind_show(module);
}
