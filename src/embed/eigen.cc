#include "embed/eigen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "embed/kernels.h"
#include "embed/points.h"

namespace sonde::embed {
namespace {

// Householder reduction to tridiagonal form, then the implicit QL iteration: the classical algorithms.
struct Tridiagonal {
  std::size_t size;
  std::vector<double>& z;  // the matrix, then the eigenvectors as columns
  std::vector<double> diagonal;
  std::vector<double> below;

  Tridiagonal(std::vector<double>& matrix, std::size_t n) : size(n), z(matrix), diagonal(n), below(n) {
    for (std::size_t i = n; i-- > 1;) reduce(i);
    diagonal[0] = 0;
    below[0] = 0;
    for (std::size_t i = 0; i < n; ++i) accumulate(i);
  }

  double& at(std::size_t i, std::size_t j) { return z[i * size + j]; }

  void reduce(std::size_t i) {
    double h = 0;
    double scale = 0;
    for (std::size_t k = 0; k < i; ++k) scale += std::abs(at(i, k));
    if (i == 1 || scale == 0) {
      below[i] = at(i, i - 1);
      diagonal[i] = 0;
      return;
    }
    for (std::size_t k = 0; k < i; ++k) {
      at(i, k) /= scale;
      h += at(i, k) * at(i, k);
    }
    double f = at(i, i - 1);
    const double g = f >= 0 ? -std::sqrt(h) : std::sqrt(h);
    below[i] = scale * g;
    h -= f * g;
    at(i, i - 1) = f - g;
    f = 0;
    for (std::size_t j = 0; j < i; ++j) {
      at(j, i) = at(i, j) / h;
      double sum = 0;
      for (std::size_t k = 0; k <= j; ++k) sum += at(j, k) * at(i, k);
      for (std::size_t k = j + 1; k < i; ++k) sum += at(k, j) * at(i, k);
      below[j] = sum / h;
      f += below[j] * at(i, j);
    }
    const double half = f / (h + h);
    for (std::size_t j = 0; j < i; ++j) {
      const double first = at(i, j);
      const double second = below[j] - half * first;
      below[j] = second;
      for (std::size_t k = 0; k <= j; ++k) at(j, k) -= first * below[k] + second * at(i, k);
    }
    diagonal[i] = h;
  }

  void accumulate(std::size_t i) {
    if (diagonal[i] != 0) {
      for (std::size_t j = 0; j < i; ++j) {
        double g = 0;
        for (std::size_t k = 0; k < i; ++k) g += at(i, k) * at(k, j);
        for (std::size_t k = 0; k < i; ++k) at(k, j) -= g * at(k, i);
      }
    }
    diagonal[i] = at(i, i);
    at(i, i) = 1;
    for (std::size_t j = 0; j < i; ++j) at(j, i) = at(i, j) = 0;
  }

  void iterate() {
    for (std::size_t i = 1; i < size; ++i) below[i - 1] = below[i];
    below[size - 1] = 0;
    for (std::size_t l = 0; l < size; ++l) {
      for (int round = 0; round < 60; ++round) {
        const std::size_t m = small_from(l);
        if (m == l) break;
        shift(l, m);
      }
    }
  }

  // The first negligible element from `l` on.
  std::size_t small_from(std::size_t l) const {
    std::size_t m = l;
    for (; m + 1 < size; ++m) {
      const double around = std::abs(diagonal[m]) + std::abs(diagonal[m + 1]);
      if (std::abs(below[m]) <= std::numeric_limits<double>::epsilon() * around) break;
    }
    return m;
  }

