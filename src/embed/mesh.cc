#include "embed/mesh.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

#include "embed/kernels.h"

namespace sonde::embed {
namespace {

constexpr float kWidest = 0.5F;  // distance of two nodes; the kernel's width is 1
constexpr float kFinest = 0.125F;
constexpr float kManyNodes = 200;      // up to which the distance is halved
constexpr std::size_t kMargin = 8;     // nodes around the points: splines reach 2, and deconvolution some more
constexpr std::size_t kBand = 8;       // rows of the mesh in one task; splines reach over 4
constexpr std::size_t kPoints = 1024;  // points in one task
constexpr std::size_t kB = kFftBatch;

// The weights of the four nodes around a point at `t` between the second and the third, and their derivatives.
struct Spline {
  float value[4];
  float slope[4];
};
inline Spline spline_at(float t) {
  const float r = 1 - t;
  const float t2 = t * t;
  const float r2 = r * r;
  Spline spline;
  spline.value[0] = r2 * r / 6;
  spline.value[1] = (4 - 6 * t2 + 3 * t2 * t) / 6;
  spline.value[2] = (4 - 6 * r2 + 3 * r2 * r) / 6;
  spline.value[3] = t2 * t / 6;
  spline.slope[0] = -r2 / 2;
  spline.slope[1] = (3 * t2 - 4 * t) / 2;
  spline.slope[2] = (4 * r - 3 * r2) / 2;
  spline.slope[3] = t2 / 2;
  return spline;
}

// How the weights of a point overlap with themselves, moved by 0 to 3 nodes in both directions; and the same with the
// slopes for the point's own end.
struct Overlap {
  float value[4];
  float slope[4];
};
inline Overlap overlap_of(const Spline& spline) {
  Overlap overlap;
  for (std::size_t lag = 0; lag < 4; ++lag) {
    float value = 0;
    float slope = 0;
    for (std::size_t a = 0; a + lag < 4; ++a) {
      value += spline.value[a] * spline.value[a + lag];
      slope += spline.slope[a] * spline.value[a + lag];
      if (lag > 0) slope += spline.slope[a + lag] * spline.value[a];
    }
    overlap.value[lag] = lag > 0 ? 2 * value : value;
    overlap.slope[lag] = slope;
  }
  return overlap;
}

struct Place {
  std::size_t node;  // the first of the four
  float t;
};
inline Place place_of(float y, float origin, float nodes_per_unit) {
  const float u = (y - origin) * nodes_per_unit;
  const float base = std::floor(u);
  return {static_cast<std::size_t>(base) - 1, u - base};
}

std::size_t next_size(std::size_t least) {
  for (std::size_t size = 128;; size *= 2) {
    if (size >= least) return size;
    if (size / 2 * 3 >= least) return size / 2 * 3;
  }
}

}  // namespace

BatchFft::BatchFft(std::size_t length) : length_(length) {
  std::size_t left = length;
  std::size_t stride = 1;
  while (left > 1) {
    const std::size_t radix = left % 3 == 0 ? 3 : left % 4 == 0 ? 4 : 2;
    Stage stage{radix, left, stride, {}};
    for (std::size_t p = 0; p < left / radix; ++p) {
      for (std::size_t r = 1; r < radix; ++r) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(p * r) / static_cast<double>(left);
        stage.twiddles.push_back(static_cast<float>(std::cos(angle)));
        stage.twiddles.push_back(static_cast<float>(std::sin(angle)));
      }
    }
    stages_.push_back(std::move(stage));
    left /= radix;
    stride *= radix;
  }
}

void BatchFft::run(float* re, float* im, float* scratch) const noexcept {
  float* from[2] = {re, im};
  float* to[2] = {scratch, scratch + length_ * kB};
  for (const Stage& stage : stages_) {
    fft_stage({stage.radix, stage.length, stage.stride, stage.twiddles.data()}, from[0], from[1], to[0], to[1]);
    std::swap(from, to);
  }
  if (from[0] == re) return;
  std::memcpy(re, from[0], length_ * kB * sizeof(float));
  std::memcpy(im, from[1], length_ * kB * sizeof(float));
}

