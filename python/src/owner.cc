#include "owner.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace sonde::python {
namespace {

std::atomic<bool> ending{false};
std::atomic<int> unlocked{0};  // threads in an Unlocked scope; a forked child has none of them
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] { unlocked.store(0); });

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

Unlocked::Unlocked() noexcept : state_(nullptr) {
  unlocked.fetch_add(1);
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  if (ending.load()) {
    unlocked.fetch_sub(1);
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  PyEval_RestoreThread(state_);
  unlocked.fetch_sub(1);
}

void stop_releasing() noexcept {
  ending.store(true);
  // Without the lock, so that who waits for it gets it.
  PyThreadState* state = PyEval_SaveThread();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (unlocked.load() > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  PyEval_RestoreThread(state);
}
bool releasing() noexcept { return !ending.load(std::memory_order_acquire); }

}  // namespace sonde::python
