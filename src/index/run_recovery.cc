// Recovers what a damaged file no longer says.
//
// Usually a tag's kind is only in its first record. If that is damaged, the kind follows from metadata that are
// repeated later, from the definition of the tensor in a statistics file, or from the values themselves.
#include <algorithm>
#include <utility>

#include "formats/tensor_tags.h"
#include "formats/tfevents_decode.h"
#include "index/run_index.h"

namespace sonde::index {
namespace {

using tfevents::Value;

std::string_view plugin_of(tags::Plugin plugin) noexcept {
  switch (plugin) {
    case tags::Plugin::histograms: return "histograms";
    case tags::Plugin::images: return "images";
    case tags::Plugin::audio: return "audio";
    default: return "";
  }
}

// The plugin of a tensor that was defined under this name; empty if none was.
std::string_view plugin_of_definition(const RunData& run, std::string_view tag) {
  const std::optional<tags::TaggedTensor> tensor = tags::tensor_of(tag);
  if (!tensor) return "";
  for (const SourceFile& file : run.files) {
    for (const auto& [id, definition] : file.definitions.all()) {
      if (definition.name == tensor->id.name && definition.kind == tensor->id.kind) return plugin_of(tensor->plugin);
    }
  }
  return "";
}

// What only one plugin writes; empty if it could be anything.
std::string_view plugin_of_form(const Value& value) {
  if (value.form != Value::Form::tensor) return "";
  const Shape& shape = value.tensor.shape;
  if (shape.rank() == 0 && as_scalar(value)) return "scalars";
  if (shape.rank() == 2 && shape[1] == 3 && as_histogram(value)) return "histograms";
  const auto strings = as_strings(value.tensor);
  if (!strings || strings->empty()) return "";
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (strings->size() >= 3 && is_number((*strings)[0]) && is_number((*strings)[1]) && as_images(value)) return "images";
  if (strings->front().starts_with("RIFF") && as_audio(value)) return "audio";
  return "text";
}

}  // namespace

// Whether something before the first value of the series, in the same file, is damaged.
bool RunIndex::lost_its_beginning(const Series& series) const {
  if (series.kind != TagKind::tensors || !series.plugin.empty() || series.has_metadata) return false;
  for (const auto& entry : series.tracks.entries()) {
    if (entry.source.size() == 0) continue;
    const std::uint64_t first = entry.source.at(0).offset;
    const bool is_damaged = std::ranges::any_of(
        data_.damage, [&](const FoundDamage& found) { return found.file == entry.file && found.offset < first; });
    if (is_damaged) return true;
  }
  return false;
}

std::string RunIndex::recovered_plugin(const Series& series) {
  if (const std::string_view plugin = plugin_of_definition(data_, series.tag); !plugin.empty()) {
    return std::string(plugin);
  }
  for (const auto& entry : series.tracks.entries()) {
    if (entry.source.size() == 0) continue;
    const ValueRef& ref = entry.source.at(0);
    const Result<std::string> payload = read_record(ref);
    tfevents::Event event;
    if (!payload || !decode_event(base::as_bytes(*payload), event) || ref.part >= event.values.size()) continue;
    return std::string(plugin_of_form(event.values[ref.part]));
  }
  return "";
}

// Only update() changes what data_ holds, so reading it there needs no lock.
bool RunIndex::recover_kinds() {
  bool changed = false;
  for (Series& series : data_.series()) {
    if (lost_its_beginning(series)) {
      const std::string plugin = recovered_plugin(series);
      if (!plugin.empty()) {
        const std::unique_lock lock(data_mutex_);
        series.plugin = plugin;
        series.kind = kind_of_plugin(plugin);
        changed = true;
      }
    }
    if (series.kind == TagKind::scalars && !series.tracks.entries().empty()) {
      make_columns(series);
      changed = true;
    }
  }
  return changed;
}

// The values of what turned out to be a scalar, out of their records.
void RunIndex::make_columns(Series& series) {
  ByFile<Column> columns;
  std::vector<FoundDamage> damage;
  for (const auto& entry : series.tracks.entries()) {
    Column& column = columns.of(entry.file);
    for (std::size_t i = 0; i < entry.source.size(); ++i) {
      const ValueRef& ref = entry.source.at(i);
      const Result<std::string> payload = read_record(ref);
      tfevents::Event event;
      const bool is_read = payload && decode_event(base::as_bytes(*payload), event) && ref.part < event.values.size();
      const Result<double> value =
          is_read ? as_scalar(event.values[ref.part]) : Status(Code::corrupt, "its record cannot be read again");
      if (value) {
        column.append(ref.step, ref.wall_time, *value);
      } else {
        damage.push_back({ref.file, ref.offset, 0, "the value of '" + series.tag + "' cannot be used as a scalar"});
      }
    }
  }
  const std::unique_lock lock(data_mutex_);
  for (const auto& entry : series.columns.entries()) {  // values read since its kind was known
    Column& column = columns.of(entry.file);
    entry.source.visit(0, entry.source.size(), [&](const Point& point) { column.append(point); });
  }
  for (auto& entry : columns.entries()) entry.source.pack();
  series.columns = std::move(columns);
  series.tracks = {};
  for (FoundDamage& found : damage) data_.add_damage(std::move(found));
  data_.generation = next_generation();
}

}  // namespace sonde::index
