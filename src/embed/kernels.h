// The inner loops of this module, compiled for each instruction set and chosen at run time. Threads: pure functions of
// their arguments.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde::embed {

// ---- Products of matrices. A packed matrix consists of panels of panel_width() columns, each stored row by row:
// column j of row k is at packed[(j / width) * depth * width + k * width + j % width]. The last panel ends in zeros.

std::size_t panel_width() noexcept;  // a multiple of 4

// c[i - first][j - first_b] (+)= sum over k < depth of a[k][i] * b[k][j], for first <= i < last, and j in the panels
// from first_panel up to last_panel, first_b being the first column of these. `first` and `last` are multiples of 4.
struct ProductRange {
  std::size_t depth = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t first_panel = 0;
  std::size_t last_panel = 0;
};
void multiply(const float* a, const float* b, const ProductRange& range, float* c, std::size_t stride,
              bool add) noexcept;

float dot(const float* a, const float* b, std::size_t count) noexcept;
float squared_distance(const float* a, const float* b, std::size_t count) noexcept;
// to[i] += factor * from[i]
void add_scaled(float* to, const float* from, float factor, std::size_t count) noexcept;
void add_scaled(double* to, const double* from, double factor, std::size_t count) noexcept;
double dot(const double* a, const double* b, std::size_t count) noexcept;

// Appends the index, plus `base`, of each j < count with squares[j] - 2 * products[j] < limit to `found`, which has
// room for all, and the value to `values`. Returns how many.
std::size_t take_below(const float* products, const float* squares, std::size_t count, float limit, std::uint32_t base,
                       std::uint32_t* found, float* values) noexcept;

// ---- Forces of t-SNE. Coordinates are columns: y[axis][point].
inline constexpr std::size_t kMostDims = 3;
inline constexpr std::size_t kEdgeBlock = 16;  // a row's edges come in multiples of this, filled up with weight 0

// The sum over the edges of weight * q * (y_i - y_j), q = 1 / (1 + |y_i - y_j|^2).
void attract(const float* const* y, std::size_t dims, std::size_t point, const std::uint32_t* to, const float* weight,
             std::size_t edges, float* force) noexcept;
// The sums over all other points of q^2 * (y_i - y_j), and of q, which is returned.
double repel(const float* const* y, std::size_t dims, std::size_t count, std::size_t point, float* force) noexcept;

// ---- Fourier transforms of kFftBatch columns at once: element e of column l is at re[e * kFftBatch + l].
inline constexpr std::size_t kFftBatch = 16;
struct FftStage {
  std::size_t radix = 2;
  std::size_t length = 0;      // of the transforms that this stage divides
  std::size_t stride = 1;      // number of them
  const float* twiddles = {};  // for each p below length / radix: cos and -sin of p, 2p, ...
};
// From (re, im) to (out_re, out_im).
void fft_stage(const FftStage& stage, const float* re, const float* im, float* out_re, float* out_im) noexcept;

}  // namespace sonde::embed
