#include "index/smooth.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::index {
namespace {

constexpr std::size_t kBlock = Column::kBlock;

bool same(const ColumnStretch& a, const ColumnStretch& b) noexcept {
  return a.column == b.column && a.begin == b.begin && a.end == b.end;
}

}  // namespace

void Smoothed::extend(Line& line, std::size_t from_block, Average average, double weight) {
  const ColumnStretch& stretch = line.stretch;
  double values[kBlock];
  line.blocks.reserve((stretch.end - 1) / kBlock + 1 - stretch.begin / kBlock);
  for (std::size_t b = from_block; b * kBlock < stretch.end; ++b) {
    stretch.column->unpack_values(b, values);
    const std::size_t begin = std::max(stretch.begin, b * kBlock) - b * kBlock;
    const std::size_t end = std::min(stretch.end - b * kBlock, kBlock);
    Block& block = line.blocks.emplace_back();
    block.before = average;
    bool any = false;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(values[i])) continue;
      const double value = average.add(values[i], weight);
      if (!any) block.first = value;
      block.last = value;
      if (!any || value < block.min) {
        block.min = value;
        block.min_at = static_cast<std::uint8_t>(i);
      }
      if (!any || value > block.max) {
        block.max = value;
        block.max_at = static_cast<std::uint8_t>(i);
      }
      any = true;
    }
  }
  line.behind = average;
}

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
    extend(line, from, average, weight);
    average = line.behind;
  }
  return made;
}

void Smoothed::apply(std::size_t stretch, std::size_t b, std::size_t count, Points& points) const noexcept {
  const ColumnStretch& whole = lines_[stretch].stretch;
  Average average = block(stretch, b).before;
  const std::size_t begin = std::max(whole.begin, b * kBlock) - b * kBlock;
  const std::size_t end = std::min(whole.end - b * kBlock, count);
  for (std::size_t i = begin; i < end; ++i) {
    if (std::isfinite(points.values[i])) points.values[i] = average.add(points.values[i], weight_);
  }
}

std::size_t Smoothed::memory() const noexcept {
  std::size_t bytes = sizeof *this + lines_.capacity() * sizeof(Line);
  for (const Line& line : lines_) bytes += line.blocks.capacity() * sizeof(Block);
  return bytes;
}

}  // namespace sonde::index
