// Which points of a series a question is about.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/history.h"
#include "index/run_data.h"
#include "sonde/log.h"

namespace sonde::index {

// The sources of a series in the order of their files. A file in which the series has no point still counts where the
// writer of it said that it starts again.
template <class Source>
std::vector<Part<Source>> parts_of(const ByFile<Source>& by_file, const Series& series,
                                   std::span<const std::uint32_t> order) {
  static const Source nothing;
  std::vector<const Source*> sources(order.size());  // by number of the file
  for (const Restart& restart : series.restarts) sources[restart.file] = &nothing;
  for (const auto& entry : by_file.entries()) sources[entry.file] = &entry.source;
  std::vector<Part<Source>> parts;
  for (const std::uint32_t file : order) {
    if (sources[file] != nullptr) parts.push_back({file, sources[file]});
  }
  return parts;
}

template <class Source>
struct Selected {
  const Source* source = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

template <class Source>
std::vector<Selected<Source>> select(const ByFile<Source>& by_file, const Series& series,
                                     std::span<const std::uint32_t> order, History history) {
  std::vector<Selected<Source>> selected;
  if (by_file.entries().size() == 1 && series.restarts.empty()) {  // as nearly always
    const Source& source = by_file.entries().front().source;
    if (source.breaks().empty()) {
      if (source.size() > 0) selected.push_back({&source, 0, source.size()});
      return selected;
    }
  }
  const std::vector<Part<Source>> parts = parts_of(by_file, series, order);
  if (history == History::all) {
    for (const Part<Source>& part : parts) selected.push_back({part.source, 0, part.source->size()});
    return selected;
  }
  std::vector<Stretch> stretches = newest_history<Source>(parts, series.restarts);
  std::ranges::stable_sort(stretches, {}, &Stretch::first_step);
  for (const Stretch& stretch : stretches) {
    const auto part = std::ranges::find(parts, stretch.file, &Part<Source>::file);
    selected.push_back({part->source, stretch.begin, stretch.end});
  }
  return selected;
}

inline bool contains(const Range& range, std::int64_t step, double time) noexcept {
  // A time that is no number is outside of no range.
  return step >= range.first_step && step <= range.last_step && !(time < range.first_time) && !(time > range.last_time);
}

// The part of a stretch of ascending steps that lies in the range of steps.
template <class Source>
void narrow(Selected<Source>& selected, const Range& range) {
  const auto first_where = [&](auto reached) {
    std::size_t low = selected.begin;
    std::size_t high = selected.end;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (reached(selected.source->step_at(middle))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const std::size_t begin = first_where([&](std::int64_t step) { return step >= range.first_step; });
  const std::size_t end = first_where([&](std::int64_t step) { return step > range.last_step; });
  selected.begin = begin;
  selected.end = std::max(begin, end);
}

}  // namespace sonde::index
