// Counts values into the bins of Histogram at memory speed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stats/kernels.h"
#include "stats/summary.h"

namespace sonde::stats {

// Counting tables, which are empty again after drain. Not for use by two threads; about 130 kB, to be kept and reused.
//
// Values in the range of normal floats - nearly all of them - go to the near tables, whose row is the upper 13 bits of
// a float: sign, exponent, four bits of the mantissa. There are four of those, used in turn, since a counter that is
// incremented again before its last value has reached the cache waits for it, and with data that are all equal that is
// the whole cost. A small block uses the first one only, so that draining small tensors reads one table. The rest -
// subnormal floats, doubles out of the range of floats - goes to the far table, which has a counter for every key. Only
// touched rows are read or cleared, so that small tensors stay cheap. Zeros are counted but not reported: the summary
// has done so.
class BinTables {
 public:
  // `sums` are those of the same finite values, with their smallest magnitude. If the values have changed since, the
  // counts are wrong but memory stays intact.
  void add(const float* values, std::size_t count, const BlockSums& sums);
  void add(const double* values, std::size_t count, const BlockSums& sums);
  // Adds all counts, and a bin for the zeros, to `histogram`.
  void drain(std::uint64_t zeros, Histogram& histogram);
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

  template <class T>
  void add_values(const T* values, std::size_t count, const BlockSums& sums);
  template <class T>
  void add_near(const T* values, std::size_t count);
  template <class T>
  void add_mixed(const T* values, std::size_t count);
  void add_far(double value);
  void note_near(double smallest, double largest) noexcept;
  void find_near(bool negative);
  void find_far(bool negative);
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
  // Touched rows, without their sign; none if low is above high.
  std::uint32_t near_low_ = kSign;
  std::uint32_t near_high_ = 0;
  std::vector<std::uint64_t> far_;  // by key + kMaxKey; allocated when first needed
  // Touched keys, without their sign, for either sign: subnormal ones are close together, but far from their opposites.
  struct Touched {
    std::int32_t low = Histogram::kMaxKey;
    std::int32_t high = 0;
  };
  Touched far_negative_;
  Touched far_positive_;
  std::uint64_t pending_ = 0;
  bool spread_ = false;  // other tables than the first were touched
  // While draining: the bins so far, with space for more.
  std::vector<Histogram::Bin> found_;
  std::size_t found_count_ = 0;
};

}  // namespace sonde::stats