void RepulsionMesh::resize(float extent) {
  float spacing = kWidest;
  while (spacing > kFinest && extent / spacing * 2 <= kManyNodes) spacing /= 2;
  const std::size_t size = next_size(2 * (static_cast<std::size_t>(extent / spacing) + 2 * kMargin + 2));
  if (size == size_ && spacing == spacing_) return;
  size_ = size;
  spacing_ = spacing;
  nodes_ = size / 2;
  fft_.clear();
  fft_.emplace_back(size_);
  mesh_.assign(nodes_ * nodes_, 0);
  make_kernel();
  make_own_potential();
}

void RepulsionMesh::make_own_potential() {
  const std::size_t middle = nodes_ / 2;
  mesh_[middle * nodes_ + middle] = 1;
  transform_columns(mesh_.data(), nodes_, nodes_);
  convolve();
  transform_back();
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) own_[i][j] = mesh_[(middle + i) * nodes_ + middle + j];
  }
}

// The kernel at the nodes, deconvolved by the splines of spreading and gathering: the splines then interpolate it.
void RepulsionMesh::make_kernel() {
  const std::size_t blocks = (size_ / 2 + 1 + kB - 1) / kB;
  std::vector<float> sampled(size_ * size_);
  const auto square_of = [&](std::size_t at) {
    const double distance = static_cast<double>(std::min(at, size_ - at)) * static_cast<double>(spacing_);
    return distance * distance;
  };
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t j = 0; j < size_; ++j) {
      sampled[i * size_ + j] = static_cast<float>(1 / (1 + square_of(i) + square_of(j)));
    }
  }
  spectrum_re_.assign(blocks * size_ * kB, 0);
  spectrum_im_.assign(blocks * size_ * kB, 0);
  transform_columns(sampled.data(), size_, size_);
  std::vector<double> spline(size_);
  for (std::size_t k = 0; k < size_; ++k) {
    const double value =
        (4 + 2 * std::cos(2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size_))) / 6;
    spline[k] = value * value;
  }
  kernel_.assign(blocks * size_ * kB, 0);
  const double scale = 1 / (static_cast<double>(size_) * static_cast<double>(size_));
  pool_.run(blocks, [&](std::size_t block) {
    std::vector<float> scratch(2 * size_ * kB);
    float* re = spectrum_re_.data() + block * size_ * kB;
    float* im = spectrum_im_.data() + block * size_ * kB;
    fft_[0].run(re, im, scratch.data());
    for (std::size_t kx = 0; kx < size_; ++kx) {
      for (std::size_t l = 0; l < kB; ++l) {
        const std::size_t ky = std::min(block * kB + l, size_ / 2);
        kernel_[(block * size_ + kx) * kB + l] =
            static_cast<float>(static_cast<double>(re[kx * kB + l]) * scale / (spline[kx] * spline[ky]));
      }
    }
  });
  spectrum_re_.assign(blocks * nodes_ * kB, 0);
  spectrum_im_.assign(blocks * nodes_ * kB, 0);
}

