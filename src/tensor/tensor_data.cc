#include "tensor/tensor_data.h"

#include "tensor/copy.h"

namespace sonde::tensor {

std::optional<std::uint64_t> dense_bytes(DType dtype, const Shape& shape) noexcept {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;
  if (!shape.valid()) return std::nullopt;
  std::uint64_t bytes = size_of(dtype);
  bool empty = false;
  for (std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    empty = empty || dim == 0;
    if (dim > 0 && static_cast<std::uint64_t>(dim) > kLimit / bytes) return std::nullopt;
    if (dim > 0) bytes *= static_cast<std::uint64_t>(dim);
  }
  return empty ? 0 : bytes;
}

Shape column_major(const Shape& shape) noexcept {
  Shape strides = shape;
  std::int64_t stride = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    strides[axis] = stride;
    stride *= shape[axis] > 0 ? shape[axis] : 1;
  }
  return strides;
}

bool is_column_major(const TensorView& view) noexcept { return !view.contiguous() && transposed(view).contiguous(); }

TensorView transposed(const TensorView& view) noexcept {
  TensorView result = view;
  const int rank = view.shape.rank();
  for (int axis = 0; axis < rank; ++axis) {
    result.shape[axis] = view.shape[rank - 1 - axis];
    result.strides[axis] = view.strides[rank - 1 - axis];
  }
  return result;
}

Tensor to_tensor(const TensorView& view) {
  Tensor result{view.dtype, view.shape, std::vector<std::byte>(byte_size(view))};
  copy_dense(view, result.data.data());
  return result;
}

}  // namespace sonde::tensor
