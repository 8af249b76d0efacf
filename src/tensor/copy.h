// Copies of views.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sonde/tensor.h"

namespace sonde::tensor {

// Bytes that the elements of a valid view take when dense.
inline std::size_t byte_size(const TensorView& view) noexcept {
  return static_cast<std::size_t>(view.size()) * size_of(view.dtype);
}

// Writes the elements of a valid view to `out` (byte_size bytes), dense and row-major.
void copy_dense(const TensorView& view, void* out) noexcept;

// The same for another processor to read, if `out` is aligned to 16 bytes: large tensors bypass the cache, from which
// they would evict the caller's data, and need not be fetched from the other processor's cache first.
void copy_dense_past_cache(const TensorView& view, void* out) noexcept;

// A reference to a callable for for_each_run, so that nothing is allocated for it.
class RunBody {
 public:
  template <class Body>
  RunBody(const Body& body) noexcept  // NOLINT(google-explicit-constructor): stands for the callable itself
      : body_(&body), call_([](const void* of, const std::byte* at, std::int64_t count, std::int64_t stride) {
          (*static_cast<const Body*>(of))(at, count, stride);
        }) {}
  void operator()(const std::byte* at, std::int64_t count, std::int64_t stride) const {
    call_(body_, at, count, stride);
  }

 private:
  const void* body_;
  void (*call_)(const void* body, const std::byte* at, std::int64_t count, std::int64_t stride);
};

// Calls `run(pointer, count, stride)` over the elements of a valid view in row-major order, with runs along the
// innermost axis, joined where memory allows: a dense view is one run with stride 1.
void for_each_run(const TensorView& view, const RunBody& run);

}  // namespace sonde::tensor
