// Answers questions about the statistics of tensors.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "index/ordered.h"
#include "index/run_index.h"
#include "index/select.h"
#include "index/stat_quantity.h"
#include "index/stat_select.h"

namespace sonde::index {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::size_t size_of(const Series& series) {
  std::size_t size = 0;
  for (const auto& [file, track] : series.statistics) size += track.size;
  return size;
}

// In integer arithmetic, which compilers vectorize.
bool are_finite(std::span<const double> values) noexcept {
  constexpr std::uint64_t kExponent = 0x7ff0'0000'0000'0000;  // all of its bits are set in NaN and infinity
  constexpr std::uint64_t kLowest = 0x0010'0000'0000'0000;
  std::uint64_t found = 0;  // the sum carries into the highest bit if one is not finite
  for (const double value : values) found |= (std::bit_cast<std::uint64_t>(value) & kExponent) + kLowest;
  return found >> 63U == 0;
}

// One row of a map.
class MapRow {
 public:
  MapRow(std::size_t width, const StatQuantity& quantity) : quantity_(quantity), cells_(width), others_(width) {}

  void add(const StatStream& stream, std::uint32_t file, const StatTrack& track, const SelectedRecords& records) {
    const QuantityReader reader(quantity_, stream, file);
    reader_ = &reader;
    const auto begin = std::ranges::upper_bound(track.places, records.begin, {}, [&](const StatTrack::Place& place) {
      return stream.first_record(place.chunk);
    });
    for (auto at = begin == track.places.begin() ? begin : std::prev(begin); at != track.places.end(); ++at) {
      place_ = *at;
      const StatChunk chunk = stream.chunk(place_.chunk);
      const std::size_t first = stream.first_record(place_.chunk);
      if (first >= records.end) break;
      if (first + chunk.records() <= records.begin) continue;
      if (chunk.is_consecutive(place_.row)) {
        add_consecutive(chunk, place_.row, first, records);
      } else {
        add_scattered(chunk, place_.row, first, records);
      }
    }
    reader_ = nullptr;
  }

  void put(StatisticsMap& map, std::size_t row) const {
    const std::size_t begin = row * map.width;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const StatChunk::Sum& cell = cells_[i];
      map.count[begin + i] = others_[i].count;
      map.nan[begin + i] = others_[i].nan;
      map.infinite[begin + i] = others_[i].infinite;
      if (cell.finite == 0) continue;
      map.min[begin + i] = cell.min;
      map.max[begin + i] = cell.max;
      map.mean[begin + i] = cell.sum / static_cast<double>(cell.finite);
    }
  }

 private:
  struct Counts {
    std::uint32_t count = 0;
    std::uint32_t nan = 0;
    std::uint32_t infinite = 0;
  };

  void add_consecutive(const StatChunk& chunk, std::size_t row, std::size_t first, const SelectedRecords& records) {
    const std::size_t offset = first + chunk.record(row, 0);  // the record of its first value
    const std::size_t size = chunk.size(row);
    const std::size_t low = std::max(records.begin, offset);
    const std::size_t high = std::min(records.end, offset + size);
    if (low >= high) return;
    const std::size_t begin = low - offset;
    const std::size_t end = high - offset;
    const std::int32_t* const cells = records.cells.data() + offset;
    if (quantity_.is_plain() && begin == 0 && end == size && records.is_plain() && cells[0] == cells[size - 1]) {
      if (const StatChunk::Sum* sum = chunk.sum(row, quantity_.statistic)) return add_sum(chunk, row, *sum, cells[0]);
    }
    for (std::size_t at = begin; at < end; at += StatChunk::kMostRead) {
      const std::size_t behind = std::min(end, at + StatChunk::kMostRead);
      read(chunk, row, at, behind);
      for (std::size_t i = at; i < behind;) {
        const std::size_t next = std::min<std::size_t>(behind, records.ends[offset + i] - offset);
        if (cells[i] >= 0) add_values(static_cast<std::size_t>(cells[i]), i - at, next - at);
        i = next;
      }
    }
  }

