#include "stats/buckets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stats/gather.h"
#include "stats/kernels.h"
#include "stats/parts.h"
#include "tensor/copy.h"

namespace sonde::stats {
namespace {

constexpr std::uint64_t kCoarse = 50;  // a bin is coarse if it holds more than 1 / kCoarse of the values

// The smallest float that is not below an edge: floats lie on the same side of both.
float at_least(double edge) noexcept {
  const auto rounded = static_cast<float>(edge);
  return static_cast<double>(rounded) < edge ? std::nextafter(rounded, std::numeric_limits<float>::infinity())
                                             : rounded;
}

template <class T>
bool is_dense(const TensorView& view, const std::byte* at, std::int64_t stride) noexcept {
  return view.dtype == dtype_of<T> && stride == 1 && reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0;
}

template <class T>
void count_view(const TensorView& view, std::span<const T> edges, std::uint64_t* counts) noexcept {
  tensor::for_each_run(view, [&](const std::byte* at, std::int64_t run, std::int64_t stride) {
    const auto step = stride * static_cast<std::int64_t>(size_of(view.dtype));
    alignas(64) std::array<T, kBlock> gathered;
    const bool dense = is_dense<T>(view, at, stride);
    for (std::int64_t piece = 0; run > 0; run -= piece, at += piece * step) {
      piece = std::min(run, static_cast<std::int64_t>(kBlock));
      if (!dense) gather(view.dtype, at, piece, stride, gathered.data());
      count_below(dense ? reinterpret_cast<const T*>(at) : gathered.data(), static_cast<std::size_t>(piece), edges,
                  counts);
    }
  });
}

// How many values are below each of the edges.
template <class T>
std::vector<std::uint64_t> count(const TensorView& view, const std::vector<T>& edges, base::TaskPool& pool) {
  std::vector<std::uint64_t> counts(edges.size());
  if (view.size() <= kPartElements) {
    count_view<T>(view, edges, counts.data());
    return counts;
  }
  const std::vector<TensorView> parts = parts_of(view);
  std::vector<std::uint64_t> of_parts(parts.size() * edges.size());
  pool.run(parts.size(), [&](std::size_t i) { count_view<T>(parts[i], edges, &of_parts[i * edges.size()]); });
  for (std::size_t i = 0; i < of_parts.size(); ++i) counts[i % edges.size()] += of_parts[i];
  return counts;
}

// Makes exact what is estimated.
template <class T>
void count_estimated(const TensorView& view, const Summary& summary, std::vector<BucketEdge>& edges,
                     base::TaskPool& pool) {
  std::vector<T> values;
  for (const BucketEdge& edge : edges) {
    if (edge.in_its_bin == 0) continue;
    if constexpr (sizeof(T) == sizeof(float)) {
      values.push_back(at_least(edge.value));
    } else {
      values.push_back(edge.value);
    }
  }
  const std::vector<std::uint64_t> counts = count(view, values, pool);
  auto next = counts.begin();
  for (BucketEdge& edge : edges) {
    if (edge.in_its_bin == 0) continue;
    // Bounded, since the values of a frozen tensor whose owner breaks the promise may have changed.
    const std::uint64_t below = *next - std::min(*next, summary.negative_infinity);
    edge.below = static_cast<double>(std::min(below, summary.finite()));
    ++next;
  }
}

}  // namespace

std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets, base::TaskPool& pool) {
  if (summary.finite() == 0 || summary.min == summary.max || buckets < 2) {
    return tensorboard_buckets(summary, histogram, buckets);
  }
  std::vector<BucketEdge> edges;
  find_bucket_edges(summary, histogram, static_cast<std::size_t>(buckets), edges);
  // Whether sharing out a fine bin over the buckets that it straddles would show.
  const std::uint64_t limit = summary.finite() / kCoarse;
  if (std::ranges::any_of(edges, [&](const BucketEdge& edge) { return edge.in_its_bin > limit; })) {
    if (is_float_exact(view.dtype)) {
      count_estimated<float>(view, summary, edges, pool);
    } else {
      count_estimated<double>(view, summary, edges, pool);
    }
  }
  return buckets_between(summary, summary.finite(), edges);
}

std::vector<Bucket> tensorboard_buckets(const TensorView& view, const Summary& summary, const Histogram& histogram,
                                        int buckets) {
  base::TaskPool alone("stats", 1);
  return tensorboard_buckets(view, summary, histogram, buckets, alone);
}

}  // namespace sonde::stats
