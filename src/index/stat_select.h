// Which records of a run's statistics files count, and the column of a map for each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "index/run_data.h"
#include "index/select.h"

namespace sonde::index {

// The records of one file.
struct SelectedRecords {
  const Column* steps = nullptr;    // of all its records, in the order written
  std::vector<std::int32_t> cells;  // of each record; -1: it does not count
  std::vector<std::uint32_t> ends;  // of each record: the first one after it that has another cell
  std::size_t begin = 0;            // those that count are in [begin, end)
  std::size_t end = 0;
  std::size_t count = 0;
  bool ascending = true;  // cells never decrease

  bool all() const noexcept { return count == cells.size(); }
  // All of [begin, end) count, and their cells ascend.
  bool is_plain() const noexcept { return ascending && count == end - begin; }
};

using SelectedFiles = std::map<std::uint32_t, SelectedRecords>;

// The records of training steps or of evaluation passes that are part of the history and in the range; `cell_of(step)`
// is called for each.
template <class CellOf>
SelectedFiles select_records(const RunData& run, const Timeline& timeline, bool evaluation, History history,
                             const Range& range, CellOf cell_of) {
  SelectedFiles files;
  const Series& steps = run.statistics.steps(evaluation);
  for (const auto& entry : steps.columns.entries()) {
    SelectedRecords& made = files[entry.file];
    made.steps = &entry.source;
    made.cells.assign(entry.source.size(), -1);
  }
  for (Selected<Column>& selected : select(run, steps.columns, steps, timeline, history)) {
    if (history == History::newest) narrow(selected, range);
    SelectedRecords& made = files[selected.file];
    selected.source->visit(selected.begin, selected.end, [&](const Point& point) {
      if (!contains(range, point.step, point.time)) return;
      const auto record = static_cast<std::size_t>(point.value);
      made.cells[record] = cell_of(point.step);
      made.begin = made.count == 0 ? record : std::min(made.begin, record);
      made.end = std::max(made.end, record + 1);
      ++made.count;
    });
  }
  for (auto& [file, made] : files) {
    const auto begin = made.cells.begin() + static_cast<std::ptrdiff_t>(made.begin);
    const auto end = made.cells.begin() + static_cast<std::ptrdiff_t>(made.end);
    made.ascending = std::is_sorted(begin, end) && made.steps->is_sorted();
    made.ends.resize(made.cells.size());
    for (std::size_t i = made.cells.size(); i-- > 0;) {
      const bool is_last = i + 1 == made.cells.size() || made.cells[i + 1] != made.cells[i];
      made.ends[i] = is_last ? static_cast<std::uint32_t>(i + 1) : made.ends[i + 1];
    }
  }
  return files;
}

// Calls `visit(record, chunk, row, i)` for each value of a track.
template <class Visit>
void visit_values(const StatStream& stream, const StatTrack& track, Visit visit) {
  for (const StatTrack::Place& place : track.places) {
    const StatChunk chunk = stream.chunk(place.chunk);
    const std::size_t first = stream.first_record(place.chunk);
    for (std::size_t i = 0; i < chunk.size(place.row); ++i) {
      visit(first + chunk.record(place.row, i), chunk, place.row, i);
    }
  }
}

// Both histories of a question, created on demand: one question may cover all tags of a run.
class StatSelection {
 public:
  StatSelection(const RunData& run, const Timeline& timeline) : run_(run), timeline_(timeline) {}
  const SelectedFiles& files(bool evaluation) {
    std::optional<SelectedFiles>& made = made_[evaluation ? 1 : 0];
    if (!made) {
      made = select_records(run_, timeline_, evaluation, History::newest, {}, [](std::int64_t) { return 0; });
    }
    return *made;
  }

 private:
  const RunData& run_;
  const Timeline& timeline_;
  std::optional<SelectedFiles> made_[2];
};

}  // namespace sonde::index