  void shift(std::size_t l, std::size_t m) {
    double g = (diagonal[l + 1] - diagonal[l]) / (2 * below[l]);
    double r = std::hypot(g, 1.0);
    g = diagonal[m] - diagonal[l] + below[l] / (g + std::copysign(r, g));
    double s = 1;
    double c = 1;
    double p = 0;
    for (std::size_t i = m; i-- > l;) {
      double f = s * below[i];
      const double b = c * below[i];
      r = std::hypot(f, g);
      below[i + 1] = r;
      if (r == 0) {
        diagonal[i + 1] -= p;
        below[m] = 0;
        return;
      }
      s = f / r;
      c = g / r;
      g = diagonal[i + 1] - p;
      r = (diagonal[i] - g) * s + 2 * c * b;
      p = s * r;
      diagonal[i + 1] = g + p;
      g = c * r - b;
      for (std::size_t k = 0; k < size; ++k) {
        f = at(k, i + 1);
        at(k, i + 1) = s * at(k, i) + c * f;
        at(k, i) = c * at(k, i) - s * f;
      }
    }
    diagonal[l] -= p;
    below[l] = g;
    below[m] = 0;
  }
};

void make_largest_positive(double* vector, std::size_t size) {
  const auto* largest =
      std::max_element(vector, vector + size, [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (*largest >= 0) return;
  for (std::size_t i = 0; i < size; ++i) vector[i] = -vector[i];
}

// An orthonormal basis that grows.
class Basis {
 public:
  Basis(std::size_t size, std::uint64_t seed) : size_(size), random_(seed) {}
  std::size_t count() const { return vectors_.size() / size_; }
  const double* vector(std::size_t at) const { return vectors_.data() + at * size_; }

  // Adds the part of `from` that is orthogonal to the basis; a random direction if nothing is left of it.
  void add(const double* from) {
    std::vector<double> made(from, from + size_);
    const double before = std::sqrt(dot(made.data(), made.data(), size_));
    double length = orthogonalize(made);
    while (!(length > 1e-10 * before) || length == 0) {
      for (double& value : made) value = random_.normal();
      const double random_length = std::sqrt(dot(made.data(), made.data(), size_));
      length = orthogonalize(made);
      if (length > 1e-6 * random_length) break;
    }
    for (double& value : made) value /= length;
    vectors_.insert(vectors_.end(), made.begin(), made.end());
  }
  void add_random() {
    std::vector<double> made(size_);
    for (double& value : made) value = random_.normal();
    add(made.data());
  }
  void replace(std::vector<double> vectors) { vectors_ = std::move(vectors); }

 private:
  double orthogonalize(std::vector<double>& made) const {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < count(); ++i) {
        add_scaled(made.data(), vector(i), -dot(vector(i), made.data(), size_), size_);
      }
    }
    return std::sqrt(dot(made.data(), made.data(), size_));
  }

  std::size_t size_;
  Random random_;
  std::vector<double> vectors_;
};

// The sum of some vectors with the given weights.
std::vector<double> combine(const double* vectors, const double* weights, std::size_t count, std::size_t size) {
  std::vector<double> sum(size);
  for (std::size_t i = 0; i < count; ++i) add_scaled(sum.data(), vectors + i * size, weights[i], size);
  return sum;
}

}  // namespace

Eigen eigen_of(std::vector<double> matrix, std::size_t size) {
  Tridiagonal reduced(matrix, size);
  reduced.iterate();
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return reduced.diagonal[i]; });
  Eigen result{size, {}, std::vector<double>(size * size)};
  for (std::size_t k = 0; k < size; ++k) {
    result.values.push_back(reduced.diagonal[order[k]]);
    for (std::size_t i = 0; i < size; ++i) result.vectors[k * size + i] = matrix[i * size + order[k]];
    make_largest_positive(&result.vectors[k * size], size);
  }
  return result;
}

Eigen largest_eigen(const Operator& apply, std::size_t size, std::size_t wanted, std::uint64_t seed) {
  constexpr double kTolerance = 1e-9;
  constexpr int kMostRestarts = 60;
  const std::size_t block = std::min(size, wanted + 3);
  const std::size_t most = std::min(size, std::max<std::size_t>(6 * block, 96));
  Basis basis(size, seed);
  std::vector<double> images;  // A times each vector of the basis
  for (std::size_t i = 0; i < block; ++i) basis.add_random();
  Eigen result{size, {}, {}};
  for (int restart = 0; restart < kMostRestarts; ++restart) {
    // Grow the subspace by the images of its newest vectors.
    for (;;) {
      const std::size_t known = images.size() / size;
      const std::size_t added = basis.count() - known;
      images.resize(basis.count() * size);
      apply(basis.vector(known), added, images.data() + known * size);
      if (basis.count() >= most) break;
      const std::size_t next = std::min(added, most - basis.count());
      for (std::size_t i = 0; i < next; ++i) basis.add(images.data() + (known + i) * size);
    }
    const std::size_t count = basis.count();
    std::vector<double> projected(count * count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        projected[i * count + j] = projected[j * count + i] = dot(basis.vector(i), images.data() + j * size, size);
      }
    }
    const Eigen small = eigen_of(std::move(projected), count);
    const std::size_t kept = std::min(count, block + 4);
    std::vector<double> ritz;
    std::vector<double> ritz_images;
    double residual = 0;
    for (std::size_t k = 0; k < kept; ++k) {
      const std::vector<double> vector = combine(basis.vector(0), &small.vectors[k * count], count, size);
      const std::vector<double> image = combine(images.data(), &small.vectors[k * count], count, size);
      if (k < wanted) {
        std::vector<double> rest = image;
        add_scaled(rest.data(), vector.data(), -small.values[k], size);
        residual = std::max(residual, std::sqrt(dot(rest.data(), rest.data(), size)));
      }
      ritz.insert(ritz.end(), vector.begin(), vector.end());
      ritz_images.insert(ritz_images.end(), image.begin(), image.end());
    }
    const bool found = residual <= kTolerance * std::abs(small.values[0]) || count == size;
    if (found || restart + 1 == kMostRestarts) {
      result.values.assign(small.values.begin(), small.values.begin() + static_cast<std::ptrdiff_t>(wanted));
      result.vectors.assign(ritz.begin(), ritz.begin() + static_cast<std::ptrdiff_t>(wanted * size));
      break;
    }
    basis.replace(std::move(ritz));
    images = std::move(ritz_images);
    for (std::size_t k = 0; k < block && basis.count() < most; ++k) {
      std::vector<double> rest(images.begin() + static_cast<std::ptrdiff_t>(k * size),
                               images.begin() + static_cast<std::ptrdiff_t>((k + 1) * size));
      add_scaled(rest.data(), basis.vector(k), -small.values[k], size);
      basis.add(rest.data());
    }
  }
  for (std::size_t k = 0; k < wanted; ++k) make_largest_positive(&result.vectors[k * size], size);
  return result;
}

}  // namespace sonde::embed
