// Answers questions about a run.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/crc32c.h"
#include "base/file.h"
#include "base/suggest.h"
#include "formats/tensor_tags.h"
#include "formats/tfrecord.h"
#include "index/draw.h"
#include "index/interval.h"
#include "index/ordered.h"
#include "index/run_index.h"
#include "index/select.h"
#include "index/stat_select.h"

namespace sonde::index {
namespace {

void copy_points(const Selected<Column>& selected, const Range& range, Scalars& to) {
  Points points;
  for (std::size_t b = selected.begin / Column::kBlock; b * Column::kBlock < selected.end; ++b) {
    selected.source->unpack(b, points);
    const std::size_t first = b * Column::kBlock;
    const std::size_t end = std::min(selected.end - first, Column::kBlock);
    for (std::size_t i = selected.begin > first ? selected.begin - first : 0; i < end; ++i) {
      if (!contains(range, points.steps[i], points.times[i])) continue;
      to.steps.push_back(points.steps[i]);
      to.wall_times.push_back(points.times[i]);
      to.values.push_back(points.values[i]);
    }
  }
}

// Several writers at once: their stretches overlap, and are merged.
void sort_by_step(Scalars& scalars) {
  if (std::ranges::adjacent_find(scalars.steps, std::ranges::greater_equal()) == scalars.steps.end()) return;
  std::vector<std::size_t> order(scalars.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::pair(scalars.steps[i], ordered(scalars.wall_times[i])); });
  const auto apply = [&](auto& column) {
    auto sorted = column;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
    column = std::move(sorted);
  };
  apply(scalars.steps);
  apply(scalars.wall_times);
  apply(scalars.values);
}

template <class Source>
void count(const std::vector<Selected<Source>>& selected, Tag& tag) {
  for (const Selected<Source>& one : selected) {
    if (one.begin == one.end) continue;
    const std::int64_t first_step = one.source->step_at(one.begin);
    const std::int64_t last_step = one.source->step_at(one.end - 1);
    const double first_time = one.source->time_at(one.begin);
    const double last_time = one.source->time_at(one.end - 1);
    const bool is_first = tag.points == 0;
    tag.points += one.end - one.begin;
    tag.first_step = is_first ? first_step : std::min(tag.first_step, first_step);
    tag.last_step = is_first ? last_step : std::max(tag.last_step, last_step);
    tag.first_time = is_first ? first_time : std::min(tag.first_time, first_time);
    tag.last_time = is_first ? last_time : std::max(tag.last_time, last_time);
  }
  PointInterval interval(tag.points);
  for (const Selected<Source>& one : selected) interval.add(*one.source, one.begin, one.end);
  tag.interval = interval.median();
}

RecordingGap::Reason reason_of(stats_record::GapReason reason) noexcept {
  switch (reason) {
    case stats_record::GapReason::no_room: return RecordingGap::Reason::buffer_full;
    case stats_record::GapReason::write_error: return RecordingGap::Reason::write_error;
    case stats_record::GapReason::budget: return RecordingGap::Reason::budget;
    case stats_record::GapReason::rejected: return RecordingGap::Reason::rejected;
  }
  return RecordingGap::Reason::unknown;
}

}  // namespace

Tag RunIndex::describe(const Series& series, const Timeline& timeline, StatSelection& statistics) const {
  Tag tag = {.name = series.tag,
             .kind = series.kind,
             .plugin = series.plugin,
             .plugin_content = series.plugin_content,
             .display_name = series.display_name,
             .description = series.description};
  if (series.kind == TagKind::scalars) {
    count(select(data_, series.columns, series, timeline, History::newest), tag);
    tag.written_again = written_points(series.columns) - tag.points;
  } else if (series.kind == TagKind::statistics) {
    count_statistics(series, statistics, tag);
  } else {
    count(select(data_, series.tracks, series, timeline, History::newest), tag);
    tag.written_again = written_points(series.tracks) - tag.points;
  }
  return tag;
}

std::vector<Tag> RunIndex::tags() {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const Timeline timeline = data_.timeline();
  StatSelection statistics(data_, timeline);
  std::vector<Tag> tags;
  for (const Series& series : data_.series()) {
    Tag tag = describe(series, timeline, statistics);
    if (tag.points > 0) tags.push_back(std::move(tag));
  }
  std::ranges::sort(tags,
                    [](const Tag& a, const Tag& b) { return a.name != b.name ? a.name < b.name : a.kind < b.kind; });
  return tags;
}

Status RunIndex::no_such_tag(std::string_view tag, TagKind kind) const {
  std::vector<std::string> candidates;
  for (const Series& series : data_.series()) {
    if (series.kind == kind) candidates.push_back(series.tag);
  }
  return {Code::not_found, "the run '" + name_ + "' has no tag '" + std::string(tag) + "' of kind " +
                               std::string(to_string(kind)) + base::did_you_mean(tag, candidates)};
}

