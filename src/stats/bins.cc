#include "stats/bins.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/bytes.h"

namespace sonde::stats {
namespace {

using Rows = std::array<std::uint64_t, 4>;

constexpr double kNearMin = 0x1p-126;  // the smallest normal float
constexpr double kNearEnd = 0x1p128;   // the first that no float reaches
// From a row to its key: rows count octaves from 2^-127, keys from 2^-1074.
constexpr std::int32_t kKeyOfRow = 1 + (1074 - 127) * 16;

// Zero, and only that among the values that come here, has row 0 of either sign. No value has a row that does not
// exist.
std::uint64_t near_row(float value) noexcept { return std::bit_cast<std::uint32_t>(value) >> 19; }
std::uint64_t near_row(double value) noexcept {
  constexpr std::uint64_t kBase = (1023 - 127) * 16;
  const std::uint64_t top = std::bit_cast<std::uint64_t>(value) >> 48;
  const std::uint64_t magnitude = top & 0x7fff;
  return ((top >> 15) << 12) | ((std::max(magnitude, kBase) - kBase) & 0xfff);
}

// Two floats a load: half the loads, and the second row needs no mask.
Rows four_rows(const float* values) noexcept {
  const auto a = base::load<std::uint64_t>(values);
  const auto b = base::load<std::uint64_t>(values + 2);
  return {(a >> 19) & 0x1fff, a >> 51, (b >> 19) & 0x1fff, b >> 51};
}
Rows four_rows(const double* values) noexcept {
  return {near_row(values[0]), near_row(values[1]), near_row(values[2]), near_row(values[3])};
}

std::size_t far_index(std::int32_t key) noexcept {
  return static_cast<std::size_t>(std::int64_t{key} + Histogram::kMaxKey);
}

}  // namespace

void BinTables::add(const float* values, std::size_t count, const BlockSums& sums) { add_values(values, count, sums); }
void BinTables::add(const double* values, std::size_t count, const BlockSums& sums) { add_values(values, count, sums); }

template <class T>
void BinTables::add_values(const T* values, std::size_t count, const BlockSums& sums) {
  const double largest = std::max(-sums.min, sums.max);
  if (largest == 0) return;  // only zeros
  pending_ += count;
  if (largest >= kNearMin && sums.smallest < kNearEnd) note_near(sums.smallest, largest);
  if (sums.smallest >= kNearMin && largest < kNearEnd) {
    add_near(values, count);
  } else {
    add_mixed(values, count);
  }
}

void BinTables::note_near(double smallest, double largest) noexcept {
  const double end = std::nextafter(kNearEnd, 0);
  near_low_ = std::min(near_low_, static_cast<std::uint32_t>(near_row(std::clamp(smallest, kNearMin, end))));
  near_high_ = std::max(near_high_, static_cast<std::uint32_t>(near_row(std::clamp(largest, kNearMin, end))));
}

template <class T>
void BinTables::add_near(const T* values, std::size_t count) {
  std::size_t i = 0;
  if (count < kSpread) {
    for (; i < count; ++i) ++near_[0][near_row(values[i])];
    return;
  }
  spread_ = true;
  for (; i + 4 <= count; i += 4) {
    const Rows rows = four_rows(values + i);
    ++near_[0][rows[0]];
    ++near_[1][rows[1]];
    ++near_[2][rows[2]];
    ++near_[3][rows[3]];
  }
  for (; i < count; ++i) ++near_[0][near_row(values[i])];
}

template <class T>
void BinTables::add_mixed(const T* values, std::size_t count) {
  spread_ = true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(values[i]);
    const double magnitude = std::abs(x);
    if (magnitude >= kNearMin && magnitude < kNearEnd) {
      ++near_[i % kTables][near_row(values[i])];
    } else if (x != 0) {
      add_far(x);
    } else {
      ++near_[0][0];
    }
  }
}

void BinTables::add_far(double value) {
  if (far_.empty()) far_.resize(2 * std::size_t{Histogram::kMaxKey} + 1);
  const std::int32_t key = Histogram::key_of(value);
  if (key < -Histogram::kMaxKey || key > Histogram::kMaxKey) return;  // not finite any more: see drain
  Touched& touched = key < 0 ? far_negative_ : far_positive_;
  touched.low = std::min(touched.low, std::abs(key));
  touched.high = std::max(touched.high, std::abs(key));
  ++far_[far_index(key)];
}

