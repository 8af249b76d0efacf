#include "index/smooth.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "index/extremes.h"

namespace sonde::index {
namespace {

constexpr std::size_t kBlock = Column::kBlock;

bool same(const ColumnStretch& a, const ColumnStretch& b) noexcept {
  return a.column == b.column && a.begin == b.begin && a.end == b.end;
}

}  // namespace

// Goes through the points of a line, block by block.
//
// An average needs the one before it, so that a processor would wait for each. But over a whole block it is linear:
// what it is at the end is what it was at the beginning, times a factor, and something that only the values of the
// block say. So the averages in front of several blocks are known before any of them is gone through, and that is done
// for all of them at once.
class Smoothed::Maker {
 public:
  explicit Maker(double weight) : weight_(weight), factor_(std::pow(weight, kBlock)) {
    constexpr double kNothing = 1e-300;  // numbers still smaller are slow
    double part = 1 - weight;
    for (std::size_t i = kBlock; i-- > 0; part *= weight) parts_[i] = part < kNothing ? 0 : part;
  }

  // `average` is the one before the first of the blocks.
  void extend(Line& line, std::size_t from_block, Average average) {
    const ColumnStretch& stretch = line.stretch;
    line.blocks.reserve((stretch.end - 1) / kBlock + 1 - stretch.begin / kBlock);
    for (std::size_t b = from_block; b * kBlock < stretch.end;) {
      if (average.is_sum() && is_plain(stretch, b)) {
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

  // Whether the stretch has all points of a group of blocks, and they are finite.
  static bool is_plain(const ColumnStretch& stretch, std::size_t b) {
    if (b * kBlock < stretch.begin || (b + kGroup) * kBlock > stretch.end) return false;
    for (std::size_t i = b; i < b + kGroup; ++i) {
      const Column::Block* block = stretch.column->block(i);
      if (block == nullptr || !block->all_finite()) return false;
    }
    return true;
  }

  void add_group(Line& line, std::size_t b, Average& average) {
    Average before[kGroup];
    double sums[kGroup];
    for (std::size_t g = 0; g < kGroup; ++g) {
      line.stretch.column->unpack_values(b + g, values_[g]);
      before[g] = average;
      sums[g] = average.sum();
      average.set_sum(average.sum() * factor_ + sum_of_parts(values_[g]));
    }
    const double rest = 1 - weight_;
    for (std::size_t i = 0; i < kBlock; ++i) {
      for (std::size_t g = 0; g < kGroup; ++g) {
        sums[g] = sums[g] * weight_ + rest * values_[g][i];
        values_[g][i] = sums[g];
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
    line.stretch.column->unpack_values(b, values);
    const std::size_t begin = std::max(line.stretch.begin, b * kBlock) - b * kBlock;
    const std::size_t end = std::min(line.stretch.end - b * kBlock, kBlock);
    const Average before = average;
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isfinite(values[i])) values[i] = average.add(values[i], weight_);
    }
    note(line, before, values, begin, end, extremes_of(values + begin, end - begin));
  }

  // `values` are the averages, and `found` their extremes; what was not finite is still there.
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

  const double weight_;
  const double factor_;   // what is left of an average after a block
  double parts_[kBlock];  // what each value of a block counts in the average behind it
  double values_[kGroup][kBlock];
};

bool Smoothed::covers(std::span<const ColumnStretch> stretches, double weight,
                      std::uint64_t generation) const noexcept {
  return weight_ == weight && generation_ == generation && std::ranges::equal(lines_, stretches, same, &Line::stretch);
}

std::shared_ptr<const Smoothed> Smoothed::make(std::span<const ColumnStretch> stretches, double weight,
                                               std::uint64_t generation, std::shared_ptr<const Smoothed> before) {
  if (before && before->covers(stretches, weight, generation)) return before;
  if (before && (before->weight_ != weight || before->generation_ != generation)) before.reset();
  auto made = std::make_shared<Smoothed>();
  made->weight_ = weight;
  made->generation_ = generation;
  Average average;
  Maker maker(weight);
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
  for (std::size_t i = begin; i < end; ++i) {
    if (std::isfinite(values[i])) values[i] = average.add(values[i], weight_);
  }
}

std::size_t Smoothed::memory() const noexcept {
  std::size_t bytes = sizeof *this + lines_.capacity() * sizeof(Line);
  for (const Line& line : lines_) bytes += line.blocks.capacity() * sizeof(Block);
  return bytes;
}

}  // namespace sonde::index