Result<Tag> RunIndex::tag(std::string_view name, TagKind kind) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const Series* series = data_.find(name, kind);
  if (series == nullptr) return no_such_tag(name, kind);
  const Timeline timeline = data_.timeline();
  StatSelection statistics(data_, timeline);
  return describe(*series, timeline, statistics);
}

Result<Scalars> RunIndex::scalars(std::string_view tag, const Range& range, History history) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const std::shared_ptr<const Series> series = find_line(tag);
  if (series == nullptr) return no_such_tag(tag, TagKind::scalars);
  std::vector<Selected<Column>> selected = select(data_, series->columns, *series, data_.timeline(), history);
  std::size_t total = 0;
  for (Selected<Column>& one : selected) {
    if (history == History::newest) narrow(one, range);
    total += one.end - one.begin;
  }
  Scalars scalars;
  scalars.steps.reserve(total);
  scalars.wall_times.reserve(total);
  scalars.values.reserve(total);
  for (const Selected<Column>& one : selected) copy_points(one, range, scalars);
  if (history == History::newest) sort_by_step(scalars);
  return scalars;
}

Result<Drawing> RunIndex::draw(std::string_view tag, int width, const Range& range, Axis axis) {
  constexpr int kWidest = 65'536;
  if (width < 1 || width > kWidest) {
    return Status(Code::invalid_argument, "a drawing is 1 to " + std::to_string(kWidest) + " pixels wide");
  }
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const std::shared_ptr<const Series> series = find_line(tag);
  if (series == nullptr) return no_such_tag(tag, TagKind::scalars);
  const Stretches stretches = stretches_for(*series, axis, range);
  return index::draw(stretches.part, width, range, axis);
}

Result<std::vector<ValueRef>> RunIndex::values(std::string_view tag, TagKind kind, const Range& range,
                                               History history) {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  const Series* series = data_.find(tag, kind);
  if (series == nullptr || kind == TagKind::scalars) return no_such_tag(tag, kind);
  std::vector<ValueRef> values;
  if (kind == TagKind::statistics) values = statistics_values(*series, range, history);
  for (const Selected<RefTrack>& one : select(data_, series->tracks, *series, data_.timeline(), history)) {
    for (std::size_t i = one.begin; i < one.end; ++i) {
      const ValueRef& ref = one.source->at(i);
      if (contains(range, ref.step, ref.wall_time)) values.push_back(ref);
    }
  }
  if (history == History::newest) {
    std::ranges::stable_sort(values, {},
                             [](const ValueRef& ref) { return std::pair(ref.step, ordered(ref.wall_time)); });
  }
  return values;
}

double RunIndex::start_time() {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  double start = 0;
  const auto take = [&](double time) {
    if (std::isfinite(time) && (start == 0 || time < start)) start = time;
  };
  for (const Series& series : data_.series()) {
    for (const auto& entry : series.columns.entries()) {
      if (entry.source.size() > 0) take(entry.source.time_at(0));
    }
    for (const auto& entry : series.tracks.entries()) {
      if (entry.source.size() > 0) take(entry.source.time_at(0));
    }
  }
  for (const bool evaluation : {false, true}) {
    for (const auto& entry : data_.statistics.steps(evaluation).columns.entries()) {
      if (entry.source.size() > 0) take(entry.source.time_at(0));
    }
  }
  return start;
}

double RunIndex::last_modified() const {
  const std::shared_lock lock(data_mutex_);
  std::int64_t latest = 0;
  for (const SourceFile& file : data_.files) {
    if (!file.gone) latest = std::max(latest, file.state.modified);
  }
  return static_cast<double>(latest) * 1e-9;
}

std::vector<Damage> RunIndex::damage() {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  std::vector<Damage> damage;
  damage.reserve(data_.damage.size());
  for (const FoundDamage& found : data_.damage) {
    damage.push_back({path_of(data_.files[found.file]), found.offset, found.size, found.reason});
  }
  return damage;
}

std::vector<RecordingGap> RunIndex::gaps() {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  std::vector<RecordingGap> gaps;
  for (const auto& [file, gap] : data_.gaps) {
    RecordingGap made;
    made.first_step = gap.first_step;
    made.last_step = gap.last_step;
    made.count = gap.count;
    if (gap.id) {
      const auto& definitions = data_.files[file].definitions;
      const auto* definition = definitions.find(*gap.id);
      made.tensor = tag_of({.name = definitions.name(*gap.id),
                            .kind = definition != nullptr ? definition->kind : Kind::activation,
                            .evaluation = gap.evaluation},
                           tags::Plugin::histograms);
    }
    made.reason = reason_of(gap.reason);
    made.detail = gap.detail;
    gaps.push_back(std::move(made));
  }
  return gaps;
}

