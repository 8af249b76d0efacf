// Python objects that the library holds. They are let go of under the interpreter's lock, whatever thread that is, and
// never while or after the interpreter ends.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

namespace sonde::python {

namespace nb = nanobind;

// A share in the object, for TensorArg::owner and for functions that the library keeps.
std::shared_ptr<const void> share(nb::handle object);
inline nb::handle object_of(const std::shared_ptr<const void>& owner) noexcept {
  return {static_cast<PyObject*>(const_cast<void*>(owner.get()))};
}

// For RecorderOptions::release_owners: takes the lock once for all of them.
void release(std::vector<std::shared_ptr<const void>>&& owners);

// A scope without the interpreter's lock. Once the interpreter ends it never takes the lock again: CPython would end
// the thread there by unwinding its stack, which C++ frames do not survive. The thread sleeps until the process is
// gone.
class Unlocked {
 public:
  Unlocked() noexcept;
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked();

 private:
  PyThreadState* state_;
};

// The interpreter ends: from now on objects are kept for ever. Returns when no thread is about to take the lock again,
// or after two seconds.
void stop_releasing() noexcept;
bool releasing() noexcept;

}  // namespace sonde::python