// Two blocks of real columns make one block of complex ones, whose spectra are told apart by their symmetry.
void RepulsionMesh::transform_columns(const float* from, std::size_t span, std::size_t stride) {
  const std::size_t half = size_ / 2;
  pool_.run(span / (2 * kB), [&](std::size_t pair) {
    std::vector<float> memory(4 * size_ * kB);
    float* re = memory.data();
    float* im = re + size_ * kB;
    const std::size_t x = pair * 2 * kB;
    for (std::size_t y = 0; y < span; ++y) {
      std::copy_n(from + y * stride + x, kB, re + y * kB);
      std::copy_n(from + y * stride + x + kB, kB, im + y * kB);
    }
    fft_[0].run(re, im, im + size_ * kB);
    for (std::size_t k = 0; k <= half; ++k) {
      const float* a_re = re + k * kB;
      const float* a_im = im + k * kB;
      const float* b_re = re + (size_ - k) % size_ * kB;
      const float* b_im = im + (size_ - k) % size_ * kB;
      float* to_re = spectrum_re_.data() + (k / kB * span + x) * kB + k % kB;
      float* to_im = spectrum_im_.data() + (k / kB * span + x) * kB + k % kB;
      for (std::size_t l = 0; l < kB; ++l) {
        to_re[l * kB] = 0.5F * (a_re[l] + b_re[l]);
        to_im[l * kB] = 0.5F * (a_im[l] - b_im[l]);
        to_re[(l + kB) * kB] = 0.5F * (a_im[l] + b_im[l]);
        to_im[(l + kB) * kB] = 0.5F * (b_re[l] - a_re[l]);
      }
    }
  });
}

void RepulsionMesh::convolve() {
  pool_.run((size_ / 2 + 1 + kB - 1) / kB, [&](std::size_t block) {
    std::vector<float> memory(4 * size_ * kB);
    float* re = memory.data();
    float* im = re + size_ * kB;
    float* scratch = im + size_ * kB;
    float* kept_re = spectrum_re_.data() + block * nodes_ * kB;
    float* kept_im = spectrum_im_.data() + block * nodes_ * kB;
    std::copy_n(kept_re, nodes_ * kB, re);
    std::copy_n(kept_im, nodes_ * kB, im);
    fft_[0].run(re, im, scratch);
    const float* kernel = kernel_.data() + block * size_ * kB;
    for (std::size_t i = 0; i < size_ * kB; ++i) {
      re[i] *= kernel[i];
      im[i] *= kernel[i];
    }
    fft_[0].run(im, re, scratch);
    std::copy_n(re, nodes_ * kB, kept_re);
    std::copy_n(im, nodes_ * kB, kept_im);
  });
}

void RepulsionMesh::transform_back() {
  const std::size_t half = size_ / 2;
  pool_.run(nodes_ / (2 * kB), [&](std::size_t pair) {
    std::vector<float> memory(4 * size_ * kB);
    float* re = memory.data();
    float* im = re + size_ * kB;
    const std::size_t x = pair * 2 * kB;
    for (std::size_t k = 0; k <= half; ++k) {
      const float* from_re = spectrum_re_.data() + (k / kB * nodes_ + x) * kB + k % kB;
      const float* from_im = spectrum_im_.data() + (k / kB * nodes_ + x) * kB + k % kB;
      const std::size_t other = (size_ - k) % size_;
      for (std::size_t l = 0; l < kB; ++l) {
        const float a_re = from_re[l * kB];
        const float a_im = from_im[l * kB];
        const float b_re = from_re[(l + kB) * kB];
        const float b_im = from_im[(l + kB) * kB];
        re[k * kB + l] = a_re - b_im;
        im[k * kB + l] = a_im + b_re;
        re[other * kB + l] = a_re + b_im;
        im[other * kB + l] = b_re - a_im;
      }
    }
    fft_[0].run(im, re, im + size_ * kB);
    for (std::size_t y = 0; y < nodes_; ++y) {
      std::copy_n(re + y * kB, kB, mesh_.data() + y * nodes_ + x);
      std::copy_n(im + y * kB, kB, mesh_.data() + y * nodes_ + x + kB);
    }
  });
}

// By the first row of the mesh that a point touches, in the order of the points within a row.
void RepulsionMesh::sort_points(const float* const* y, std::size_t count) {
  row_begin_.assign(nodes_ + 1, 0);
  order_.resize(count);
  for (std::size_t i = 0; i < count; ++i) ++row_begin_[place_of(y[1][i], origin_[1], 1 / spacing_).node + 1];
  for (std::size_t row = 0; row < nodes_; ++row) row_begin_[row + 1] += row_begin_[row];
  std::vector<std::uint32_t> next(row_begin_.begin(), row_begin_.end() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    order_[next[place_of(y[1][i], origin_[1], 1 / spacing_).node]++] = static_cast<std::uint32_t>(i);
  }
}

