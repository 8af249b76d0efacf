// Views of Eigen's matrices and arrays, for programs that use Eigen. Optional: sonde/sonde.h does not include it, and
// the library does not need Eigen.
//
//   Eigen::MatrixXf weights(128, 64);
//   out.record(step, sonde::view(weights));                    // f32[128,64], though Eigen stores it column by column
//   out.record(step, sonde::view(weights.block(0, 0, 8, 8)));  // strided; nothing is copied here
//   out.record(step, sonde::view(weights.col(3)));             // a vector has one dimension
//   out.record(step, sonde::view((a * b).eval()));             // a computed expression must be evaluated first
//
// A view points into the memory of the matrix: it is valid as long as that matrix lives and keeps
// its size. Element types are those of sonde/tensor.h, Eigen::half (f16) and Eigen::bfloat16 (bf16).
#pragma once

#include <Eigen/Core>
#include <ranges>

#include "sonde/tensor.h"

namespace sonde {

namespace detail {
template <>
struct DTypeOf<Eigen::half> : DTypeIs<DType::f16> {};
#if EIGEN_VERSION_AT_LEAST(3, 4, 0)
template <>
struct DTypeOf<Eigen::bfloat16> : DTypeIs<DType::bf16> {};
#endif

template <class Derived>
const Derived& eigen_derived(const Eigen::DenseBase<Derived>& expression) noexcept {
  return expression.derived();
}
template <class E>
concept EigenDense = requires(const E& expression) { eigen_derived(expression); };

template <class E>
TensorView view_of_eigen(const E& expression) noexcept {
  constexpr bool has_storage = (static_cast<unsigned>(E::Flags) & static_cast<unsigned>(Eigen::DirectAccessBit)) != 0;
  constexpr bool is_element = Element<typename E::Scalar>;
  static_assert(has_storage,
                "sonde::view: this Eigen expression is computed and has no storage of its own. Evaluate it into a "
                "Matrix or Array first: sonde::view(expression.eval()).");
  static_assert(is_element, "sonde::view: tensors have no such element type; see sonde::DType.");
  if constexpr (has_storage && is_element) {
    if constexpr (E::IsVectorAtCompileTime) {
      return view(expression.data(), Shape{expression.size()}, Shape{expression.innerStride()});
    } else {
      return view(expression.data(), Shape{expression.rows(), expression.cols()},
                  Shape{expression.rowStride(), expression.colStride()});
    }
  } else {
    return {};
  }
}
}  // namespace detail

// A view of any dense Eigen expression that has storage: Matrix, Array, Map, Ref, Block, Diagonal, transposes of them.
// Shape [rows, cols], or [size] if its type is a vector.
template <detail::EigenDense E>
TensorView view(const E& expression) noexcept {
  return detail::view_of_eigen(detail::eigen_derived(expression));
}
// The same, for versions of Eigen whose vectors are contiguous ranges.
template <std::ranges::contiguous_range E>
  requires std::ranges::sized_range<E> && Element<std::ranges::range_value_t<E>> && detail::EigenDense<E>
TensorView view(const E& expression) noexcept {
  return detail::view_of_eigen(detail::eigen_derived(expression));
}

}  // namespace sonde
