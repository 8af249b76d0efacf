// Tensors as this library sees them: memory that somebody else owns, with an element type, a shape and strides.
//
//   sonde::view(vector)                      one dimension
//   sonde::view(vector, {32, 128})           row-major; the sizes are checked against each other
//   sonde::view(pointer, {32, 128}, {1, 32}) strides in elements
//   sonde::frozen(view, owner)               shared instead of copied
#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sonde/export.h"

namespace sonde {

enum class DType : std::uint8_t {
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f8_e4m3,  // finite only: S.1111.111 is NaN, no infinities (OCP "e4m3fn")
  f8_e5m2,
  f16,
  bf16,
  f32,
  f64,
  c64,  // complex: files can hold them, but they have no order, hence no statistics
  c128,
};
inline constexpr int kDTypeCount = 17;

// "f32", "bf16", "bool", "f8_e4m3" ...
SONDE_API std::string_view to_string(DType dtype) noexcept;
// Bytes of one element.
SONDE_API std::size_t size_of(DType dtype) noexcept;

// Types without a native C++ counterpart, as their bits.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
struct Float8E4M3 {
  std::uint8_t bits;
};
struct Float8E5M2 {
  std::uint8_t bits;
};

inline constexpr int kMaxRank = 8;

// Sizes (or strides) of up to kMaxRank dimensions, held in place. More dimensions than that make it invalid, which
// every user of a view reports as an error.
class Shape {
 public:
  constexpr Shape() noexcept = default;
  constexpr Shape(std::initializer_list<std::int64_t> dims) noexcept : Shape(std::span(dims.begin(), dims.size())) {}
  constexpr explicit Shape(std::span<const std::int64_t> dims) noexcept {
    if (dims.size() > kMaxRank) {
      rank_ = -1;
      return;
    }
    for (std::int64_t dim : dims) push_back(dim);
  }

  constexpr bool valid() const noexcept { return rank_ >= 0; }
  constexpr int rank() const noexcept { return rank_ < 0 ? 0 : rank_; }
  constexpr std::int64_t operator[](int axis) const noexcept { return dims_[static_cast<std::size_t>(axis)]; }
  constexpr std::int64_t& operator[](int axis) noexcept { return dims_[static_cast<std::size_t>(axis)]; }
  constexpr const std::int64_t* begin() const noexcept { return dims_.data(); }
  constexpr const std::int64_t* end() const noexcept { return dims_.data() + rank(); }
  // Beyond kMaxRank the shape becomes invalid.
  constexpr void push_back(std::int64_t dim) noexcept {
    if (rank_ < 0 || rank_ == kMaxRank) {
      rank_ = -1;
      return;
    }
    dims_[static_cast<std::size_t>(rank_++)] = dim;
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank(); ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

namespace detail {
// Whether a product of two sizes is at most 2^62. A division takes longer than the rest, and is rarely needed.
constexpr bool fits(std::int64_t a, std::int64_t b) noexcept {
  return (a | b) >> 31 == 0 || a <= (std::int64_t{1} << 62) / b;
}
}  // namespace detail

// The number of elements; 1 for rank 0, -1 if a size is negative, the shape invalid or the product over 2^62.
constexpr std::int64_t element_count(const Shape& shape) noexcept {
  if (!shape.valid()) return -1;
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t dim : shape) {
    if (dim < 0) return -1;
    if (dim == 0) empty = true;
    if (!empty && !detail::fits(count, dim)) return -1;
    if (!empty) count *= dim;
  }
  return empty ? 0 : count;
}
// Strides, in elements, of a dense row-major tensor.
constexpr Shape row_major(const Shape& shape) noexcept {
  if (element_count(shape) < 0) return {};  // an impossible shape has none
  Shape strides = shape;
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    // An empty tensor may have sizes whose product is too large; its strides are never used.
    if (shape[axis] > 0 && detail::fits(stride, shape[axis])) stride *= shape[axis];
  }
  return strides;
}

// Memory that belongs to the caller. Copying a view copies no data.
struct TensorView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape = {0};
  Shape strides = {1};  // in elements; zero (broadcast) and negative strides are allowed
  // Set if the view was made from a range whose length does not match the shape. Such a view is never read.
  bool mismatched = false;

  std::int64_t size() const noexcept { return element_count(shape); }
  // True if the data pointer is set (or there are no elements), and shape and strides agree.
  bool valid() const noexcept {
    const std::int64_t count = size();
    return !mismatched && count >= 0 && strides.valid() && strides.rank() == shape.rank() &&
           static_cast<int>(dtype) < kDTypeCount && (data != nullptr || count == 0);
  }
  // Dense and row-major.
  bool contiguous() const noexcept {
    std::int64_t expected = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (shape[axis] == 0) return true;
      if (shape[axis] != 1 && strides[axis] != expected) return false;
      expected *= shape[axis];
    }
    return true;
  }
};

