// Values derived from a summary and a histogram.
#pragma once

#include <span>
#include <vector>

#include "stats/summary.h"

namespace sonde::stats {

// All of these take a summary and a histogram of the same values.

// The smallest of the n finite values that at least q * n of them do not exceed. It is exact at q <= 0 (min) and q >= 1
// (max), and otherwise in the same bin as the true one: within 1/16 of it, relatively. NaN if nothing is finite.
double percentile(const Summary& summary, const Histogram& histogram, double q) noexcept;

// A bucket as in TensorBoard's histograms: left inclusive, right exclusive except for the last.
struct Bucket {
  double left = 0;
  double right = 0;
  double count = 0;
};
// `buckets` buckets of equal width from min to max: fine bins that straddle an edge are split in proportion, and the
// counts add up to the number of finite values. One bucket, from the value to itself, for data that are all equal; none
// if nothing is finite. Fewer than one bucket means one.
std::vector<Bucket> tensorboard_buckets(const Summary& summary, const Histogram& histogram, int buckets);

// An edge between two such buckets, and how many values are below it.
struct BucketEdge {
  double value = 0;
  double below = 0;              // estimated if it falls into a fine bin
  std::uint64_t in_its_bin = 0;  // values of that bin; 0: `below` is exact
};
// The edges of so many buckets, without the outer ones, in ascending order; `buckets` is at least 1. There must be
// finite values, not all equal.
void find_bucket_edges(const Summary& summary, const Histogram& histogram, std::size_t buckets,
                       std::vector<BucketEdge>& edges);
// The buckets between them.
std::vector<Bucket> buckets_between(const Summary& summary, std::uint64_t total, std::span<const BucketEdge> edges);

// Floating-point types into which values might be cast.
enum class Target : std::uint8_t { f16, bf16, f8_e4m3, f8_e5m2 };

// Shares of the finite values, zero if there are none. If a limit falls inside a bin, the true share is between low and
// high, both included; otherwise the two are equal.
struct Share {
  double low = 0;
  double high = 0;
};
struct CastRisk {
  Share overflow;   // rounds beyond the largest finite value
  Share underflow;  // not zero, but rounds to zero
  Share subnormal;  // not zero, and becomes subnormal: precision is lost
};
// For rounding to nearest even, without saturation.
CastRisk cast_risk(const Summary& summary, const Histogram& histogram, Target target) noexcept;

}  // namespace sonde::stats
