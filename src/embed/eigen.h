// The largest eigenvalues of a symmetric operator, and all of a small matrix. All in double precision, and
// deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sonde::embed {

// By descending value; vector k is at vectors[k * size], of length 1, and its largest component is positive, so that
// equal inputs give equal pictures.
struct Eigen {
  std::size_t size = 0;
  std::vector<double> values;
  std::vector<double> vectors;
};

// Of a symmetric matrix, row-major.
Eigen eigen_of(std::vector<double> matrix, std::size_t size);

// out = A * in, for `count` vectors, one after the other.
using Operator = std::function<void(const double* in, std::size_t count, double* out)>;

// The `wanted` largest of a positive semi-definite operator: block Krylov subspaces with full orthogonalisation, which
// find equal eigenvalues too, restarted until the residuals are below 1e-9 of the largest value. `wanted` is at most
// `size`.
Eigen largest_eigen(const Operator& apply, std::size_t size, std::size_t wanted, std::uint64_t seed);

}  // namespace sonde::embed
