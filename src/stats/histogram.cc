#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "stats/summary.h"

namespace sonde::stats {
namespace {

constexpr int kMinExponent = -1074;  // of the smallest subnormal double
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

// The smallest double that is not below 2^exponent * (1 + sixteenths / 16). Down where doubles are coarser than bins,
// that makes the bounds of a bin exact for the doubles in it. 2^1024 is infinite.
double bin_edge(int exponent, int sixteenths) noexcept {
  if (exponent >= -1022) {
    return std::bit_cast<double>(((std::int64_t{exponent} + 1023) << 52) | (std::int64_t{sixteenths} << 48));
  }
  const int significand = 16 + sixteenths;
  const int shift = std::max(0, kMinExponent - (exponent - 4));
  const int units = (significand + (1 << shift) - 1) >> shift;
  return std::ldexp(static_cast<double>(units), exponent - 4 + shift);
}

// The edge below (or at) the values with a positive key; for kMaxKey + 1 it is infinite.
double edge_of(std::int32_t key) noexcept { return bin_edge((key - 1) / 16 + kMinExponent, (key - 1) % 16); }

}  // namespace

std::int32_t Histogram::key_of(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  std::uint64_t magnitude = bits & ~kSignBit;
  if (magnitude == 0) return 0;
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent == -1023) {  // subnormal: bring its first bit to where a normal number has its hidden one
    const int shift = std::countl_zero(magnitude) - 11;
    magnitude <<= shift;
    exponent = -1022 - shift;
  }
  const std::int32_t key = 1 + (exponent - kMinExponent) * 16 + static_cast<std::int32_t>((magnitude >> 48) & 15);
  return (bits & kSignBit) != 0 ? -key : key;
}

double Histogram::lower(std::int32_t key) noexcept {
  if (key == 0) return 0;
  return key > 0 ? edge_of(key) : -edge_of(1 - key);
}

double Histogram::upper(std::int32_t key) noexcept {
  if (key == 0) return 0;
  return key > 0 ? edge_of(key + 1) : -edge_of(-key);
}

Result<Histogram> Histogram::from_bins(std::vector<Bin> bins) {
  for (const Bin& bin : bins) {
    if (bin.key < -kMaxKey || bin.key > kMaxKey) {
      return Status(Code::corrupt, "the histogram has a bin with key " + std::to_string(bin.key) +
                                       ", outside the grid of " + std::to_string(-kMaxKey) + " to " +
                                       std::to_string(kMaxKey));
    }
  }
  if (!std::ranges::is_sorted(bins, {}, &Bin::key)) std::ranges::sort(bins, {}, &Bin::key);
  std::size_t kept = 0;
  for (const Bin bin : bins) {
    if (bin.count == 0) continue;
    if (kept > 0 && bins[kept - 1].key == bin.key) {
      bins[kept - 1].count += bin.count;
    } else {
      bins[kept++] = bin;
    }
  }
  bins.resize(kept);
  return from_ordered_bins(std::move(bins));
}

Histogram Histogram::from_ordered_bins(std::vector<Bin> bins) noexcept {
  Histogram histogram;
  histogram.bins_ = std::move(bins);
  return histogram;
}

std::uint64_t Histogram::total() const noexcept {
  std::uint64_t sum = 0;
  for (const Bin& bin : bins_) sum += bin.count;
  return sum;
}

void Histogram::merge(const Histogram& other) {
  std::vector<Bin> merged;
  merged.reserve(bins_.size() + other.bins_.size());
  auto mine = bins_.begin();
  for (const Bin& bin : other.bins_) {
    while (mine != bins_.end() && mine->key < bin.key) merged.push_back(*mine++);
    merged.push_back(bin);
    if (mine != bins_.end() && mine->key == bin.key) merged.back().count += (mine++)->count;
  }
  merged.insert(merged.end(), mine, bins_.end());
  bins_ = std::move(merged);
}

void Histogram::merge(Histogram&& other) {
  if (bins_.empty()) {
    bins_ = std::move(other.bins_);
  } else {
    merge(std::as_const(other));
  }
}

}  // namespace sonde::stats