// Whole groups: rows outside of the touched ones hold nothing, nor do most groups of a small tensor. The first group,
// with the zeros, is never among them.
void BinTables::find_near(bool negative) {
  if (near_low_ > near_high_) return;
  const std::uint32_t begin = near_low_ / kGroup;
  const std::uint32_t groups = near_high_ / kGroup + 1 - begin;
  const std::size_t rows = std::size_t{groups} * kGroup;
  const std::size_t first = std::size_t{begin} * kGroup + (negative ? kSign : 0);
  if (spread_) add_counters(&near_[0][first], {&near_[1][first], &near_[2][first], &near_[3][first]}, rows);
  found_.resize(std::max(found_.size(), found_count_ + rows));
  Finder finder(found_.data() + found_count_);
  for (std::uint32_t i = 0; i < groups; ++i) {
    const std::uint32_t group = negative ? groups - 1 - i : i;
    const std::uint32_t* counts = &near_[0][first + std::size_t{group} * kGroup];
    std::uint32_t any = 0;
    for (std::uint32_t k = 0; k < kGroup; ++k) any |= counts[k];
    if (any == 0) continue;
    const auto row = static_cast<std::int32_t>((begin + group) * kGroup);
    if (negative) {
      std::int32_t key = -(row + static_cast<std::int32_t>(kGroup) - 1) - kKeyOfRow;
      for (std::uint32_t k = kGroup; k-- > 0; ++key) finder.add(key, counts[k]);
    } else {
      std::int32_t key = row + kKeyOfRow;
      for (std::uint32_t k = 0; k < kGroup; ++k, ++key) finder.add(key, counts[k]);
    }
  }
  for (std::size_t table = 0; table < (spread_ ? kTables : 1); ++table) {
    std::fill_n(near_[table].begin() + static_cast<std::ptrdiff_t>(first), rows, 0U);
  }
  take(finder);
}

void BinTables::find_far(bool negative) {
  const Touched touched = std::exchange(negative ? far_negative_ : far_positive_, {});
  if (touched.low > touched.high) return;
  const auto count = static_cast<std::size_t>(touched.high - touched.low) + 1;
  found_.resize(std::max(found_.size(), found_count_ + count));
  std::int32_t key = negative ? -touched.high : touched.low;
  Finder finder(found_.data() + found_count_);
  for (std::size_t i = 0; i < count; ++i, ++key) finder.add(key, std::exchange(far_[far_index(key)], 0));
  take(finder);
}

void BinTables::take(const Finder& finder) noexcept {
  found_count_ = static_cast<std::size_t>(finder.end - found_.data());
  pending_ -= finder.total;
}

void BinTables::drain(std::uint64_t zeros, Histogram& histogram) {
  found_count_ = 0;
  find_near(true);
  if (zeros != 0) {
    found_.resize(std::max(found_.size(), found_count_ + 1));
    found_[found_count_++] = {0, zeros};
  }
  find_near(false);
  const std::size_t near = found_count_;
  find_far(true);
  find_far(false);
  for (auto& table : near_) pending_ -= std::exchange(table[0], 0) + std::exchange(table[kSign], 0);
  // The rest was counted in rows that the sums did not know about: somebody wrote to the values while they were read.
  // The counts are wrong then, but the next tensor must not be affected.
  if (pending_ != 0) {
    for (auto& table : near_) table.fill(0);
  }
  near_low_ = kSign;
  near_high_ = 0;
  pending_ = 0;
  spread_ = false;
  if (found_count_ == 0) return;
  std::vector<Histogram::Bin> bins(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(found_count_));
  // Far keys are on both sides of the near ones; from_bins sorts them. None can be outside the grid.
  histogram.merge(found_count_ == near ? Histogram::from_ordered_bins(std::move(bins))
                                       : *Histogram::from_bins(std::move(bins)));
}

}  // namespace sonde::stats
