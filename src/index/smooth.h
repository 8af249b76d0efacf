// Smoothing: at each finite point of a series the average of all finite points up to it, in which a point that is d
// steps back has the weight weight^(d / interval). The first point of a series counts, whichever part is drawn.
//
// For a series with a point every `interval` steps this is TensorBoard's debiased exponential average. Points at the
// same step have equal weight; after a gap the earlier points count according to their distance; non-finite points are
// skipped. So two series on one axis are smoothed over the same number of steps, however dense they are.
//
// It stores the average at the beginning of each block and the extremes in it, so that any part of a long series can be
// drawn without processing the points before it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "index/column.h"
#include "index/draw.h"
#include "store/lines.h"

namespace sonde::index {

using store::Smoothing;

// weight^(steps / interval).
class Decay {
 public:
  Decay() = default;
  Decay(double weight, double interval) noexcept;

  double over(std::uint64_t steps) const noexcept { return steps < kKnown ? known_[steps] : power(steps); }

 private:
  static constexpr std::size_t kKnown = 64;
  double power(std::uint64_t steps) const noexcept;

  double weight_ = 0;
  double interval_ = 1;
  double known_[kKnown] = {};
};

// The average after some values.
class Average {
 public:
  // `factor` is the decay of the earlier values at this one's step.
  double add(std::int64_t step, double value, double factor) noexcept {
    sum_ = sum_ * factor + value;
    mass_ = mass_ * factor + 1;
    step_ = step;
    return sum_ / mass_;
  }
  std::uint64_t steps_to(std::int64_t step) const noexcept {
    return static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(step_);
  }
  // Whether the mass stays constant with further values at the same distance: then the next averages follow linearly.
  bool is_steady(double factor) const noexcept { return mass_ * factor + 1 == mass_; }
  double sum() const noexcept { return sum_; }
  double mass() const noexcept { return mass_; }
  void advance(std::int64_t step, double sum) noexcept {
    step_ = step;
    sum_ = sum;
  }

 private:
  double sum_ = 0;
  double mass_ = 0;  // total weight of all values
  std::int64_t step_ = 0;
};

// Immutable. The stretches that it is computed from must not overlap, and have ascending steps.
class Smoothed final : public store::Averages {
 public:
  struct Block {
    Average before;
    double first = 0;  // averages at its finite points; undefined if there are none
    double last = 0;
    double min = 0;
    double max = 0;
    std::uint8_t min_at = 0;  // within the block
    std::uint8_t max_at = 0;
  };

  // Reuses what `before` has, of the same generation of the run's data; it may be null.
  static std::shared_ptr<const Smoothed> make(std::span<const ColumnStretch> stretches, const Smoothing& smoothing,
                                              std::uint64_t generation, std::shared_ptr<const Smoothed> before);

  // Block `b` of the column of a stretch.
  const Block& block(std::size_t stretch, std::size_t b) const noexcept {
    return lines_[stretch].blocks[b - lines_[stretch].stretch.begin / Column::kBlock];
  }
  // Replaces the finite values of that block by their averages; values before the stretch stay unchanged.
  void apply(std::size_t stretch, std::size_t b, std::size_t count, double* values) const noexcept;
  const Smoothing& smoothing() const noexcept override { return smoothing_; }
  std::size_t memory() const noexcept override;

 private:
  struct Line {
    ColumnStretch stretch;
    std::vector<Block> blocks;
    Average behind;  // after the last point
  };
  class Maker;
  bool covers(std::span<const ColumnStretch> stretches, const Smoothing& smoothing,
              std::uint64_t generation) const noexcept;

  std::vector<Line> lines_;
  Smoothing smoothing_;
  double interval_ = 1;
  Decay decay_;
  std::uint64_t generation_ = 0;
};

}  // namespace sonde::index
