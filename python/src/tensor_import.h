// Views of what Python has: NumPy arrays, torch tensors, and everything that speaks DLPack, the buffer protocol or
// __array__. Nothing is copied, unless the object has no memory that can be looked at (lists, numbers, big-endian
// arrays).
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>

#include "sonde/tensor.h"

namespace sonde::python {

namespace nb = nanobind;

// The view is valid as long as this lives. The interpreter's lock is needed to make and to destroy one, not to read.
class ImportedTensor {
 public:
  // Raises TypeError or ValueError, with the name of the argument, for what is no tensor in this machine's memory.
  ImportedTensor(nb::handle object, const char* argument);
  // Of an object whose type offers DLPack's exchange interface, such as torch.Tensor; nothing if it does not, or if the
  // elements are not in this machine's memory.
  static std::optional<ImportedTensor> exchange(nb::handle object);
  ImportedTensor(ImportedTensor&& other) noexcept = default;
  ImportedTensor& operator=(ImportedTensor&& other) noexcept = default;
  ~ImportedTensor() = default;

  const TensorView& view() const noexcept { return view_; }
  std::int64_t bytes() const noexcept;
  // To share the memory instead of copying it: holds the object, and releases it under the interpreter's lock.
  TensorArg shared() const;

 private:
  ImportedTensor() = default;
  bool import_exchange(nb::handle object, const char* argument);
  bool import_buffer(nb::handle object, const char* argument);
  bool import_small_floats(nb::handle object, const char* argument);
  bool import_dlpack(nb::handle object, const char* argument);
  bool import_array(nb::handle object, const char* argument);

  struct ReleaseBuffer {
    void operator()(Py_buffer* buffer) const noexcept {
      PyBuffer_Release(buffer);
      delete buffer;
    }
  };

  TensorView view_;
  nb::object keeper_;
  std::unique_ptr<Py_buffer, ReleaseBuffer> buffer_;
};

}  // namespace sonde::python