  void add_scattered(const StatChunk& chunk, std::size_t row, std::size_t first, const SelectedRecords& records) {
    for (std::size_t at = 0; at < chunk.size(row); at += StatChunk::kMostRead) {
      const std::size_t behind = std::min(chunk.size(row), at + StatChunk::kMostRead);
      read(chunk, row, at, behind);
      for (std::size_t i = at; i < behind; ++i) {
        const std::int32_t cell = records.cells[first + chunk.record(row, i)];
        if (cell >= 0) add_values(static_cast<std::size_t>(cell), i - at, i - at + 1);
      }
    }
  }

  void read(const StatChunk& chunk, std::size_t row, std::size_t begin, std::size_t end) {
    reader_->read(place_, begin, end, values_);
    all_finite_ = are_finite(std::span(values_).first(end - begin));
    has_nan_ = chunk.records_with_nan(row) > 0;
    has_infinity_ = chunk.records_with_infinity(row) > 0;
    if (has_nan_) chunk.read(row, Statistic::nan, begin, end, nan_);
    if (has_infinity_) {
      double negative[StatChunk::kMostRead];
      chunk.read(row, Statistic::positive_infinity, begin, end, infinite_);
      chunk.read(row, Statistic::negative_infinity, begin, end, negative);
      for (std::size_t i = 0; i < end - begin; ++i) infinite_[i] += negative[i];
    }
  }

  // Values [begin, end) of those that were read.
  void add_values(std::size_t cell, std::size_t begin, std::size_t end) noexcept {
    StatChunk::Sum sum = cells_[cell];
    if (all_finite_) {
      if (sum.finite == 0) sum.min = sum.max = values_[begin];
      for (std::size_t i = begin; i < end; ++i) {
        const double value = values_[i];
        sum.min = value < sum.min ? value : sum.min;
        sum.max = value > sum.max ? value : sum.max;
        sum.sum += value;
      }
      sum.finite += end - begin;
    } else {
      for (std::size_t i = begin; i < end; ++i) add_to(sum, values_[i]);
    }
    cells_[cell] = sum;
    Counts& counts = others_[cell];
    counts.count += static_cast<std::uint32_t>(end - begin);
    for (std::size_t i = begin; has_nan_ && i < end; ++i) counts.nan += static_cast<std::uint32_t>(nan_[i] > 0);
    for (std::size_t i = begin; has_infinity_ && i < end; ++i) {
      counts.infinite += static_cast<std::uint32_t>(infinite_[i] > 0);
    }
  }

  void add_sum(const StatChunk& chunk, std::size_t row, const StatChunk::Sum& sum, std::int32_t at) noexcept {
    if (at < 0) return;
    StatChunk::Sum& cell = cells_[static_cast<std::size_t>(at)];
    if (sum.finite > 0) {
      cell.min = cell.finite == 0 ? sum.min : std::min(cell.min, sum.min);
      cell.max = cell.finite == 0 ? sum.max : std::max(cell.max, sum.max);
      cell.sum += sum.sum;
      cell.finite += sum.finite;
    }
    Counts& counts = others_[static_cast<std::size_t>(at)];
    counts.count += static_cast<std::uint32_t>(chunk.size(row));
    counts.nan += chunk.records_with_nan(row);
    counts.infinite += chunk.records_with_infinity(row);
  }

  const StatQuantity& quantity_;
  const QuantityReader* reader_ = nullptr;  // of the file and the place that are being added
  StatTrack::Place place_;
  std::vector<StatChunk::Sum> cells_;
  std::vector<Counts> others_;
  bool all_finite_ = false;  // of the values that were read
  bool has_nan_ = false;
  bool has_infinity_ = false;
  double values_[StatChunk::kMostRead];
  double nan_[StatChunk::kMostRead];
  double infinite_[StatChunk::kMostRead];
};

