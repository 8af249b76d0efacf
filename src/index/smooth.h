// Smoothing as TensorBoard does it: a debiased exponential average over the finite values of a series, from its first
// point on, whatever part of it is drawn.
//
// Kept is what the average was at the beginning of each block and its extremes there, so that any part of a long
// series can be drawn without going through what lies before it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "index/column.h"
#include "index/draw.h"
#include "store/lines.h"

namespace sonde::index {

// The average after some values.
class Average {
 public:
  double add(double value, double weight) noexcept {
    sum_ = sum_ * weight + (1 - weight) * value;
    if (left_ == 0) return sum_;
    // What the beginning at zero still counts. Below half a bit it is nothing; and numbers that small are slow.
    constexpr double kNothing = 1e-17;
    left_ *= weight;
    if (left_ < kNothing) left_ = 0;
    return sum_ / (1 - left_);
  }
  // Whether the beginning no longer counts: then the average is the sum, and the next one follows from it linearly.
  bool is_sum() const noexcept { return left_ == 0; }
  double sum() const noexcept { return sum_; }
  void set_sum(double sum) noexcept { sum_ = sum; }

 private:
  double sum_ = 0;
  double left_ = 1;
};

// Never changes once it is made. The stretches that it was made of must not overlap, and be by ascending steps.
class Smoothed final : public store::Averages {
 public:
  struct Block {
    Average before;
    double first = 0;  // averages at its finite points; meaningless where there are none
    double last = 0;
    double min = 0;
    double max = 0;
    std::uint8_t min_at = 0;  // within the block
    std::uint8_t max_at = 0;
  };

  // What `before` has already, of the same generation of the run's data, is taken from there; it may be null.
  static std::shared_ptr<const Smoothed> make(std::span<const ColumnStretch> stretches, double weight,
                                              std::uint64_t generation, std::shared_ptr<const Smoothed> before);

  // Block `b` of the column of a stretch.
  const Block& block(std::size_t stretch, std::size_t b) const noexcept {
    return lines_[stretch].blocks[b - lines_[stretch].stretch.begin / Column::kBlock];
  }
  // Replaces the finite values of that block by their averages; those in front of the stretch are left alone.
  void apply(std::size_t stretch, std::size_t b, std::size_t count, double* values) const noexcept;
  double weight() const noexcept override { return weight_; }
  std::size_t memory() const noexcept override;

 private:
  struct Line {
    ColumnStretch stretch;
    std::vector<Block> blocks;
    Average behind;  // after the last point
  };
  class Maker;
  bool covers(std::span<const ColumnStretch> stretches, double weight, std::uint64_t generation) const noexcept;

  std::vector<Line> lines_;
  double weight_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace sonde::index
