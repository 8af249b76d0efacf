// The points of one scalar series in one file, in the order written: compact, with fast access.
//
// Points are kept in blocks of 256. A full block stores the differences of steps and times from a straight line through
// the block, in as few bits as the largest difference needs: steps with a constant stride and repeated times take none.
// Values are f32 if that is exact. Each block knows its extremes, so that a drawing uses the blocks and not the points.
//
// Times are handled as integers in the order of the doubles, so they are restored bit by bit.
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

  // What is known about a block without unpacking it.
  struct Block {
    Point first;  // so that a drawing need not touch the packed data
    Point last;
    std::uint64_t step_base = 0;  // of the straight line, with the smallest difference added
    std::uint64_t step_slope = 0;
    std::uint64_t time_base = 0;
    std::uint64_t time_slope = 0;
    double min = 0;  // of the finite values; undefined if there are none
    double max = 0;
    double sum = 0;           // of the finite values
    double step_sum = 0;      // of all steps, counted from the first
    double time_sum = 0;      // the same for times
    std::uint32_t bytes = 0;  // of the packed data
    std::uint16_t count = 0;
    std::uint16_t nan = 0;
    std::uint16_t positive_infinity = 0;
    std::uint16_t negative_infinity = 0;
    std::uint8_t min_at = 0;
    std::uint8_t max_at = 0;
    std::uint8_t step_bits = 0;
    std::uint8_t time_bits = 0;
    std::uint8_t value_bytes = 0;  // 4 or 8 per value; 0: all are equal to the one value
    bool times_ascend = false;
    std::uint8_t unused[6] = {};

    std::size_t not_finite() const noexcept { return std::size_t{nan} + positive_infinity + negative_infinity; }
    bool all_finite() const noexcept { return not_finite() == 0; }
    // Whether all times are between those of the first and the last point.
    bool has_times_between() const noexcept {
      return times_ascend && std::isfinite(first.time) && std::isfinite(last.time);
    }
  };
  static_assert(sizeof(Block) == 144);  // no padding: it is written to the cache unchanged

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
  // Removes all points except the first `count`.
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

  // Block `index / kBlock` holds the point `index`; all blocks except the last are full.
  std::size_t blocks() const noexcept { return (size() + kBlock - 1) / kBlock; }
  // Copies the points of a block; returns their number. `to` may be reused for the next one.
  std::size_t unpack(std::size_t block, Points& to) const noexcept;
  // The same for its values only; `to` has room for kBlock.
  std::size_t unpack_values(std::size_t block, double* to) const noexcept;
  // The same for its steps.
  std::size_t unpack_steps(std::size_t block, std::int64_t* to) const noexcept;
  // Null for the last block while it still grows.
  const Block* block(std::size_t index) const noexcept { return index < blocks_.size() ? &blocks_[index] : nullptr; }

  // Approximate heap memory.
  std::size_t memory() const noexcept;

  // For the cache: appends a packed column to `out`, and loads it. The packed data are used in place: `owner` keeps the
  // bytes alive. Validates everything that could lead outside of the bytes; false if something is wrong.
  void save(std::string& out) const;
  bool restore(base::ByteReader& from, std::shared_ptr<const void> owner);

 private:
  // The points of the last block while it grows, in one allocation.
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
  std::vector<std::unique_ptr<std::byte[]>> owned_;  // what data_ points to, except what keep_ owns
  std::shared_ptr<const void> keep_;
  std::size_t packed_ = 0;  // points in blocks_
  Tail tail_;
  std::size_t tail_count_ = 0;
  std::size_t tail_capacity_ = 0;
  std::int64_t last_step_ = 0;
  bool is_sorted_ = true;
};

}  // namespace sonde::index