// The values of the entry that `ref` refers to.
std::optional<StatValues> find_values(const StatStream& stream, const StatTrack& track, const ValueRef& ref) {
  const std::optional<std::size_t> record = stream.find_record(ref.offset);
  if (!record) return std::nullopt;
  const auto after = std::ranges::upper_bound(
      track.places, *record, {}, [&](const StatTrack::Place& place) { return stream.first_record(place.chunk); });
  if (after == track.places.begin()) return std::nullopt;
  const StatTrack::Place& place = *std::prev(after);
  const StatChunk chunk = stream.chunk(place.chunk);
  const auto wanted = std::pair(*record - stream.first_record(place.chunk), ref.part);
  std::size_t low = 0;  // by record and part, both of which ascend
  for (std::size_t high = chunk.size(place.row); low < high;) {
    const std::size_t middle = (low + high) / 2;
    const bool is_before =
        std::pair(std::size_t{chunk.record(place.row, middle)}, chunk.part(place.row, middle)) < wanted;
    (is_before ? low : high) = is_before ? middle + 1 : middle;
  }
  if (low == chunk.size(place.row)) return std::nullopt;
  if (std::pair(std::size_t{chunk.record(place.row, low)}, chunk.part(place.row, low)) != wanted) return std::nullopt;
  return chunk.values(place.row, low);
}

// 0 if there are no finite elements, as in the record.
double sum_abs(const StatValues& values) noexcept {
  const auto& [count, nan, positive_infinity, negative_infinity, zeros, negatives] = values.counts;
  const std::uint64_t finite = count - nan - positive_infinity - negative_infinity;
  return finite == 0 ? 0 : values.numbers[4] * static_cast<double>(finite);
}

}  // namespace

void RunIndex::count_statistics(const Series& series, StatSelection& selection, Tag& tag) const {
  const RunStatistics& statistics = data_.packed_statistics();
  const SelectedFiles& files = selection.files(series.evaluation);
  const auto take = [&](const Column& steps, std::size_t record) {
    const Point point = steps.at(record);
    const bool is_first = tag.points == 0;
    tag.first_step = is_first ? point.step : std::min(tag.first_step, point.step);
    tag.last_step = is_first ? point.step : std::max(tag.last_step, point.step);
    tag.first_time = is_first ? point.time : std::min(tag.first_time, point.time);
    tag.last_time = is_first ? point.time : std::max(tag.last_time, point.time);
  };
  for (const auto& [file, track] : series.statistics) {
    const auto records = files.find(file);
    if (records == files.end() || track.size == 0) continue;
    if (records->second.all() && records->second.ascending) {
      take(*records->second.steps, track.first_record);
      tag.points += track.size;
      take(*records->second.steps, track.last_record);
      continue;
    }
    visit_values(*statistics.find(file, series.evaluation), track, [&](std::size_t record, auto&&...) {
      if (records->second.cells[record] < 0) return;
      take(*records->second.steps, record);
      ++tag.points;
    });
  }
  tag.written_again = size_of(series) - tag.points;
}

std::vector<ValueRef> RunIndex::statistics_values(const Series& series, const Range& range, History history) const {
  const RunStatistics& statistics = data_.packed_statistics();
  const Timeline timeline = data_.timeline();
  const SelectedFiles files =
      select_records(data_, timeline, series.evaluation, history, range, [](auto) { return 0; });
  std::vector<ValueRef> values;
  for (const std::uint32_t file : timeline.order) {
    const auto track = series.statistics.find(file);
    const auto records = files.find(file);
    if (track == series.statistics.end() || records == files.end()) continue;
    const StatStream& stream = *statistics.find(file, series.evaluation);
    visit_values(stream, track->second,
                 [&](std::size_t record, const StatChunk& chunk, std::size_t row, std::size_t i) {
                   if (records->second.cells[record] < 0) return;
                   const Point point = records->second.steps->at(record);
                   values.push_back({point.step, point.time, stream.offset(record), file, chunk.part(row, i)});
                 });
  }
  return values;
}