// Bands with even numbers first, then the odd ones: no two tasks touch the same node, and every sum has its order.
void RepulsionMesh::spread(const float* const* y) {
  std::ranges::fill(mesh_, 0.0F);
  const std::size_t bands = (nodes_ + kBand - 1) / kBand;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    pool_.run((bands - parity + 1) / 2, [&](std::size_t task) {
      const std::size_t first = (2 * task + parity) * kBand;
      const std::size_t last = std::min(nodes_, first + kBand);
      for (std::size_t at = row_begin_[first]; at < row_begin_[last]; ++at) {
        const std::uint32_t i = order_[at];
        const Place px = place_of(y[0][i], origin_[0], 1 / spacing_);
        const Place py = place_of(y[1][i], origin_[1], 1 / spacing_);
        const Spline sx = spline_at(px.t);
        const Spline sy = spline_at(py.t);
        float* node = mesh_.data() + py.node * nodes_ + px.node;
        for (std::size_t r = 0; r < 4; ++r, node += nodes_) {
          for (std::size_t c = 0; c < 4; ++c) node[c] += sy.value[r] * sx.value[c];
        }
      }
    });
  }
}

double RepulsionMesh::gather(const float* const* y, std::size_t count, float* const* force) {
  std::vector<double> sums((count + kPoints - 1) / kPoints);
  pool_.run(sums.size(), [&](std::size_t task) {
    const std::size_t last = std::min(count, (task + 1) * kPoints);
    double sum = 0;
    for (std::size_t at = task * kPoints; at < last; ++at) {
      const std::uint32_t i = order_[at];
      const Place px = place_of(y[0][i], origin_[0], 1 / spacing_);
      const Place py = place_of(y[1][i], origin_[1], 1 / spacing_);
      const Spline sx = spline_at(px.t);
      const Spline sy = spline_at(py.t);
      const float* node = mesh_.data() + py.node * nodes_ + px.node;
      float value[4] = {0, 0, 0, 0};
      float slope[4] = {0, 0, 0, 0};
      for (std::size_t r = 0; r < 4; ++r, node += nodes_) {
        for (std::size_t c = 0; c < 4; ++c) {
          value[c] += sy.value[r] * node[c];
          slope[c] += sy.slope[r] * node[c];
        }
      }
      float potential = 0;
      float along_x = 0;
      float along_y = 0;
      for (std::size_t c = 0; c < 4; ++c) {
        potential += value[c] * sx.value[c];
        along_x += value[c] * sx.slope[c];
        along_y += slope[c] * sx.value[c];
      }
      const Overlap ox = overlap_of(sx);
      const Overlap oy = overlap_of(sy);
      for (std::size_t r = 0; r < 4; ++r) {
        float row = 0;
        float row_slope = 0;
        for (std::size_t c = 0; c < 4; ++c) {
          row += own_[r][c] * ox.value[c];
          row_slope += own_[r][c] * ox.slope[c];
        }
        potential -= oy.value[r] * row;
        along_x -= oy.value[r] * row_slope;
        along_y -= oy.slope[r] * row;
      }
      sum += static_cast<double>(potential);
      force[0][i] = -0.5F * along_x / spacing_;
      force[1][i] = -0.5F * along_y / spacing_;
    }
    sums[task] = sum;
  });
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

double RepulsionMesh::repel(const float* const* y, std::size_t count, float* const* force) {
  float extent = 0;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const auto [low, high] = std::minmax_element(y[axis], y[axis] + count);
    origin_[axis] = *low;
    extent = std::max(extent, *high - *low);
  }
  resize(extent);
  for (float& origin : origin_) origin -= static_cast<float>(kMargin) * spacing_;
  sort_points(y, count);
  spread(y);
  transform_columns(mesh_.data(), nodes_, nodes_);
  convolve();
  transform_back();
  return gather(y, count, force);
}

}  // namespace sonde::embed
