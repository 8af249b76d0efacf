#include "stats/buckets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stats/gather.h"
#include "stats/kernels.h"
#include "stats/parts.h"
#include "tensor/convert.h"
#include "tensor/copy.h"

namespace sonde::stats {
namespace {

constexpr std::uint64_t kCoarse = 50;  // a bin is coarse if it holds more than 1 / kCoarse of the values

// Whether sharing out a fine bin over the buckets that it straddles would show.
bool is_coarse(const std::vector<Bucket>& buckets, const Summary& summary, const Histogram& histogram) {
  const std::uint64_t limit = summary.finite() / kCoarse;
  return std::ranges::any_of(histogram.bins(), [&](const Histogram::Bin& bin) {
    if (bin.count <= limit || bin.key == 0) return false;
    const auto edge = std::ranges::upper_bound(buckets, Histogram::lower(bin.key), {}, &Bucket::right);
    return edge != buckets.end() && edge->right < Histogram::upper(bin.key);
  });
}

class Counter {
 public:
  explicit Counter(const std::vector<Bucket>& buckets)
      : buckets_(buckets),
        counts_(buckets.size()),
        low_(buckets.front().left),
        high_(buckets.back().right),
        // Of halves, since the whole range may be more than a double holds.
        per_half_(static_cast<double>(buckets.size()) / (high_ / 2 - low_ / 2)) {}

  void add(double value) noexcept {
    const bool inside = value >= low_ && value <= high_;
    if (!inside) return;  // NaN and infinities
    const auto last = buckets_.size() - 1;
    auto index = std::min(last, static_cast<std::size_t>((value / 2 - low_ / 2) * per_half_));
    // Rounding may have led to the neighbour.
    if (value < buckets_[index].left) {
      --index;
    } else if (index < last && value >= buckets_[index].right) {
      ++index;
    }
    ++counts_[index];
  }

  void add(const Counter& other) noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

  void store(std::vector<Bucket>& buckets) const noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) buckets[i].count = static_cast<double>(counts_[i]);
  }

 private:
  const std::vector<Bucket>& buckets_;
  std::vector<std::uint64_t> counts_;
  double low_;
  double high_;
  double per_half_;
};

void count(const TensorView& view, Counter& counter) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  tensor::for_each_run(view, [&](const std::byte* at, std::int64_t run, std::int64_t stride) {
    for (std::int64_t i = 0; i < run; ++i) counter.add(tensor::element_as_double(at + i * stride * size, view.dtype));
  });
}

// The same for values that are floats: estimated in vectors, and corrected without branches.
class FloatCounter {
 public:
  // Whether estimates are off by one at most.
  static bool suits(const TensorView& view, const std::vector<Bucket>& buckets) noexcept {
    constexpr double kLeastRange = 1e-30;  // where floats are as dense as their bits say
    constexpr std::size_t kMostBuckets = std::size_t{1} << 20;
    return is_float_exact(view.dtype) && buckets.size() <= kMostBuckets &&
           buckets.back().right - buckets.front().left >= kLeastRange;
  }

  FloatCounter(const std::vector<Bucket>& buckets, const Summary& summary)
      : all_finite_(summary.finite() == summary.count),
        edges_(buckets.size() + 1),
        counts_(kTables * (buckets.size() + 1)),
        size_(buckets.size()) {
    const double low = buckets.front().left;
    const double high = buckets.back().right;
    grid_ = {.half_low = static_cast<float>(low / 2),
             .per_half = static_cast<float>(static_cast<double>(size_) / (high / 2 - low / 2)),
             .last = static_cast<float>(size_ - 1)};
    for (std::size_t i = 1; i < size_; ++i) edges_[i] = at_least(buckets[i].left);
    edges_[0] = -std::numeric_limits<float>::infinity();
    edges_[size_] = std::numeric_limits<float>::infinity();
  }

  void add(const TensorView& view) {
    tensor::for_each_run(view, [&](const std::byte* at, std::int64_t run, std::int64_t stride) {
      const auto step = stride * static_cast<std::int64_t>(size_of(view.dtype));
      alignas(64) std::array<float, kBlock> gathered;
      for (std::int64_t piece = 0; run > 0; run -= piece, at += piece * step) {
        piece = std::min(run, static_cast<std::int64_t>(kBlock));
        const bool dense = view.dtype == DType::f32 && stride == 1 && is_aligned(at);
        if (!dense) gather(view.dtype, at, piece, stride, gathered.data());
        add_block(dense ? reinterpret_cast<const float*>(at) : gathered.data(), static_cast<std::size_t>(piece));
      }
    });
  }

  void add(const FloatCounter& other) noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

  void store(std::vector<Bucket>& buckets) const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      std::uint64_t sum = 0;
      for (std::size_t table = 0; table < kTables; ++table) sum += counts_[i * kTables + table];
      buckets[i].count = static_cast<double>(sum);
    }
  }

 private:
  static constexpr std::size_t kTables = 2;  // taken in turn, since equal values would wait for each other

  // The smallest float that is not below an edge: floats lie on the same side of both.
  static float at_least(double edge) noexcept {
    const auto rounded = static_cast<float>(edge);
    return static_cast<double>(rounded) < edge ? std::nextafter(rounded, std::numeric_limits<float>::infinity())
                                               : rounded;
  }

  static bool is_aligned(const std::byte* at) noexcept {
    return reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0;
  }

  void add_block(const float* values, std::size_t count) noexcept {
    alignas(64) std::array<std::int32_t, kBlock> estimates;
    alignas(64) std::array<float, kBlock> finite;
    if (!all_finite_) {
      NonFinite rest;
      count = take_finite(values, count, finite.data(), rest);
      values = finite.data();
    }
    estimate_buckets(values, count, grid_, estimates.data());
    for (std::size_t i = 0; i < count; ++i) {
      auto bucket = static_cast<std::size_t>(estimates[i]);
      bucket = bucket + (values[i] >= edges_[bucket + 1] ? 1U : 0U) - (values[i] < edges_[bucket] ? 1U : 0U);
      ++counts_[bucket * kTables + i % kTables];
    }
  }

  BucketGrid grid_;
  bool all_finite_;
  std::vector<float> edges_;           // of floats; the outer ones are infinite, so that nothing is beyond them
  std::vector<std::uint64_t> counts_;  // room for one bucket more: the values may have changed to infinities
  std::size_t size_;
};

template <class AnyCounter, class Add>
void count_parts(const TensorView& view, const AnyCounter& empty, const Add& add, base::TaskPool& pool,
                 std::vector<Bucket>& buckets) {
  const std::vector<TensorView> parts = parts_of(view);
  std::vector<AnyCounter> counters(parts.size(), empty);
  pool.run(parts.size(), [&](std::size_t i) { add(parts[i], counters[i]); });
  for (std::size_t i = 1; i < counters.size(); ++i) counters[0].add(counters[i]);
  counters[0].store(buckets);
}

}  // namespace

std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets, base::TaskPool& pool) {
  std::vector<Bucket> result = tensorboard_buckets(summary, histogram, buckets);
  if (result.size() < 2 || !is_coarse(result, summary, histogram)) return result;
  if (FloatCounter::suits(view, result)) {
    count_parts(
        view, FloatCounter(result, summary), [](const TensorView& part, FloatCounter& counter) { counter.add(part); },
        pool, result);
  } else {
    count_parts(view, Counter(result), count, pool, result);
  }
  return result;
}

std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets) {
  base::TaskPool alone("stats", 1);
  return tensorboard_buckets(view, summary, histogram, buckets, alone);
}

}  // namespace sonde::stats
