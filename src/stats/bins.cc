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
constexpr std::size_t kManyZeros = 2;  // a block with more than one zero in so many values is counted without them
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

void BinTables::add(const float* values, std::size_t count, const BlockSums& sums) {
  const double largest = std::max(-sums.min, sums.max);
  if (largest == 0) return;  // only zeros
  if (largest >= kNearMin) note_near(sums.smallest, largest);
  const bool tiny = sums.smallest < kNearMin;
  if (sums.zeros > count / kManyZeros && takes_nonzero_fast()) {
    count = take_nonzero(values, count, some_.data());
    values = some_.data();
  }
  add_near(values, count);
  if (tiny) add_tiny(values, count);
}

void BinTables::add(const double* values, std::size_t count, const BlockSums& sums) {
  const double largest = std::max(-sums.min, sums.max);
  if (largest == 0) return;
  if (largest >= kNearMin && sums.smallest < kNearEnd) note_near(sums.smallest, largest);
  if (sums.smallest >= kNearMin && largest < kNearEnd) {
    add_near(values, count);
  } else {
    add_mixed(values, count);
  }
}

void BinTables::note_near(double smallest, double largest) noexcept {
  const double end = std::nextafter(kNearEnd, 0);
  near_touched_.add(static_cast<std::uint32_t>(near_row(std::clamp(smallest, kNearMin, end))));
  near_touched_.add(static_cast<std::uint32_t>(near_row(std::clamp(largest, kNearMin, end))));
}

template <class T>
void BinTables::add_near(const T* values, std::size_t count) {
  pending_ += count;
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

// Their rows among the near ones, which all of them have been counted in, are in the first octave, which is not
// reported.
void BinTables::add_tiny(const float* values, std::size_t count) {
  const std::size_t found = take_subnormal(values, count, some_.data());  // perhaps in place
  for (std::size_t i = 0; i < found; ++i) {
    const std::uint64_t row = near_row(some_[i]);
    const std::uint64_t at = (row & (kSign - 1)) - kTinyBegin;
    if (at < kTinyRows) ++tiny_[row / kSign][at];  // always, unless the values change while they are read
  }
  pending_ += found;
  tiny_touched_ |= found > 0;
}

void BinTables::add_mixed(const double* values, std::size_t count) {
  pending_ += count;
  spread_ = true;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = values[i];
    const double magnitude = std::abs(x);
    if (magnitude >= kNearMin && magnitude < kNearEnd) {
      ++near_[i % kTables][near_row(x)];
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
  Far& far = key < 0 ? far_negative_ : far_positive_;
  (std::abs(value) < kNearMin ? far.below : far.above).add(std::abs(key));
  ++far_[far_index(key)];
}

// Finds the bins of whole groups of rows, and clears them. `key` is that of the first row, without its sign.
void BinTables::find_rows(std::uint32_t* rows, std::uint32_t groups, std::int32_t key, bool negative) {
  found_.resize(std::max(found_.size(), found_count_ + std::size_t{groups} * kGroup));
  Finder finder(found_.data() + found_count_);
  for (std::uint32_t i = 0; i < groups; ++i) {
    const std::uint32_t group = negative ? groups - 1 - i : i;
    std::uint32_t* counts = rows + std::size_t{group} * kGroup;
    std::uint32_t any = 0;
    for (std::uint32_t k = 0; k < kGroup; ++k) any |= counts[k];
    if (any == 0) continue;  // as most groups of a small tensor
    const std::int32_t first = key + static_cast<std::int32_t>(group * kGroup);
    if (negative) {
      std::int32_t next = -(first + static_cast<std::int32_t>(kGroup) - 1);
      for (std::uint32_t k = kGroup; k-- > 0; ++next) finder.add(next, counts[k]);
    } else {
      std::int32_t next = first;
      for (std::uint32_t k = 0; k < kGroup; ++k, ++next) finder.add(next, counts[k]);
    }
    std::fill_n(counts, kGroup, 0U);
  }
  take(finder);
}

// Rows outside of the touched ones hold nothing. The first group, with the zeros, is never among them.
void BinTables::find_near(bool negative) {
  if (near_touched_.empty()) return;
  const std::uint32_t begin = near_touched_.low / kGroup;
  const std::uint32_t groups = near_touched_.high / kGroup + 1 - begin;
  const std::size_t rows = std::size_t{groups} * kGroup;
  const std::size_t first = std::size_t{begin} * kGroup + (negative ? kSign : 0);
  if (spread_) take_counters(&near_[0][first], {&near_[1][first], &near_[2][first], &near_[3][first]}, rows);
  find_rows(&near_[0][first], groups, static_cast<std::int32_t>(begin * kGroup) + kKeyOfRow, negative);
}

void BinTables::find_tiny(bool negative) {
  if (!tiny_touched_) return;
  constexpr std::int32_t kKey = static_cast<std::int32_t>(kTinyBegin) + kKeyOfRow - kSubnormalScale * 16;
  find_rows(tiny_[negative ? 1 : 0].data(), kTinyRows / kGroup, kKey, negative);
}

void BinTables::find_far(bool negative, Touched<std::int32_t>& touched) {
  if (touched.empty()) return;
  const auto count = static_cast<std::size_t>(touched.high - touched.low) + 1;
  found_.resize(std::max(found_.size(), found_count_ + count));
  std::int32_t key = negative ? -touched.high : touched.low;
  Finder finder(found_.data() + found_count_);
  for (std::size_t i = 0; i < count; ++i, ++key) finder.add(key, std::exchange(far_[far_index(key)], 0));
  take(finder);
  touched = {};
}

void BinTables::take(const Finder& finder) noexcept {
  found_count_ = static_cast<std::size_t>(finder.end - found_.data());
  pending_ -= finder.total;
}

// Zeros, and what the tiny table has too.
void BinTables::forget_first_rows() noexcept {
  for (std::size_t table = 0; table < (spread_ ? kTables : 1); ++table) {
    for (const std::uint32_t sign : {0U, kSign}) {
      for (std::uint32_t row = sign; row < sign + kGroup; ++row) pending_ -= std::exchange(near_[table][row], 0);
    }
  }
}

void BinTables::clear() noexcept {
  for (auto& table : near_) table.fill(0);
  for (auto& table : tiny_) table.fill(0);
  std::ranges::fill(far_, 0U);
  near_touched_ = {};
  far_negative_ = {};
  far_positive_ = {};
  pending_ = 0;
  spread_ = false;
  tiny_touched_ = false;
}

// In ascending order of the keys.
void BinTables::drain(std::uint64_t zeros, Histogram& histogram) {
  found_count_ = 0;
  find_far(true, far_negative_.above);
  find_near(true);
  find_tiny(true);
  find_far(true, far_negative_.below);
  if (zeros != 0) {
    found_.resize(std::max(found_.size(), found_count_ + 1));
    found_[found_count_++] = {0, zeros};
  }
  find_far(false, far_positive_.below);
  find_tiny(false);
  find_near(false);
  find_far(false, far_positive_.above);
  forget_first_rows();
  // The rest was counted in rows that the sums did not know about: somebody wrote to the values while they were read.
  // The counts are wrong then, but the next tensor must not be affected.
  if (pending_ != 0) clear();
  near_touched_ = {};
  spread_ = false;
  tiny_touched_ = false;
  if (found_count_ == 0) return;
  const auto end = found_.begin() + static_cast<std::ptrdiff_t>(found_count_);
  histogram.merge(Histogram::from_ordered_bins({found_.begin(), end}));
}

}  // namespace sonde::stats
