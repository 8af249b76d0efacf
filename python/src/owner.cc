#include "owner.h"

#include <atomic>

namespace sonde::python {
namespace {

std::atomic<bool> ending{false};

}  // namespace

std::shared_ptr<const void> share(nb::handle object) {
  object.inc_ref();
  return {object.ptr(), [](const void* owned) {
            if (ending.load(std::memory_order_acquire)) return;
            const PyGILState_STATE state = PyGILState_Ensure();
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(owned)));
            PyGILState_Release(state);
          }};
}

void release(std::vector<std::shared_ptr<const void>>&& owners) {
  std::vector<std::shared_ptr<const void>> all = std::move(owners);
  if (ending.load(std::memory_order_acquire)) return;  // each of them sees it too
  const PyGILState_STATE state = PyGILState_Ensure();
  all.clear();
  PyGILState_Release(state);
}

void stop_releasing() noexcept { ending.store(true, std::memory_order_release); }
bool releasing() noexcept { return !ending.load(std::memory_order_acquire); }

}  // namespace sonde::python
