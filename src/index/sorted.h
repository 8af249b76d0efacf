// The points of a series in one file by ascending step, for files in which they are in another order: several threads
// that record one series, or a program that counts back. Made when it is first asked for, and kept up to date by
// sorting no more than what new points mix with.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "index/ordered.h"

namespace sonde::index {

// Numbers that never repeat: what was made under one of them is of no use under another.
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
  // Another one whenever points that were there have moved.
  std::uint64_t generation() const noexcept { return generation_; }

  // `from` has all points that it had the last time. It is sorted section by section; `ends` are where sections end,
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

  // Adds what is not covered yet of the section [begin, end).
  void extend(const Source& from, std::size_t begin, std::size_t end) {
    const std::size_t first = std::max(begin, covered_);
    const std::vector<std::int64_t> lowest = lowest_steps(from, first, end);
    take_back(begin, first, lowest.front());
    // A point can leave when no lower step follows. To look for such points costs a pass over those that wait, so that
    // it is done when there are twice as many as the last time.
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

  // For each chunk the lowest step in it or behind it; then the highest there is.
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

  // Points of the section that are at or above the step have to be sorted again.
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