NonFiniteSeries RunIndex::non_finite_statistics(const Series& series, StatSelection& selection) const {
  const RunStatistics& statistics = data_.packed_statistics();
  const SelectedFiles& files = selection.files(series.evaluation);
  NonFiniteSeries found;
  const auto place = [](std::int64_t step, double time) { return std::pair(step, ordered(time)); };
  for (const auto& [file, track] : series.statistics) {
    const auto records = files.find(file);
    if (records == files.end()) continue;
    for (const std::uint32_t record : track.non_finite) {
      if (records->second.cells[record] < 0) continue;
      const Point point = records->second.steps->at(record);
      if (found.count++ == 0 || place(point.step, point.time) < place(found.first_step, found.first_time)) {
        found.first_step = point.step;
        found.first_time = point.time;
      }
    }
  }
  if (found.count == 0) return found;
  std::uint64_t behind = 0;  // the first that is not finite, and all that follow it
  for (const auto& [file, track] : series.statistics) {
    const auto records = files.find(file);
    if (records == files.end()) continue;
    visit_values(*statistics.find(file, series.evaluation), track, [&](std::size_t record, auto&&...) {
      if (records->second.cells[record] < 0) return;
      const Point point = records->second.steps->at(record);
      if (place(point.step, point.time) >= place(found.first_step, found.first_time)) ++behind;
    });
  }
  found.until_the_end = found.count == behind;
  return found;
}

Result<store::StatisticsColumns> RunIndex::statistics_columns(std::string_view tag, const Range& range,
                                                              std::size_t most) {
  const Result<std::vector<ValueRef>> refs = values(tag, TagKind::statistics, range, History::newest);
  if (!refs) return refs.error();
  store::StatisticsColumns columns;
  columns.total = refs->size();
  const std::size_t count = std::min(refs->size(), most);
  std::vector<ValueRef> chosen;
  for (std::size_t n = 0; n < count; ++n) chosen.push_back((*refs)[store::spread(n, count, refs->size())]);
  if (!chosen.empty()) {
    const Result<stats_record::Form> form = read_form(chosen.back());
    if (!form) return form.error();
    columns.dtype = form->dtype;
    columns.shape = form->shape;
  }
  const std::shared_lock lock(data_mutex_);
  const Series* series = data_.find(tag, TagKind::statistics);
  if (series == nullptr) return no_such_tag(tag, TagKind::statistics);
  const RunStatistics& statistics = data_.packed_statistics();
  for (const ValueRef& ref : chosen) {
    const auto track = series->statistics.find(ref.file);
    const StatStream* stream = statistics.find(ref.file, series->evaluation);
    const std::optional<StatValues> found = track != series->statistics.end() && stream != nullptr
                                                ? find_values(*stream, track->second, ref)
                                                : std::nullopt;
    if (!found) return Status(Code::io, "the files of the run were changed since they were read; refresh the log");
    columns.steps.push_back(ref.step);
    columns.wall_times.push_back(ref.wall_time);
    for (std::size_t c = 0; c < columns.counts.size(); ++c) columns.counts[c].push_back(found->counts[c]);
    for (std::size_t c = 0; c < 4; ++c) columns.numbers[c].push_back(found->numbers[c]);
    columns.numbers[4].push_back(sum_abs(*found));
  }
  return columns;
}

Result<Scalars> RunIndex::statistic(std::string_view tag, Statistic statistic, const Range& range, History history) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const Series* series = data_.find(tag, TagKind::statistics);
  if (series == nullptr) return no_such_tag(tag, TagKind::statistics);
  return statistic_points(*series, statistic, range, history);
}

Scalars RunIndex::statistic_points(const Series& tensor, Statistic statistic, const Range& range,
                                   History history) const {
  const RunStatistics& statistics = data_.packed_statistics();
  const Timeline timeline = data_.timeline();
  StatSelection selection(data_, timeline);
  const StatQuantity quantity = quantity_of(data_, timeline, tensor, statistic, probes_for(statistic), selection);
  if (quantity.source == nullptr) return {};
  const Series* const series = quantity.source;
  const SelectedFiles files =
      select_records(data_, timeline, series->evaluation, history, range, [](auto) { return 0; });
  std::vector<Point> points;
  for (const std::uint32_t file : timeline.order) {
    const auto track = series->statistics.find(file);
    const auto records = files.find(file);
    if (track == series->statistics.end() || records == files.end()) continue;
    const StatStream& stream = *statistics.find(file, series->evaluation);
    const QuantityReader reader(quantity, stream, file);
    visit_quantity(reader, stream, track->second, [&](std::size_t record, double value) {
      if (records->second.cells[record] < 0) return;
      Point point = records->second.steps->at(record);
      point.value = value;
      points.push_back(point);
    });
  }
  if (history == History::newest) std::ranges::stable_sort(points, BeforeByStep());
  Scalars scalars;
  for (const Point& point : points) {
    scalars.steps.push_back(point.step);
    scalars.wall_times.push_back(point.time);
    scalars.values.push_back(point.value);
  }
  return scalars;
}