std::vector<LogFile> RunIndex::files() {
  ensure_read();
  const std::shared_lock lock(data_mutex_);
  std::vector<LogFile> files;
  for (const std::uint32_t number : data_.file_order()) {
    const SourceFile& file = data_.files[number];
    files.push_back({path_of(file), file.state.size, file.read, file.gone, file.error});
  }
  return files;
}

Result<std::string> RunIndex::read_record(const ValueRef& value) {
  std::string path;
  base::FileState known;
  {
    const std::shared_lock lock(data_mutex_);
    if (value.file >= data_.files.size()) return Status(Code::invalid_argument, "the value is not of this run");
    path = path_of(data_.files[value.file]);
    known = data_.files[value.file].state;
  }
  const auto changed = [&] {
    return Status(Code::io, "'" + path + "' was changed since it was read; refresh the log");
  };
  const Result<base::InputFile> input = base::InputFile::open(path, within_);
  if (!input) return input.error();
  const Result<base::FileState> state = input->state();
  if (!state) return state.error();
  std::array<std::byte, tfrecord::kHeaderSize> header;
  const Result<std::size_t> got = input->read_at(value.offset, header);
  if (!got) return got.error();
  if (*got != header.size() || !state->same_file(known) ||
      base::load<std::uint32_t>(header.data() + 8) != base::masked_crc32c(base::Bytes(header).first(8))) {
    return changed();
  }
  const auto length = base::load<std::uint64_t>(header.data());
  if (length > state->size) return changed();
  std::string payload(static_cast<std::size_t>(length) + tfrecord::kFooterSize, '\0');
  const auto bytes = std::as_writable_bytes(std::span(payload));
  const Result<std::size_t> read = input->read_at(value.offset + header.size(), bytes);
  if (!read) return read.error();
  if (*read != payload.size()) return changed();
  const auto crc = base::load<std::uint32_t>(payload.data() + length);
  payload.resize(static_cast<std::size_t>(length));
  if (crc != base::masked_crc32c(base::as_bytes(payload))) return changed();
  return payload;
}

namespace {

// The entries after it need not be decoded: they were checked when the file was read.
Result<stats_record::Entry> entry_at(stats_record::StepReader& step, std::uint32_t part) {
  stats_record::Entry entry;
  bool found = step.next(entry);
  for (std::uint32_t i = 0; i < part && found; ++i) found = step.next(entry);
  if (!found) return Status(Code::invalid_argument, "the value is not statistics of this run");
  return entry;
}

}  // namespace

stats_record::Form RunIndex::form_of(std::uint32_t file, const stats_record::Entry& entry) const {
  if (entry.form) return *entry.form;
  const std::shared_lock lock(data_mutex_);
  const auto* definition = data_.files[file].definitions.find(entry.id);
  return definition != nullptr ? definition->form : stats_record::Form{};
}

Result<stats_record::Form> RunIndex::read_form(const ValueRef& value) {
  const Result<std::string> payload = read_record(value);
  if (!payload) return payload.error();
  stats_record::StepReader step(base::as_bytes(*payload));
  const Result<stats_record::Entry> entry = entry_at(step, value.part);
  if (!entry) return entry.error();
  return form_of(value.file, *entry);
}

Result<TensorStatistics> RunIndex::read_statistics(const ValueRef& value) {
  const Result<std::string> payload = read_record(value);
  if (!payload) return payload.error();
  stats_record::StepReader step(base::as_bytes(*payload));
  const Result<stats_record::Entry> entry = entry_at(step, value.part);
  if (!entry) return entry.error();
  const stats::Summary& summary = entry->summary;
  TensorStatistics made;
  made.step = step.step();
  made.wall_time = step.wall_time();
  const stats_record::Form form = form_of(value.file, *entry);
  made.dtype = form.dtype;
  made.shape = form.shape;
  made.count = summary.count;
  made.nan = summary.nan;
  made.positive_infinity = summary.positive_infinity;
  made.negative_infinity = summary.negative_infinity;
  made.zeros = summary.zeros;
  made.negatives = summary.negatives;
  made.min = summary.min;
  made.max = summary.max;
  made.mean = summary.mean;
  made.std = summary.stddev();
  made.sum_abs = summary.sum_abs;
  if (entry->histogram) {
    const auto histogram = stats_record::decode_histogram(*entry->histogram);
    if (!histogram) return histogram.error();
    for (const stats::Histogram::Bin& bin : histogram->bins()) {
      made.histogram.push_back(
          {stats::Histogram::lower(bin.key), stats::Histogram::upper(bin.key), static_cast<double>(bin.count)});
    }
  }
  return made;
}

}  // namespace sonde::index
