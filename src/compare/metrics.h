// How far two tensors are apart.
//
// One pass in blocks, in double precision, shared by several threads in parts of a fixed size: the result is the same,
// to the bit, for any number of threads. B is the reference of everything relative.
//
// A pair of values is equal if both are the same number (0 and -0 are) or both NaN. Values that are not finite take no
// part in the sums and the largest differences; whether they are at the same places is counted apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/task_pool.h"
#include "compare/kernels.h"
#include "sonde/status.h"
#include "sonde/tensor.h"

namespace sonde::compare {

struct Metrics {
  std::uint64_t count = 0;      // pairs; a complex number is two
  std::uint64_t different = 0;  // pairs that are not equal
  std::uint64_t outside = 0;    // pairs outside the limits, those with different non-finite values included
  std::uint64_t finite = 0;     // pairs of finite values
  std::uint64_t non_finite_a = 0;
  std::uint64_t non_finite_b = 0;
  std::uint64_t non_finite_differ = 0;  // pairs that are not equal and not both finite

  // Sums over pairs of finite values. Squares of the largest doubles fit.
  long double squares = 0;  // of a - b
  long double squares_a = 0;
  long double squares_b = 0;
  long double product = 0;

  double max_abs = 0;
  double max_rel = 0;                    // |a - b| / |b|; infinite where only b is 0
  double max_excess = 0;                 // the rtol that would pass, with the atol of the limits
  std::optional<std::uint64_t> max_ulp;  // of the type that is compared; none for integers
  std::int64_t worst = -1;               // row-major index of a pair with max_abs; -1: no pair differs

  bool equal() const noexcept { return different == 0; }
  // ||a - b|| / ||b||; 0 if both are 0, infinite if only b is.
  double norm_relative() const noexcept;
  double rmse() const noexcept;
  // 1 if both are 0.
  double cosine() const noexcept;
  // Signal (b) to noise (a - b) in dB; infinite if there is no noise.
  double sqnr() const noexcept;

  // Adds what follows these pairs.
  void merge(const Metrics& other) noexcept;
};

// The type in which two types are compared: the smaller one, since the larger one has digits that the other cannot
// have. Integers of different types, and integers with floats, are compared as numbers, in f64.
DType common_type(DType a, DType b) noexcept;
// "A cast from f32 to f16"; empty if the types are the same.
std::string cast_text(DType a, DType b);

constexpr bool is_float(DType dtype) noexcept { return dtype >= DType::f8_e4m3 && dtype <= DType::f64; }

// A dense copy in another type of floating-point numbers, rounded to nearest.
Tensor rounded_to(DType type, const TensorView& view);

// Both must be valid and of the same shape; strided ones are copied. Complex numbers only with each other.
Result<Metrics> measure(const TensorView& a, const TensorView& b, const Limits& limits, base::TaskPool& pool);

}  // namespace sonde::compare
