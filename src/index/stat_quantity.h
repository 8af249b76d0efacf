// Statistics of a tensor that one row of a chunk does not hold alone: ratios of two tensors at the same records, and
// the distance from the first record.
#pragma once

#include <cstddef>
#include <vector>

#include "index/run_data.h"
#include "index/stat_select.h"

namespace sonde::index {

// A statistic of a tensor, resolved: which rows it is read from.
struct StatQuantity {
  Statistic statistic = Statistic::rms;  // of `source`, as a chunk holds it; or drift
  const Series* source = nullptr;        // null: a tensor that it needs was not recorded
  const Series* divisor = nullptr;       // not null: the value is divided by the same statistic of this tensor
  double mean = 0;                       // of the first record, for drift
  double std = 0;

  bool is_plain() const noexcept { return divisor == nullptr && statistic != Statistic::drift; }
};

// `probes`: in the order of execution, needed only for depth_gain. `selection`: of the whole run.
StatQuantity quantity_of(const RunData& run, const Timeline& timeline, const Series& series, Statistic statistic,
                         const std::vector<ProbeInfo>& probes, StatSelection& selection);

// Reads a quantity from the chunks of one file.
class QuantityReader {
 public:
  QuantityReader(const StatQuantity& quantity, const StatStream& stream, std::uint32_t file) noexcept;

  // The values [begin, end) of a row of the quantity's source, at most StatChunk::kMostRead; NaN if not defined.
  void read(const StatTrack::Place& place, std::size_t begin, std::size_t end, double* to) const noexcept;

 private:
  void read_divisor(const StatTrack::Place& place, std::size_t begin, std::size_t end, double* to) const noexcept;

  const StatQuantity& quantity_;
  const StatStream& stream_;
  const StatTrack* divisor_ = nullptr;
};

// Calls `visit(record, value)` for each value of a track of the quantity's source.
template <class Visit>
void visit_quantity(const QuantityReader& reader, const StatStream& stream, const StatTrack& track, Visit visit) {
  double values[StatChunk::kMostRead];
  for (const StatTrack::Place& place : track.places) {
    const StatChunk chunk = stream.chunk(place.chunk);
    const std::size_t first = stream.first_record(place.chunk);
    for (std::size_t at = 0; at < chunk.size(place.row); at += StatChunk::kMostRead) {
      const std::size_t behind = std::min(chunk.size(place.row), at + StatChunk::kMostRead);
      reader.read(place, at, behind, values);
      for (std::size_t i = at; i < behind; ++i) visit(first + chunk.record(place.row, i), values[i - at]);
    }
  }
}

}  // namespace sonde::index
