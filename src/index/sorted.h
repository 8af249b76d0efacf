// The points of a series in one file by ascending step, for files in which they have another order: several threads
// record one series, or a program counts back. Created on first use, and updated by sorting only the part that new
// points affect.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "index/ordered.h"

namespace sonde::index {

// Unique numbers: results computed under one generation are not valid under another.
inline std::uint64_t next_generation() noexcept {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Source has Item with `step` and `time`, size(), step_at(i), append(item), truncate(count), pack() and
// visit(begin, end, visit).
template <class Source>
class Sorted {
 public:
  const Source& points() const noexcept { return sorted_; }
  // Changes whenever existing points have moved.
  std::uint64_t generation() const noexcept { return generation_; }

  // `from` still has all points of the last call. It is sorted section by section; `ends` are the ends of the sections,
  // the last at its size.
  void update(const Source& from, std::span<const std::size_t> ends) {
    if (from.size() == covered_) return;
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      if (end > covered_) {
        extend(from, begin, end);
        covered_ = end;
      }
      begin = end;
    }
    sorted_.pack();
  }

 private:
  using Item = typename Source::Item;
  static constexpr std::size_t kChunk = 1024;
  static constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

  // Adds the new points of the section [begin, end).
  void extend(const Source& from, std::size_t begin, std::size_t end) {
    const std::size_t first = std::max(begin, covered_);
    const std::vector<std::int64_t> lowest = lowest_steps(from, first, end);
    take_back(begin, first, lowest.front());
    // A point can be written when no lower step follows. Looking for such points costs a pass over the waiting ones, so
    // it is done when their number has doubled.
    std::size_t next_look = 4 * kChunk;
    for (std::size_t chunk = 0; chunk + 1 < lowest.size(); ++chunk) {
      const std::size_t at = first + chunk * kChunk;
      from.visit(at, std::min(at + kChunk, end), [&](const Item& item) { waiting_.push_back(item); });
      if (waiting_.size() < next_look) continue;
      release(lowest[chunk + 1]);
      next_look = std::max(4 * kChunk, 2 * waiting_.size());
    }
    std::ranges::stable_sort(waiting_, BeforeByStep());
    for (const Item& item : waiting_) sorted_.append(item);
    waiting_ = {};
  }

  // For each chunk the lowest step in it or after it; then the highest possible.
  static std::vector<std::int64_t> lowest_steps(const Source& from, std::size_t first, std::size_t end) {
    std::vector<std::int64_t> lowest((end - first + kChunk - 1) / kChunk + 1, kHighest);
    std::size_t at = 0;
    from.visit(first, end, [&](const Item& item) {
      std::int64_t& low = lowest[at++ / kChunk];
      low = std::min(low, item.step);
    });
    for (std::size_t i = lowest.size() - 1; i-- > 0;) lowest[i] = std::min(lowest[i], lowest[i + 1]);
    return lowest;
  }

  // Points of the section at or above the step have to be sorted again.
  void take_back(std::size_t begin, std::size_t end, std::int64_t step) {
    std::size_t low = begin;
    std::size_t high = end;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (sorted_.step_at(middle) < step) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == end) return;
    sorted_.visit(low, end, [&](const Item& item) { waiting_.push_back(item); });
    sorted_.truncate(low);
    generation_ = next_generation();
  }

  void release(std::int64_t below) {
    const auto end =
        std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Item& item) { return item.step < below; });
    std::stable_sort(waiting_.begin(), end, BeforeByStep());
    for (auto item = waiting_.begin(); item != end; ++item) sorted_.append(*item);
    waiting_.erase(waiting_.begin(), end);
  }

  Source sorted_;
  std::size_t covered_ = 0;
  std::uint64_t generation_ = next_generation();
  std::vector<Item> waiting_;
};

}  // namespace sonde::index