Result<StatisticsMap> RunIndex::statistics_map(const std::vector<std::string>& tags, Statistic statistic, int width,
                                               const Range& range) {
  constexpr int kWidest = 16'384;
  constexpr std::size_t kMostCells = std::size_t{1} << 24;
  if (width < 1 || width > kWidest) {
    return Status(Code::invalid_argument, "a map is 1 to " + std::to_string(kWidest) + " pixels wide");
  }
  if (tags.size() > kMostCells / static_cast<std::size_t>(width)) {
    return Status(Code::invalid_argument, "the map has too many cells; ask for fewer tags, or fewer pixels");
  }
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const RunStatistics& statistics = data_.packed_statistics();
  const Timeline timeline = data_.timeline();
  StatSelection selection(data_, timeline);
  const std::vector<ProbeInfo> probes = probes_for(statistic);
  std::vector<StatQuantity> rows;
  bool is_used[2] = {};
  StatisticsMap map;
  for (const std::string& tag : tags) {
    const Series* series = data_.find(tag, TagKind::statistics);
    map.found.push_back(series != nullptr);
    StatQuantity& row = rows.emplace_back();
    if (series != nullptr) row = quantity_of(data_, timeline, *series, statistic, probes, selection);
    if (row.source != nullptr) is_used[row.source->evaluation ? 1 : 0] = true;
  }

  map.width = static_cast<std::size_t>(width);
  find_steps(is_used, timeline, range, map);
  const double span =
      static_cast<double>(static_cast<std::uint64_t>(map.last_step) - static_cast<std::uint64_t>(map.first_step)) + 1;
  const double scale = static_cast<double>(width) / span;
  const auto cell_of = [&](std::int64_t step) {
    const double distance =
        static_cast<double>(static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(map.first_step));
    return std::min(width - 1, static_cast<std::int32_t>(distance * scale));
  };
  SelectedFiles files[2];
  for (const bool evaluation : {false, true}) {
    if (!is_used[evaluation ? 1 : 0]) continue;
    files[evaluation ? 1 : 0] = select_records(data_, timeline, evaluation, History::newest, range, cell_of);
  }

  const std::size_t cells = tags.size() * map.width;
  for (auto* column : {&map.min, &map.mean, &map.max}) column->assign(cells, kNaN);
  for (auto* column : {&map.count, &map.nan, &map.infinite}) column->assign(cells, 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Series* const source = rows[row].source;
    if (source == nullptr) continue;
    MapRow made(map.width, rows[row]);
    for (const auto& [file, track] : source->statistics) {
      const SelectedFiles& of_kind = files[source->evaluation ? 1 : 0];
      const auto records = of_kind.find(file);
      if (records == of_kind.end() || records->second.count == 0) continue;
      made.add(*statistics.find(file, source->evaluation), file, track, records->second);
    }
    made.put(map, row);
  }
  return map;
}

// The steps of a map's columns: the range, or all steps where it is open.
void RunIndex::find_steps(const bool (&is_used)[2], const Timeline& timeline, const Range& range,
                          StatisticsMap& map) const {
  bool any = false;
  std::int64_t first = 0;
  std::int64_t last = 0;
  for (const bool evaluation : {false, true}) {
    if (!is_used[evaluation ? 1 : 0]) continue;
    const Series& steps = data_.statistics.steps(evaluation);
    for (Selected<Column>& one : select(data_, steps.columns, steps, timeline, History::newest)) {
      narrow(one, range);
      if (one.begin == one.end) continue;
      const std::int64_t low = one.source->step_at(one.begin);
      const std::int64_t high = one.source->step_at(one.end - 1);
      first = any ? std::min(first, low) : low;
      last = any ? std::max(last, high) : high;
      any = true;
    }
  }
  map.first_step = range.first_step == Range().first_step ? first : range.first_step;
  map.last_step = range.last_step == Range().last_step ? last : range.last_step;
  map.last_step = std::max(map.first_step, map.last_step);
}

}  // namespace sonde::index
