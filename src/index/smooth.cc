#include "index/smooth.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "index/extremes.h"
#include "index/interval.h"

namespace sonde::index {
namespace {

constexpr std::size_t kBlock = Column::kBlock;

bool same(const ColumnStretch& a, const ColumnStretch& b) noexcept {
  return a.column == b.column && a.begin == b.begin && a.end == b.end;
}

double interval_of(std::span<const ColumnStretch> stretches) {
  std::size_t points = 0;
  for (const ColumnStretch& stretch : stretches) points += stretch.end - stretch.begin;
  PointInterval interval(points);
  for (const ColumnStretch& stretch : stretches) interval.add(*stretch.column, stretch.begin, stretch.end);
  return std::max(interval.median(), 1.0);
}

// Adds points to an average. Most points are as far from the one before them as that one was.
class Adder {
 public:
  Adder(const Decay& decay, Average& average) noexcept : decay_(decay), average_(average) {}

  double add(std::int64_t step, double value) noexcept {
    const std::uint64_t steps = average_.steps_to(step);
    if (steps != steps_) factor_ = decay_.over(steps);
    steps_ = steps;
    return average_.add(step, value, factor_);
  }

 private:
  const Decay& decay_;
  Average& average_;
  std::uint64_t steps_ = 0;
  double factor_ = 1;
};

}  // namespace

Decay::Decay(double weight, double interval) noexcept : weight_(weight), interval_(interval) {
  for (std::size_t i = 0; i < kKnown; ++i) known_[i] = power(i);
}

double Decay::power(std::uint64_t steps) const noexcept {
  constexpr double kNothing = 1e-300;  // numbers still smaller are slow
  const double found = std::pow(weight_, static_cast<double>(steps) / interval_);
  return found < kNothing ? 0 : found;
}

// Walks over the points of a line, block by block.
//
// An average needs the previous one, so that a processor would wait for each. But over blocks of equally spaced points
// it is linear: the average at the end is that at the beginning times a factor, plus a term that depends only on the
// values of the block. So the averages before several blocks are known before any of them is processed, and the blocks
// are processed together.
class Smoothed::Maker {
 public:
  explicit Maker(const Decay& decay) : decay_(decay) {}

  // `average` is the one before the first of the blocks.
  void extend(Line& line, std::size_t from_block, Average average) {
    const ColumnStretch& stretch = line.stretch;
    line.blocks.reserve((stretch.end - 1) / kBlock + 1 - stretch.begin / kBlock);
    for (std::size_t b = from_block; b * kBlock < stretch.end;) {
      if (is_plain(stretch, b, average)) {
        add_group(line, b, average);
        b += kGroup;
      } else {
        add_block(line, b, average);
        ++b;
      }
    }
    line.behind = average;
  }

 private:
  static constexpr std::size_t kGroup = 8;

  // Whether the stretch has all points of a group of blocks, they are finite and equally far from each other and from
  // the last point before them, and the average is steady. Prepares the factors for that distance.
  bool is_plain(const ColumnStretch& stretch, std::size_t b, const Average& average) {
    if (average.mass() == 0 || b * kBlock < stretch.begin || (b + kGroup) * kBlock > stretch.end) return false;
    const Column::Block* const first = stretch.column->block(b);
    if (first == nullptr) return false;
    const std::uint64_t distance = first->step_slope;
    std::uint64_t next = static_cast<std::uint64_t>(first->first.step);
    if (average.steps_to(first->first.step) != distance) return false;
    for (std::size_t i = b; i < b + kGroup; ++i) {
      const Column::Block* block = stretch.column->block(i);
      if (block == nullptr || !block->all_finite() || block->step_bits != 0 || block->step_slope != distance ||
          static_cast<std::uint64_t>(block->first.step) != next) {
        return false;
      }
      next += kBlock * distance;
    }
    const double weight = decay_.over(distance);
    if (!average.is_steady(weight)) return false;
    if (weight != weight_) prepare(weight);
    return true;
  }

  void prepare(double weight) {
    constexpr double kNothing = 1e-300;
    weight_ = weight;
    factor_ = std::pow(weight, kBlock);
    double part = 1;
    for (std::size_t i = kBlock; i-- > 0; part *= weight) parts_[i] = part < kNothing ? 0 : part;
  }

  void add_group(Line& line, std::size_t b, Average& average) {
    Average before[kGroup];
    double sums[kGroup];
    for (std::size_t g = 0; g < kGroup; ++g) {
      line.stretch.column->unpack_values(b + g, values_[g]);
      before[g] = average;
      sums[g] = average.sum();
      average.advance(line.stretch.column->block(b + g)->last.step, average.sum() * factor_ + sum_of_parts(values_[g]));
    }
    const double share = 1 / average.mass();
    for (std::size_t i = 0; i < kBlock; ++i) {
      for (std::size_t g = 0; g < kGroup; ++g) {
        sums[g] = sums[g] * weight_ + values_[g][i];
        values_[g][i] = sums[g] * share;
      }
    }
    for (std::size_t g = 0; g < kGroup; ++g)
      note(line, before[g], values_[g], 0, kBlock, extremes_of_finite(values_[g], kBlock));
  }

