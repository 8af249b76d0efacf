// The repulsion of t-SNE between many points in the plane, in time that hardly depends on their number: the points are
// spread onto a mesh by cubic B-splines, the potential sum of 1 / (1 + r^2) is one convolution by Fourier transforms,
// and the forces are its gradient, the derivative of the splines. The nodes are at least as close as half of the
// kernel's width; the number of nodes follows the extent of the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/task_pool.h"

namespace sonde::embed {

// A plan of Fourier transforms of one length, 2^a or 3 * 2^a, of kFftBatch columns at once.
class BatchFft {
 public:
  explicit BatchFft(std::size_t length);
  std::size_t length() const noexcept { return length_; }
  // Transforms `re` and `im` in place, with as much scratch memory: 2 * length * kFftBatch floats. For the inverse,
  // swap re and im; neither divides by the length.
  void run(float* re, float* im, float* scratch) const noexcept;

 private:
  struct Stage {
    std::size_t radix;
    std::size_t length;
    std::size_t stride;
    std::vector<float> twiddles;
  };
  std::size_t length_;
  std::vector<Stage> stages_;
};

class RepulsionMesh {
 public:
  explicit RepulsionMesh(base::TaskPool& pool) : pool_(pool) {}

  // force[axis][i] = the sum over all j of q^2 (y_i - y_j), q = 1 / (1 + |y_i - y_j|^2). Returns the sum of q over all
  // pairs i != j.
  double repel(const float* const* y, std::size_t count, float* const* force);

  // More than this cannot be spread onto a mesh of a reasonable size.
  static constexpr float kLargestExtent = 1800;

 private:
  void resize(float extent);
  void make_kernel();
  // The potential that a point has of itself and its gradient, which the mesh makes and repulsion does not have.
  void make_own_potential();
  void sort_points(const float* const* y, std::size_t count);
  void spread(const float* const* y);
  // Along the first axis, of `span` rows and `span` columns, to the spectrum; and back to the mesh.
  void transform_columns(const float* from, std::size_t span, std::size_t stride);
  void convolve();
  void transform_back();
  double gather(const float* const* y, std::size_t count, float* const* force);

  base::TaskPool& pool_;
  std::size_t size_ = 0;       // of the transforms: twice the mesh, so that its ends do not meet
  std::size_t nodes_ = 0;      // of the mesh, in each direction
  std::vector<BatchFft> fft_;  // one, once there is a size
  float spacing_ = 0;          // of the nodes
  float origin_[2] = {0, 0};
  std::vector<float> mesh_;         // charges, then potentials
  std::vector<float> spectrum_re_;  // [block of ky][x][ky in block]
  std::vector<float> spectrum_im_;
  std::vector<float> kernel_;         // of the same layout, with kx instead of x
  float own_[4][4] = {};              // the potential of a charge at a node, at the nodes next to it
  std::vector<std::uint32_t> order_;  // of points, by row of the mesh
  std::vector<std::uint32_t> row_begin_;
};

}  // namespace sonde::embed
