#include "stats/buckets.h"

#include <algorithm>
#include <array>
#include <cmath>

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
  for_each_run(view, [&](const std::byte* at, std::int64_t run, std::int64_t stride) {
    if (view.dtype == DType::f32) {  // by far the most common, and worth a loop without a switch
      const auto* values = reinterpret_cast<const float*>(at);
      for (std::int64_t i = 0; i < run; ++i) counter.add(static_cast<double>(values[i * stride]));
    } else {
      for (std::int64_t i = 0; i < run; ++i) counter.add(element_as_double(at + i * stride * size, view.dtype));
    }
  });
}

}  // namespace

std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets, TaskPool& pool) {
  std::vector<Bucket> result = tensorboard_buckets(summary, histogram, buckets);
  if (result.size() < 2 || !is_coarse(result, summary, histogram)) return result;
  const std::vector<TensorView> parts = parts_of(view);
  std::vector<Counter> counters(parts.size(), Counter(result));
  pool.run(parts.size(), [&](std::size_t i) { count(parts[i], counters[i]); });
  for (std::size_t i = 1; i < counters.size(); ++i) counters[0].add(counters[i]);
  counters[0].store(result);
  return result;
}

std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets) {
  TaskPool alone("stats", 1);
  return tensorboard_buckets(view, summary, histogram, buckets, alone);
}

}  // namespace sonde::stats
