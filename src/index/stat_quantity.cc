#include "index/stat_quantity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "formats/tensor_tags.h"

namespace sonde::index {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Series* find_statistics(const RunData& run, const tags::TensorId& id) {
  return run.find(tags::tag_of(id, tags::Plugin::histograms), TagKind::statistics);
}

// The same tensor under another kind.
const Series* of_kind(const RunData& run, tags::TensorId id, Kind kind) {
  id.kind = kind;
  return find_statistics(run, id);
}

StatQuantity update_ratio(const RunData& run, const tags::TensorId& id) {
  StatQuantity quantity;
  if (id.kind != Kind::weight && id.kind != Kind::update) return quantity;
  quantity.divisor = of_kind(run, id, Kind::weight);
  if (quantity.divisor != nullptr) quantity.source = of_kind(run, id, Kind::update);
  return quantity;
}

StatQuantity depth_gain(const RunData& run, const Series& series, const tags::TensorId& id,
                        const std::vector<ProbeInfo>& probes) {
  StatQuantity quantity;
  const ProbeInfo* before = nullptr;
  for (const ProbeInfo& probe : probes) {
    if (probe.kind != id.kind) continue;
    if (probe.name == id.name) break;
    before = &probe;
  }
  if (before == nullptr) return quantity;
  tags::TensorId wanted = {before->name, id.kind, id.occurrence, id.evaluation};
  quantity.divisor = find_statistics(run, wanted);
  wanted.occurrence = 0;
  if (quantity.divisor == nullptr) quantity.divisor = find_statistics(run, wanted);
  if (quantity.divisor != nullptr) quantity.source = &series;
  return quantity;
}

StatQuantity drift(const RunData& run, const Timeline& timeline, const Series& series, StatSelection& selection) {
  StatQuantity quantity = {.statistic = Statistic::drift};
  const RunStatistics& statistics = run.packed_statistics();
  const SelectedFiles& files = selection.files(series.evaluation);
  std::int64_t first = 0;
  for (const std::uint32_t file : timeline.order) {
    const auto track = series.statistics.find(file);
    const auto records = files.find(file);
    if (track == series.statistics.end() || records == files.end()) continue;
    const StatStream& stream = *statistics.find(file, series.evaluation);
    const auto take = [&]() -> bool {
      for (const StatTrack::Place& place : track->second.places) {
        const StatChunk chunk = stream.chunk(place.chunk);
        for (std::size_t i = 0; i < chunk.size(place.row); ++i) {
          const std::size_t record = stream.first_record(place.chunk) + chunk.record(place.row, i);
          if (records->second.cells[record] < 0) continue;
          const std::int64_t step = records->second.steps->at(record).step;
          if (quantity.source != nullptr && step >= first) return true;
          first = step;
          quantity.source = &series;
          chunk.read(place.row, Statistic::mean, i, i + 1, &quantity.mean);
          chunk.read(place.row, Statistic::std, i, i + 1, &quantity.std);
          return true;
        }
      }
      return false;
    };
    take();
  }
  return quantity;
}

}  // namespace

StatQuantity quantity_of(const RunData& run, const Timeline& timeline, const Series& series, Statistic statistic,
                         const std::vector<ProbeInfo>& probes, StatSelection& selection) {
  if (statistic == Statistic::drift) return drift(run, timeline, series, selection);
  if (statistic != Statistic::update_ratio && statistic != Statistic::depth_gain) {
    return {.statistic = statistic, .source = &series};
  }
  const std::optional<tags::TaggedTensor> tensor = tags::tensor_of(series.tag);
  if (!tensor) return {};
  return statistic == Statistic::update_ratio ? update_ratio(run, tensor->id)
                                              : depth_gain(run, series, tensor->id, probes);
}

QuantityReader::QuantityReader(const StatQuantity& quantity, const StatStream& stream, std::uint32_t file) noexcept
    : quantity_(quantity), stream_(stream) {
  if (quantity.divisor == nullptr || quantity.divisor->evaluation != quantity.source->evaluation) return;
  const auto found = quantity.divisor->statistics.find(file);
  if (found != quantity.divisor->statistics.end()) divisor_ = &found->second;
}

void QuantityReader::read(const StatTrack::Place& place, std::size_t begin, std::size_t end,
                          double* to) const noexcept {
  const StatChunk chunk = stream_.chunk(place.chunk);
  if (quantity_.is_plain()) return chunk.read(place.row, quantity_.statistic, begin, end, to);
  double other[StatChunk::kMostRead];
  if (quantity_.statistic == Statistic::drift) {
    chunk.read(place.row, Statistic::mean, begin, end, to);
    chunk.read(place.row, Statistic::std, begin, end, other);
    for (std::size_t i = 0; i < end - begin; ++i) {
      to[i] = std::hypot(to[i] - quantity_.mean, other[i] - quantity_.std) / quantity_.std;
    }
    return;
  }
  chunk.read(place.row, quantity_.statistic, begin, end, to);
  read_divisor(place, begin, end, other);
  for (std::size_t i = 0; i < end - begin; ++i) to[i] /= other[i];
}

void QuantityReader::read_divisor(const StatTrack::Place& place, std::size_t begin, std::size_t end,
                                  double* to) const noexcept {
  std::fill_n(to, end - begin, kNaN);
  if (divisor_ == nullptr) return;
  const auto found = std::ranges::lower_bound(divisor_->places, place.chunk, {}, &StatTrack::Place::chunk);
  if (found == divisor_->places.end() || found->chunk != place.chunk) return;
  const StatChunk chunk = stream_.chunk(place.chunk);
  const std::size_t row = found->row;
  if (chunk.is_consecutive(row) && chunk.is_consecutive(place.row)) {
    // The records of both are consecutive: those in common are too.
    const std::size_t first = chunk.record(place.row, 0) + begin;
    const std::size_t other_first = chunk.record(row, 0);
    const std::size_t low = std::max(first, other_first);
    const std::size_t high = std::min(first + (end - begin), other_first + chunk.size(row));
    if (low < high) chunk.read(row, quantity_.statistic, low - other_first, high - other_first, to + (low - first));
    return;
  }
  std::size_t j = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t record = chunk.record(place.row, i);
    while (j < chunk.size(row) && chunk.record(row, j) < record) ++j;
    if (j == chunk.size(row)) return;
    if (chunk.record(row, j) == record) chunk.read(row, quantity_.statistic, j, j + 1, to + (i - begin));
  }
}

}  // namespace sonde::index
