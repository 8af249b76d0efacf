// The points of one scalar series in one file, in the order written: compact, and quick to look into.
//
// Points are kept in blocks of 256. In a full block the steps and the times are what is left after a straight line
// through the block, in as few bits as the largest remainder needs: steps of a constant stride and times that repeat
// take none. Values are f32 where that is exact. Each block knows its extremes, so that a drawing looks at the blocks
// and not at the points.
//
// Times are handled as the integers that order doubles, so they come back bit by bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "store/lines.h"

namespace sonde::index {

using store::Point;

// Up to 256 points in plain arrays.
struct Points {
  static constexpr std::size_t kCapacity = 256;
  std::int64_t steps[kCapacity];
  double times[kCapacity];
  double values[kCapacity];
};

class Column {
 public:
  static constexpr std::size_t kBlock = Points::kCapacity;
  using Item = Point;

  // What is known of a block without looking into it.
  struct Block {
    Point first;  // so that a drawing need not touch the packed data
    Point last;
    std::uint64_t step_base = 0;  // of the straight line, with the smallest remainder added
    std::uint64_t step_slope = 0;
    std::uint64_t time_base = 0;
    std::uint64_t time_slope = 0;
    double min = 0;  // of the finite values; meaningless where there are none
    double max = 0;
    double sum = 0;           // of the finite values
    double step_sum = 0;      // of all steps, counted from the first
    double time_sum = 0;      // likewise
    std::uint32_t bytes = 0;  // of the packed data
    std::uint16_t count = 0;
    std::uint16_t nan = 0;
    std::uint16_t positive_infinity = 0;
    std::uint16_t negative_infinity = 0;
    std::uint8_t min_at = 0;
    std::uint8_t max_at = 0;
    std::uint8_t step_bits = 0;
    std::uint8_t time_bits = 0;
    std::uint8_t value_bytes = 0;  // 4 or 8 a value; 0: all are the one value that is there
    bool times_ascend = false;
    std::uint8_t unused[6] = {};

    std::size_t not_finite() const noexcept { return std::size_t{nan} + positive_infinity + negative_infinity; }
    bool all_finite() const noexcept { return not_finite() == 0; }
    // Whether times are between those of the first and the last point.
    bool has_times_between() const noexcept {
      return times_ascend && std::isfinite(first.time) && std::isfinite(last.time);
    }
  };
  static_assert(sizeof(Block) == 144);  // without gaps: it is written to the cache as it is

  Column() = default;
  Column(Column&&) noexcept = default;
  Column& operator=(Column&&) noexcept = default;

  void append(std::int64_t step, double time, double value) {
    if (tail_count_ == tail_capacity_) make_room();
    if (step <= last_step_ && size() > 0 && is_sorted_) is_sorted_ = follows_last(step, time);
    last_step_ = step;
    tail_.steps[tail_count_] = step;
    tail_.times[tail_count_] = time;
    tail_.values[tail_count_] = value;
    ++tail_count_;
  }
  void append(const Point& point) { append(point.step, point.time, point.value); }
  // Packs the points of the last block too. For a column that will not grow for a while.
  void pack();
  // Forgets all points but the first `count`.
  void truncate(std::size_t count);

  std::size_t size() const noexcept { return packed_ + tail_count_; }
  Point at(std::size_t index) const noexcept;
  std::int64_t step_at(std::size_t index) const noexcept;
  double time_at(std::size_t index) const noexcept;
  // Whether steps ascend, and the times of equal steps.
  bool is_sorted() const noexcept { return is_sorted_; }
  // Calls `visit(point)` for the points [begin, end).
  template <class Visit>
  void visit(std::size_t begin, std::size_t end, Visit visit) const {
    Points points;
    for (std::size_t b = begin / kBlock; b * kBlock < end; ++b) {
      unpack(b, points);
      const std::size_t behind = std::min(end - b * kBlock, kBlock);
      for (std::size_t i = std::max(begin, b * kBlock) - b * kBlock; i < behind; ++i) {
        visit(Point{points.steps[i], points.times[i], points.values[i]});
      }
    }
  }

  // Block `index / kBlock` holds the point `index`; all blocks but the last are full.
  std::size_t blocks() const noexcept { return (size() + kBlock - 1) / kBlock; }
  // Copies the points of a block; returns how many. `to` may be used again for the next one.
  std::size_t unpack(std::size_t block, Points& to) const noexcept;
  // The same of its values alone; `to` has room for kBlock.
  std::size_t unpack_values(std::size_t block, double* to) const noexcept;
  // The same of its steps.
  std::size_t unpack_steps(std::size_t block, std::int64_t* to) const noexcept;
  // Null for the last block while it still grows.
  const Block* block(std::size_t index) const noexcept { return index < blocks_.size() ? &blocks_[index] : nullptr; }

  // Anonymous memory, roughly.
  std::size_t memory() const noexcept;

  // For the cache: everything, of a packed column, appended to `out`, and back. The packed data are used in place:
  // `owner` keeps the bytes alive. Nothing is believed that could lead outside of the bytes; false where something is
  // wrong.
  void save(std::string& out) const;
  bool restore(ByteReader& from, std::shared_ptr<const void> owner);

 private:
  // The points of the last block while it grows, in one piece of memory.
  struct Tail {
    std::unique_ptr<std::byte[]> memory;
    std::int64_t* steps = nullptr;
    double* times = nullptr;
    double* values = nullptr;
  };
  static Tail make_tail(std::size_t capacity);
  void make_room();
  void reopen_last_block();
  void pack_tail();
  bool follows_last(std::int64_t step, double time) const noexcept;

  std::vector<Block> blocks_;
  std::vector<const std::byte*> data_;               // of each block
  std::vector<std::unique_ptr<std::byte[]>> owned_;  // what data_ points to, but for what belongs to keep_
  std::shared_ptr<const void> keep_;
  std::size_t packed_ = 0;  // points in blocks_
  Tail tail_;
  std::size_t tail_count_ = 0;
  std::size_t tail_capacity_ = 0;
  std::int64_t last_step_ = 0;
  bool is_sorted_ = true;
};

}  // namespace sonde::index
