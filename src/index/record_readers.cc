#include "index/record_readers.h"

#include <string>
#include <utility>
#include <variant>

#include "formats/tensor_tags.h"
#include "formats/tfrecord.h"

namespace sonde::index {
namespace {

using tfevents::Event;
using tfevents::Value;

constexpr std::int64_t kSessionStart = 1;

std::size_t record_size(std::size_t payload) noexcept {
  return tfrecord::kHeaderSize + payload + tfrecord::kFooterSize;
}

// What describes the run as a whole stays: TensorFlow 1 writes the graph first and then the START of step 0.
bool has_history(TagKind kind) noexcept {
  return kind != TagKind::graphs && kind != TagKind::hparams && kind != TagKind::custom_scalars &&
         kind != TagKind::statistics;
}

}  // namespace

Series* EventReader::find_plain(const tfevents::PlainScalar& scalar) {
  if (!scalar.old_form) return run_.find(scalar.tag);  // what a tensor is, its metadata have said before
  Series* series = run_.find(scalar.tag, TagKind::scalars);
  return series != nullptr ? series : &run_.add(scalar.tag, TagKind::scalars, "scalars");
}

// Remembers what followed the last series, since writers repeat themselves step after step.
Series* EventReader::follow(Series* series) noexcept {
  if (last_ != nullptr) last_->next = series;
  return series;
}

Series& EventReader::series_of(const Value& value) {
  const std::string_view plugin = value.plugin_name();
  Series* series = run_.find(value.tag);
  if (plugin.empty()) {
    // Without a word about its plugin a value is of the kind that the tag has already.
    if (series == nullptr) series = &run_.add(value.tag, TagKind::tensors, "");
  } else {
    const TagKind kind = kind_of_plugin(plugin);
    Series* unknown = series;
    while (series != nullptr && (series->kind != kind || series->plugin != plugin)) series = series->same_tag;
    if (series == nullptr) {
      // Values whose metadata were lost may be of this kind: here the metadata are repeated.
      while (unknown != nullptr && (unknown->has_metadata || !unknown->plugin.empty())) unknown = unknown->same_tag;
      series = unknown != nullptr && value.has_metadata ? unknown : &run_.add(value.tag, kind, plugin);
      series->kind = kind;
      series->plugin = plugin;
    }
  }
  if (value.has_metadata && !series->has_metadata) {
    series->has_metadata = true;
    series->plugin_content = base::as_text(value.metadata.plugin_content);
    series->display_name = value.metadata.display_name;
    series->description = value.metadata.description;
  }
  return *series;
}

void EventReader::read_value(std::uint64_t offset, std::size_t payload_size, const Value& value, std::uint32_t part) {
  Series& series = series_of(value);
  if (series.kind != TagKind::scalars) {
    series.tracks.of(file_).append({event_.step, event_.wall_time, offset, file_, part});
    return;
  }
  const Result<double> number = as_scalar(value);
  if (number) {
    series.columns.of(file_).append(event_.step, event_.wall_time, *number);
    last_ = follow(&series);
  } else {
    run_.add_damage({file_, offset, record_size(payload_size),
                     "the value of the scalar '" + series.tag + "' cannot be used: " + number.error().message()});
  }
}

void EventReader::read_graph(std::uint64_t offset) {
  Series* series = run_.find(kGraphTag, TagKind::graphs);
  if (series == nullptr) series = &run_.add(kGraphTag, TagKind::graphs, "graphs");
  // A MetaGraphDef repeats the graph; it counts only if there is no other.
  if (event_.what == Event::What::meta_graph_def && !series->tracks.entries().empty()) return;
  series->tracks.of(file_).append({event_.step, event_.wall_time, offset, file_, 0});
}

void EventReader::restart() {
  for (Series& series : run_.series()) {
    if (!has_history(series.kind)) continue;
    const std::size_t index =
        series.kind == TagKind::scalars ? series.columns.size_of(file_) : series.tracks.size_of(file_);
    series.restarts.push_back({file_, index, event_.step, event_.wall_time});
  }
}

void EventReader::read_any(std::uint64_t offset, base::Bytes payload) {
  if (const Status status = decode_event(payload, event_); !status) {
    run_.add_damage({file_, offset, record_size(payload.size()), status.message()});
    return;
  }
  source_.note_time(event_.wall_time);
  switch (event_.what) {
    case Event::What::summary:
      for (std::uint32_t part = 0; part < event_.values.size(); ++part) {
        read_value(offset, payload.size(), event_.values[part], part);
      }
      break;
    case Event::What::graph_def:
    case Event::What::meta_graph_def: read_graph(offset); break;
    case Event::What::tagged_run_metadata: {
      Series* series = run_.find(event_.text, TagKind::graphs);
      if (series == nullptr) series = &run_.add(event_.text, TagKind::graphs, kTaggedRunMetadata);
      series->tracks.of(file_).append({event_.step, event_.wall_time, offset, file_, 0});
      break;
    }
    case Event::What::session_log:
      if (event_.number == kSessionStart) restart();
      break;
    case Event::What::nothing:
    case Event::What::file_version:
    case Event::What::log_message: break;
  }
}

StatTrack& StatisticsReader::track_of(std::uint32_t id, std::uint32_t occurrence, bool evaluation) {
  SourceFile& file = run_.files[file_];
  const stats_record::Definition* definition = file.definitions.find(id);
  if (definition == nullptr) file.undefined.insert({id, occurrence, evaluation});
  const std::string tag = tag_of({.name = file.definitions.name(id),
                                  .kind = definition != nullptr ? definition->kind : Kind::activation,
                                  .occurrence = occurrence,
                                  .evaluation = evaluation},
                                 tags::Plugin::histograms);
  Series* series = run_.find(tag, TagKind::statistics);
  if (series == nullptr) series = &run_.add(tag, TagKind::statistics, "");
  series->evaluation = evaluation;
  return series->statistics[file_];
}

StatTrack& StatisticsReader::known_track(std::uint32_t id, std::uint32_t occurrence, bool evaluation) {
  StatTrack*& known = tracks_[evaluation ? 1 : 0][std::uint64_t{id} << 32U | occurrence];
  if (known == nullptr) known = &track_of(id, occurrence, evaluation);
  return *known;
}

Status StatisticsReader::read_step(std::uint64_t offset, base::Bytes payload) {
  stats_record::StepReader step(payload);
  entries_.clear();
  for (stats_record::Entry entry; step.next(entry);) {
    entries_.push_back({entry.id, entry.occurrence, stat_values(entry.summary)});
  }
  if (!step.status()) return step.status();
  const bool evaluation = step.evaluation();
  run_.files[file_].note_time(step.wall_time());
  StatStream& stream = run_.statistics.stream(file_, evaluation);
  run_.statistics.steps(evaluation)
      .columns.of(file_)
      .append(step.step(), step.wall_time(), static_cast<double>(stream.records()));
  stream.begin_record(offset, output_);
  std::vector<Known>& known = known_[evaluation ? 1 : 0];
  const std::size_t known_tracks = tracks_[evaluation ? 1 : 0].size();
  if (known.size() < entries_.size()) known.resize(entries_.size());
  for (std::uint32_t part = 0; part < entries_.size(); ++part) {
    const Read& entry = entries_[part];
    Known& place = known[part];
    if (place.track == nullptr || place.id != entry.id || place.occurrence != entry.occurrence) {
      place = {entry.id, entry.occurrence, &known_track(entry.id, entry.occurrence, evaluation)};
    }
    stream.add(*place.track, part, entry.values);
  }
  if (tracks_[evaluation ? 1 : 0].size() != known_tracks) {
    std::vector<std::uint32_t> ids;
    for (const Read& entry : entries_) ids.push_back(entry.id);
    run_.files[file_].probe_order.learn(ids);
  }
  return Status::success();
}

// A definition that was damaged may come again: what had no name until then gets it.
void StatisticsReader::define(stats_record::Definition definition) {
  SourceFile& file = run_.files[file_];
  const std::uint32_t id = definition.id;
  std::vector<std::pair<SourceFile::Undefined, Series*>> unnamed;
  for (const SourceFile::Undefined& one : file.undefined) {
    if (one.id != id) continue;
    const tags::TensorId placeholder = {file.definitions.name(id), Kind::activation, one.occurrence, one.evaluation};
    unnamed.emplace_back(one, run_.find(tag_of(placeholder, tags::Plugin::histograms), TagKind::statistics));
  }
  const stats_record::Definition* before = file.definitions.find(id);
  const bool is_other = before == nullptr || before->name != definition.name || before->kind != definition.kind;
  file.definitions.add(std::move(definition));
  for (const auto& [one, series] : unnamed) {
    file.undefined.erase(one);
    if (series == nullptr || !series->statistics.contains(file_)) continue;
    StatTrack& named = track_of(one.id, one.occurrence, one.evaluation);
    if (named.size > 0) continue;  // another tensor has that name already
    named = std::move(series->statistics[file_]);
    series->statistics.erase(file_);
  }
  if (!unnamed.empty()) run_.generation = next_generation();
  if (is_other) {
    for (auto& known : known_) known.clear();
    for (auto& tracks : tracks_) tracks.clear();
  }
}

void StatisticsReader::read(std::uint64_t offset, base::Bytes payload) {
  const auto damaged = [&](std::string reason) {
    run_.add_damage({file_, offset, record_size(payload.size()), std::move(reason)});
  };
  if (stats_record::is_step(payload)) [[likely]] {
    if (const Status status = read_step(offset, payload); !status) damaged(status.message());
    return;
  }
  Result<stats_record::Record> record = stats_record::decode_record(payload);
  if (!record) return damaged(record.error().message());
  if (const auto* header = std::get_if<stats_record::Header>(&*record)) {
    run_.files[file_].note_time(header->start_time);
  } else if (auto* definition = std::get_if<stats_record::Definition>(&*record)) {
    define(std::move(*definition));
  } else if (auto* gap = std::get_if<stats_record::Gap>(&*record)) {
    run_.gaps.push_back({file_, std::move(*gap)});
  } else if (const auto* newer = std::get_if<stats_record::Newer>(&*record)) {
    damaged(describe(*newer) + ", written by a newer Sonde, which this version does not know");
  }
}

}  // namespace sonde::index
