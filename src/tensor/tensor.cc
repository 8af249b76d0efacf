#include "sonde/tensor.h"

#include <array>

namespace sonde {
namespace {

struct Traits {
  std::string_view name;
  std::size_t size;
};
constexpr std::array<Traits, kDTypeCount> kTraits = {{
    {"bool", 1},
    {"i8", 1},
    {"i16", 2},
    {"i32", 4},
    {"i64", 8},
    {"u8", 1},
    {"u16", 2},
    {"u32", 4},
    {"u64", 8},
    {"f8_e4m3", 1},
    {"f8_e5m2", 1},
    {"f16", 2},
    {"bf16", 2},
    {"f32", 4},
    {"f64", 8},
    {"c64", 8},
    {"c128", 16},
}};

const Traits& traits(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return kTraits[index < kTraits.size() ? index : 0];
}

}  // namespace

std::string_view to_string(DType dtype) noexcept { return traits(dtype).name; }

std::size_t size_of(DType dtype) noexcept { return traits(dtype).size; }

std::int64_t element_count(const Shape& shape) noexcept {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  if (!shape.valid()) return -1;
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t dim : shape) {
    if (dim < 0) return -1;
    if (dim == 0) empty = true;
    if (!empty && count > kLimit / dim) return -1;
    if (!empty) count *= dim;
  }
  return empty ? 0 : count;
}

Shape row_major(const Shape& shape) noexcept {
  Shape strides = shape;
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= shape[axis] > 0 ? shape[axis] : 1;
  }
  return strides;
}

bool TensorView::valid() const noexcept {
  const std::int64_t count = size();
  return !mismatched && count >= 0 && strides.valid() && strides.rank() == shape.rank() &&
         static_cast<int>(dtype) < kDTypeCount && (data != nullptr || count == 0);
}

bool TensorView::contiguous() const noexcept {
  std::int64_t expected = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 0) return true;
    if (shape[axis] != 1 && strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

TensorView view(const void* data, DType dtype, const Shape& shape) noexcept {
  // An impossible shape has no strides either; TensorView::valid refuses it.
  return {data, dtype, shape, element_count(shape) < 0 ? Shape{} : row_major(shape)};
}

TensorView view(const void* data, DType dtype, const Shape& shape, const Shape& strides) noexcept {
  return {data, dtype, shape, strides};
}

}  // namespace sonde
