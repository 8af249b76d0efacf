// Any bytes as the files of a run: an event file, or a statistics file if the first byte is odd. Records are accepted
// without their checksums, or hardly any would get through.
#include <cstdlib>

#include "index/cache.h"
#include "index/draw.h"
#include "index/record_readers.h"
#include "index/select.h"

namespace {

using namespace sonde;
using namespace sonde::index;

// Lengths of two bytes, each followed by that many bytes: records without their checksums.
template <class Reader>
void read_all(RunData& run, base::Bytes bytes) {
  Reader reader(run, 0);
  base::ByteReader from(bytes);
  while (!from.done()) {
    const std::uint64_t offset = from.position();
    const base::Bytes payload = from.take(from.get<std::uint16_t>());
    if (from.ok()) reader.read(offset, payload);
  }
}

void ask(const RunData& run, const Series& series) {
  std::vector<ColumnStretch> stretches;
  const Timeline timeline = run.timeline();
  std::size_t points = 0;
  for (const auto& selected : select(run, series.columns, series, timeline, History::newest)) {
    const Column& column = *selected.source;
    if (selected.begin >= selected.end || selected.end > column.size()) std::abort();
    for (std::size_t i = selected.begin + 1; i < selected.end; ++i) {
      if (column.step_at(i) < column.step_at(i - 1)) std::abort();
    }
    points += selected.end - selected.begin;
    stretches.push_back({&column, selected.begin, selected.end});
  }
  if (points > written_points(series.columns)) std::abort();
  if (series.restarts.empty() && points < written_points(series.columns)) std::abort();
  for (const Axis axis : {Axis::step, Axis::wall_time}) {
    const Drawing drawing = draw(stretches, 7, {}, axis);
    if (drawing.points.size() > 28) std::abort();
  }
}

std::size_t points_of(const RunData& run) {
  std::size_t points = 0;
  for (const Series& series : run.series()) {
    for (const auto& entry : series.columns.entries()) points += entry.source.size();
    for (const auto& entry : series.tracks.entries()) points += entry.source.size();
    for (const auto& [file, track] : series.statistics) points += track.size;
  }
  return points;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const base::Bytes bytes{reinterpret_cast<const std::byte*>(data) + 1, size - 1};
  RunData run;
  run.files.emplace_back();
  if (data[0] % 2 == 0) {
    read_all<EventReader>(run, bytes);
  } else {
    read_all<StatisticsReader>(run, bytes);
  }
  for (Series& series : run.series()) {
    for (auto& entry : series.columns.entries()) entry.source.pack();
    ask(run, series);
  }
  for (const bool evaluation : {false, true}) {
    for (auto& entry : run.statistics.steps(evaluation).columns.entries()) entry.source.pack();
  }
  // What the cache gives back is what went in.
  const auto cached = encode_cache(run);
  RunData restored;
  if (!cached || !decode_cache(base::as_bytes(*cached), nullptr, restored)) std::abort();
  if (restored.series().size() != run.series().size() || points_of(restored) != points_of(run)) std::abort();
  return 0;
}
