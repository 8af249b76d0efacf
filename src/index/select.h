// The points of a series that a question covers.
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

// The sources of a series in the order of their files. A file without points of the series still counts if it has a
// session start.
template <class Source>
std::vector<Part<Source>> parts_of(const RunData& run, const ByFile<Source>& by_file, const Series& series,
                                   const Timeline& timeline) {
  static const Source nothing;
  std::vector<Part<Source>> by_number(timeline.order.size());
  const auto begin_part = [&](std::uint32_t file) -> Part<Source>& {
    by_number[file].file = file;
    return by_number[file];
  };
  for (const Restart& restart : series.restarts) begin_part(restart.file).written = &nothing;
  for (const auto& entry : by_file.entries()) begin_part(entry.file).written = &entry.source;
  for (const Restart& restart : series.restarts) {
    Part<Source>& part = by_number[restart.file];
    if (restart.index > 0 && restart.index < part.written->size()) part.ends.push_back(restart.index);
  }
  for (Part<Source>& part : by_number) {
    if (part.written == nullptr) continue;
    std::ranges::sort(part.ends);
    const auto repeated = std::ranges::unique(part.ends);
    part.ends.erase(repeated.begin(), repeated.end());
    part.ends.push_back(part.written->size());
    part.sorted = part.written;
  }
  for (const auto& entry : by_file.entries()) {
    Part<Source>& part = by_number[entry.file];
    part.sorted = &run.sorted<Source>(entry, part.ends);
  }
  std::vector<Part<Source>> parts;
  for (const std::uint32_t file : timeline.order) {
    if (by_number[file].written != nullptr) parts.push_back(std::move(by_number[file]));
  }
  return parts;
}

// A part of a series, by ascending step unless the full history is requested.
template <class Source>
struct Selected {
  const Source* source = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t file = 0;
};

template <class Source>
std::vector<Selected<Source>> select(const RunData& run, const ByFile<Source>& by_file, const Series& series,
                                     const Timeline& timeline, History history) {
  std::vector<Selected<Source>> selected;
  if (history == History::all) {
    for (const std::uint32_t file : timeline.order) {
      const auto entry = std::ranges::find(by_file.entries(), file, &ByFile<Source>::Entry::file);
      if (entry != by_file.entries().end()) selected.push_back({&entry->source, 0, entry->source.size(), file});
    }
    return selected;
  }
  if (by_file.entries().size() == 1 && series.restarts.empty()) {  // the usual case
    const auto& entry = by_file.entries().front();
    const std::size_t size = entry.source.size();
    if (size > 0) selected.push_back({&run.sorted<Source>(entry, std::span(&size, 1)), 0, size, entry.file});
    return selected;
  }
  const std::vector<Part<Source>> parts = parts_of(run, by_file, series, timeline);
  std::vector<Span> spans;
  for (const Part<Source>& part : parts) spans.push_back(timeline.spans[part.file]);
  std::vector<Stretch> stretches = newest_history<Source>(parts, spans, series.restarts);
  std::ranges::stable_sort(stretches, {}, &Stretch::first_step);
  for (const Stretch& stretch : stretches) {
    const auto part = std::ranges::find(parts, stretch.file, &Part<Source>::file);
    selected.push_back({part->sorted, stretch.begin, stretch.end, stretch.file});
  }
  return selected;
}

// The number of points of a series in its files, including replaced ones.
template <class Source>
std::size_t written_points(const ByFile<Source>& by_file) {
  std::size_t points = 0;
  for (const auto& entry : by_file.entries()) points += entry.source.size();
  return points;
}

inline bool contains(const Range& range, std::int64_t step, double time) noexcept {
  // A NaN time is inside every range.
  return step >= range.first_step && step <= range.last_step && !(time < range.first_time) && !(time > range.last_time);
}

// The part of a stretch of ascending steps within the range of steps.
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