namespace detail {
template <class T>
struct DTypeOf;
template <DType D>
struct DTypeIs {
  static constexpr DType value = D;
};
template <>
struct DTypeOf<bool> : DTypeIs<DType::boolean> {};
template <>
struct DTypeOf<float> : DTypeIs<DType::f32> {};
template <>
struct DTypeOf<double> : DTypeIs<DType::f64> {};
template <>
struct DTypeOf<Float16> : DTypeIs<DType::f16> {};
template <>
struct DTypeOf<BFloat16> : DTypeIs<DType::bf16> {};
template <>
struct DTypeOf<Float8E4M3> : DTypeIs<DType::f8_e4m3> {};
template <>
struct DTypeOf<Float8E5M2> : DTypeIs<DType::f8_e5m2> {};
template <>
struct DTypeOf<std::complex<float>> : DTypeIs<DType::c64> {};
template <>
struct DTypeOf<std::complex<double>> : DTypeIs<DType::c128> {};
template <std::integral T>
struct DTypeOf<T> {
  static constexpr DType value = std::is_signed_v<T> ? (sizeof(T) == 1   ? DType::i8
                                                        : sizeof(T) == 2 ? DType::i16
                                                        : sizeof(T) == 4 ? DType::i32
                                                                         : DType::i64)
                                                     : (sizeof(T) == 1   ? DType::u8
                                                        : sizeof(T) == 2 ? DType::u16
                                                        : sizeof(T) == 4 ? DType::u32
                                                                         : DType::u64);
};
}  // namespace detail

// A C++ type that can be an element of a tensor.
template <class T>
concept Element = requires { detail::DTypeOf<std::remove_cv_t<T>>::value; };

template <Element T>
inline constexpr DType dtype_of = detail::DTypeOf<std::remove_cv_t<T>>::value;

// A view of memory whose extent only the caller knows.
inline TensorView view(const void* data, DType dtype, const Shape& shape) noexcept {
  return {data, dtype, shape, row_major(shape)};
}
inline TensorView view(const void* data, DType dtype, const Shape& shape, const Shape& strides) noexcept {
  return {data, dtype, shape, strides};
}

template <Element T>
TensorView view(const T* data, const Shape& shape) noexcept {
  return view(static_cast<const void*>(data), dtype_of<T>, shape);
}
template <Element T>
TensorView view(const T* data, const Shape& shape, const Shape& strides) noexcept {
  return view(static_cast<const void*>(data), dtype_of<T>, shape, strides);
}

// A view of a vector, array or span.
template <std::ranges::contiguous_range R>
  requires std::ranges::sized_range<R> && Element<std::ranges::range_value_t<R>>
TensorView view(const R& range) noexcept {
  return view(std::ranges::data(range), Shape{static_cast<std::int64_t>(std::ranges::size(range))});
}
template <std::ranges::contiguous_range R>
  requires std::ranges::sized_range<R> && Element<std::ranges::range_value_t<R>>
TensorView view(const R& range, const Shape& shape) noexcept {
  TensorView result = view(std::ranges::data(range), shape);
  result.mismatched = element_count(shape) != static_cast<std::int64_t>(std::ranges::size(range));
  return result;
}

// What the recorder takes: a view, which it copies before the call returns, or a frozen one, which it shares.
struct TensorArg {
  TensorArg(const TensorView& copied) : view(copied) {}
  TensorArg(const TensorView& shared, std::shared_ptr<const void> keeps_alive)
      : view(shared), owner(std::move(keeps_alive)) {}

  TensorView view;
  std::shared_ptr<const void> owner;  // null: copy
};

// Shares the memory instead of copying it. The caller promises that nothing writes to it until the owner is released;
// to hold the owner is not enough, since the tensor can still be overwritten in place. The owner is released on a
// thread that records something or begins a step (or in flush and close), never on the backend.
inline TensorArg frozen(const TensorView& view, std::shared_ptr<const void> owner) { return {view, std::move(owner)}; }

// A tensor that owns its elements: what reading a file returns.
struct Tensor {
  DType dtype = DType::f32;
  Shape shape = {0};
  std::vector<std::byte> data;  // dense, row-major, in this machine's byte order

  // Valid as long as the tensor lives and its data are not resized.
  TensorView view() const noexcept { return sonde::view(data.data(), dtype, shape); }
};

}  // namespace sonde