  double sum_of_parts(const double* values) const noexcept {
    double sums[kLanes] = {};
    for (std::size_t i = 0; i < kBlock; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += parts_[i + lane] * values[i + lane];
    }
    for (std::size_t lane = 1; lane < kLanes; ++lane) sums[0] += sums[lane];
    return sums[0];
  }

  void add_block(Line& line, std::size_t b, Average& average) {
    double* const values = values_[0];
    std::int64_t steps[kBlock];
    line.stretch.column->unpack_values(b, values);
    line.stretch.column->unpack_steps(b, steps);
    const std::size_t begin = std::max(line.stretch.begin, b * kBlock) - b * kBlock;
    const std::size_t end = std::min(line.stretch.end - b * kBlock, kBlock);
    const Average before = average;
    Adder adder(decay_, average);
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isfinite(values[i])) values[i] = adder.add(steps[i], values[i]);
    }
    note(line, before, values, begin, end, extremes_of(values + begin, end - begin));
  }

  // `values` are the averages, and `found` their extremes; non-finite values are unchanged.
  static void note(Line& line, const Average& before, const double* values, std::size_t begin, std::size_t end,
                   const Extremes& found) {
    Block& block = line.blocks.emplace_back();
    block.before = before;
    if (!found.any) return;
    block.min = found.min;
    block.max = found.max;
    block.min_at = static_cast<std::uint8_t>(begin + found.min_at);
    block.max_at = static_cast<std::uint8_t>(begin + found.max_at);
    block.first = *std::find_if(values + begin, values + end, [](double value) { return std::isfinite(value); });
    while (!std::isfinite(values[end - 1])) --end;
    block.last = values[end - 1];
  }

  const Decay& decay_;
  double weight_ = -1;    // of the point before, in groups; the following belong to it
  double factor_ = 0;     // decay of a sum over a block
  double parts_[kBlock];  // weight of each value of a block in the sum after it
  double values_[kGroup][kBlock];
};

bool Smoothed::covers(std::span<const ColumnStretch> stretches, const Smoothing& smoothing,
                      std::uint64_t generation) const noexcept {
  return smoothing_ == smoothing && generation_ == generation &&
         std::ranges::equal(lines_, stretches, same, &Line::stretch);
}

std::shared_ptr<const Smoothed> Smoothed::make(std::span<const ColumnStretch> stretches, const Smoothing& smoothing,
                                               std::uint64_t generation, std::shared_ptr<const Smoothed> before) {
  if (before && before->covers(stretches, smoothing, generation)) return before;
  auto made = std::make_shared<Smoothed>();
  made->smoothing_ = smoothing;
  made->interval_ = smoothing.interval > 0 ? smoothing.interval : interval_of(stretches);
  made->decay_ = Decay(smoothing.weight, made->interval_);
  made->generation_ = generation;
  if (before && (before->smoothing_.weight != smoothing.weight || before->interval_ != made->interval_ ||
                 before->generation_ != generation)) {
    before.reset();
  }
  Average average;
  Maker maker(made->decay_);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    Line& line = made->lines_.emplace_back();
    line.stretch = stretches[i];
    const Line* known = before && i < before->lines_.size() ? &before->lines_[i] : nullptr;
    const bool longer = known != nullptr && known->stretch.column == line.stretch.column &&
                        known->stretch.begin == line.stretch.begin && known->stretch.end <= line.stretch.end;
    std::size_t from = line.stretch.begin / kBlock;
    if (longer) {
      // The last block may have got more points since.
      line.blocks = known->blocks;
      from += line.blocks.size() - 1;
      average = line.blocks.back().before;
      line.blocks.pop_back();
    }
    if (!longer || known->stretch.end != line.stretch.end) before.reset();  // all that follows begins differently
    maker.extend(line, from, average);
    average = line.behind;
  }
  return made;
}

void Smoothed::apply(std::size_t stretch, std::size_t b, std::size_t count, double* values) const noexcept {
  const ColumnStretch& whole = lines_[stretch].stretch;
  Average average = block(stretch, b).before;
  const std::size_t begin = std::max(whole.begin, b * kBlock) - b * kBlock;
  const std::size_t end = std::min(whole.end - b * kBlock, count);
  std::int64_t steps[kBlock];
  whole.column->unpack_steps(b, steps);
  Adder adder(decay_, average);
  for (std::size_t i = begin; i < end; ++i) {
    if (std::isfinite(values[i])) values[i] = adder.add(steps[i], values[i]);
  }
}

std::size_t Smoothed::memory() const noexcept {
  std::size_t bytes = sizeof *this + lines_.capacity() * sizeof(Line);
  for (const Line& line : lines_) bytes += line.blocks.capacity() * sizeof(Block);
  return bytes;
}

}  // namespace sonde::index
