// Counts values into the bins of Histogram at memory speed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "stats/kernels.h"
#include "stats/summary.h"

namespace sonde::stats {

// Counting tables, which are empty again after drain. Not for use by two threads; about 145 kB, to be kept and reused.
//
// Values in the range of normal floats - nearly all of them - go to the near tables, whose row is the upper 13 bits of
// a float: sign, exponent, four bits of the mantissa. There are four of those, used in turn, since a counter that is
// incremented again before its last value has reached the cache waits for it, and with data that are all equal that is
// the whole cost. A small block uses the first one only, so that draining small tensors reads one table. Subnormal
// floats go to the tiny table, whose row is that of their product with 2^kSubnormalScale, a normal float; doubles out
// of the range of normal floats go to the far table, which has a counter for every key. Only touched rows are read or
// cleared, so that small tensors stay cheap. Zeros are not reported: the summary has counted them.
class BinTables {
 public:
  // `sums` are those of the same finite values, with their smallest magnitude. If the values have changed since, the
  // counts are wrong but memory stays intact. All values between two calls of drain are of one type.
  void add(const float* values, std::size_t count, const BlockSums& sums);
  void add(const double* values, std::size_t count, const BlockSums& sums);
  // Adds all counts, and a bin for the zeros, to `histogram`. If memory runs out, clear the tables before the next
  // tensor.
  void drain(std::uint64_t zeros, Histogram& histogram);
  // Forgets all counts.
  void clear() noexcept;
  // Values added since the last drain. Drain before there are more than kMaxPending: counters have 32 bits. The limit
  // is far below that, so that tests reach it; draining this often costs nothing measurable.
  std::uint64_t pending() const noexcept { return pending_; }
  static constexpr std::uint64_t kMaxPending = std::uint64_t{1} << 24;

 private:
  static constexpr std::size_t kTables = 4;
  static constexpr std::size_t kSpread = 512;   // values of a block that is spread over all of them
  static constexpr std::uint32_t kSign = 4096;  // rows from here on are for negative values
  // Tables of exactly 32 kB would put the same row of all of them at addresses that differ by a multiple of 4096, which
  // processors at first take for the same address.
  static constexpr std::size_t kRows = std::size_t{2} * kSign + 80;

  // Rows are drained sixteen at a time, an octave.
  static constexpr std::uint32_t kGroup = 16;
  // Of the tiny table: the octaves of 2^-149 to 2^-127, scaled.
  static constexpr std::uint32_t kTinyBegin = (127 - 149 + kSubnormalScale) * kGroup;
  static constexpr std::uint32_t kTinyRows = (149 - 126) * kGroup;

  // A range of touched rows or keys, without their sign; empty if low is above high.
  template <class T>
  struct Touched {
    T low = std::numeric_limits<T>::max();
    T high = 0;
    bool empty() const noexcept { return low > high; }
    void add(T value) noexcept {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  };
  // Far keys are below or above all near ones.
  struct Far {
    Touched<std::int32_t> below;
    Touched<std::int32_t> above;
  };

  template <class T>
  void add_near(const T* values, std::size_t count);
  void add_tiny(const float* values, std::size_t count);
  void add_mixed(const double* values, std::size_t count);
  void add_far(double value);
  void note_near(double smallest, double largest) noexcept;
  void find_rows(std::uint32_t* rows, std::uint32_t groups, std::int32_t key, bool negative);
  void find_near(bool negative);
  void find_tiny(bool negative);
  void find_far(bool negative, Touched<std::int32_t>& touched);
  void forget_first_rows() noexcept;
  // Where the next bin goes, and how many values the bins have. There must be room. Nothing depends on the count but
  // how far the next one is written: half of all rows are empty, and no processor can tell which.
  struct Finder {
    explicit Finder(Histogram::Bin* begin) noexcept : end(begin) {}
    void add(std::int32_t key, std::uint64_t count) noexcept {
      *end = {key, count};
      end += count != 0 ? 1 : 0;
      total += count;
    }
    Histogram::Bin* end;
    std::uint64_t total = 0;
  };
  void take(const Finder& finder) noexcept;

  std::array<std::array<std::uint32_t, kRows>, kTables> near_{};
  Touched<std::uint32_t> near_touched_;
  std::array<std::array<std::uint32_t, kTinyRows>, 2> tiny_{};  // positive, negative
  bool tiny_touched_ = false;
  std::vector<std::uint64_t> far_;  // by key + kMaxKey; allocated when first needed
  Far far_negative_;
  Far far_positive_;
  std::uint64_t pending_ = 0;
  bool spread_ = false;                                    // other tables than the first were touched
  alignas(64) std::array<float, kBlock + kPadding> some_;  // of the values of a block: not zero, or subnormal
  // While draining: the bins so far, with space for more.
  std::vector<Histogram::Bin> found_;
  std::size_t found_count_ = 0;
};

}  // namespace sonde::stats
