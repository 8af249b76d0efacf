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
    while (series != nullptr && (series->kind != kind || series->plugin != plugin)) series = series->same_tag;
    if (series == nullptr) series = &run_.add(value.tag, kind, plugin);
  }
  if (value.has_metadata && !series->has_metadata) {
    series->has_metadata = true;
    series->plugin_content = as_text(value.metadata.plugin_content);
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
  // A MetaGraphDef repeats the graph; it counts only where there is no other.
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

void EventReader::read_any(std::uint64_t offset, Bytes payload) {
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

void StatisticsReader::read_step(std::uint64_t offset, const stats_record::Step& step) {
  SourceFile& file = run_.files[file_];
  file.note_time(step.wall_time);
  file.probe_order.learn(step);
  for (std::uint32_t part = 0; part < step.entries.size(); ++part) {
    const stats_record::Entry& entry = step.entries[part];
    const stats_record::Definition* definition = file.definitions.find(entry.id);
    const tags::TensorId id = {.name = file.definitions.name(entry.id),
                               .kind = definition != nullptr ? definition->kind : Kind::activation,
                               .occurrence = entry.occurrence,
                               .evaluation = step.evaluation};
    const std::string tag = tag_of(id, tags::Plugin::histograms);
    Series* series = run_.find(tag, TagKind::statistics);
    if (series == nullptr) series = &run_.add(tag, TagKind::statistics, "");
    RefTrack& track = series->tracks.of(file_);
    track.append({step.step, step.wall_time, offset, file_, part});
    const stats::Summary& summary = entry.summary;
    if (summary.nan + summary.positive_infinity + summary.negative_infinity > 0) track.mark_non_finite();
  }
}

void StatisticsReader::read(std::uint64_t offset, Bytes payload) {
  Result<stats_record::Record> record = stats_record::decode_record(payload);
  if (!record) {
    run_.add_damage({file_, offset, record_size(payload.size()), record.error().message()});
    return;
  }
  if (const auto* header = std::get_if<stats_record::Header>(&*record)) {
    run_.files[file_].note_time(header->start_time);
  } else if (auto* definition = std::get_if<stats_record::Definition>(&*record)) {
    run_.files[file_].definitions.add(std::move(*definition));
  } else if (const auto* step = std::get_if<stats_record::Step>(&*record)) {
    read_step(offset, *step);
  } else if (auto* gap = std::get_if<stats_record::Gap>(&*record)) {
    run_.gaps.push_back({file_, std::move(*gap)});
  } else if (const auto* newer = std::get_if<stats_record::Newer>(&*record)) {
    run_.add_damage({file_, offset, record_size(payload.size()),
                     describe(*newer) + ", which a newer Sonde wrote and this one does not know"});
  }
}

}  // namespace sonde::index
