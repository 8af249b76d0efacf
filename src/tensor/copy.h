// Copies of views.
#pragma once

#include <cstddef>
#include <functional>

#include "sonde/tensor.h"

namespace sonde {

// Bytes that the elements of a valid view take when dense.
inline std::size_t byte_size(const TensorView& view) noexcept {
  return static_cast<std::size_t>(view.size()) * size_of(view.dtype);
}

// Writes the elements of a valid view to `out` (byte_size bytes), dense and row-major.
void copy_dense(const TensorView& view, void* out) noexcept;

// Calls `run(pointer, count, stride)` over the elements of a valid view in row-major order, with runs along the
// innermost axis, joined where memory allows: a dense view is one run with stride 1.
void for_each_run(const TensorView& view,
                  const std::function<void(const std::byte*, std::int64_t count, std::int64_t stride)>& run);

}  // namespace sonde
