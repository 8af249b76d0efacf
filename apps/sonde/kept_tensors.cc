#include "kept_tensors.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_name.h"
#include "base/input_file.h"
#include "formats/run_layout.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

// The paths below a folder of all files in it, at any depth, by name. Nobody puts links there.
void add_files(const std::string& folder, const std::string& below, std::string_view extension,
               std::vector<std::string>& paths) {
  const Result<Directory> directory = read_directory(join_path(folder, below));
  if (!directory) return;
  for (const DirectoryEntry& entry : directory->entries) {
    const std::string path = below.empty() ? entry.name : join_path(below, entry.name);
    if (entry.type == DirectoryEntry::Type::directory && !entry.link) add_files(folder, path, extension, paths);
    if (entry.type == DirectoryEntry::Type::file && entry.name.ends_with(extension)) paths.push_back(path);
  }
}

// Counts the rows of a table, piece by piece: it may be long, and grow or be cut off meanwhile.
class RowCounter {
 public:
  void read(std::string_view piece) {
    for (const char c : piece) {
      if (c == '"') quoted_ = !quoted_;
      if (c == '\n' && !quoted_) {
        end_row();
      } else if (c == ',' && !quoted_) {
        in_step_ = false;
      } else if (in_step_) {
        step_ += c;
      }
    }
  }

  bool is_table() const { return is_table_; }  // as the heading tells
  const KeptSeries& series() const { return series_; }

 private:
  void end_row() {
    if (!heading_read_) {
      is_table_ = step_ == "step";
    } else if (std::int64_t step = 0;
               std::from_chars(step_.data(), step_.data() + step_.size(), step).ec == std::errc{}) {
      series_.first_step = series_.count == 0 ? step : std::min(series_.first_step, step);
      series_.last_step = series_.count == 0 ? step : std::max(series_.last_step, step);
      ++series_.count;
    }
    heading_read_ = true;
    in_step_ = true;
    step_.clear();
  }

  KeptSeries series_;
  bool heading_read_ = false;
  bool is_table_ = false;
  bool quoted_ = false;
  bool in_step_ = true;  // the first field
  std::string step_;
};

}  // namespace

KeptTensors::KeptTensors(const std::string& run_directory) {
  const std::string path = join_path(run_directory, run_layout::kTensors);
  const Result<Directory> directory = read_directory(path);
  if (!directory) return;
  for (const DirectoryEntry& entry : directory->entries) {
    const std::optional<std::int64_t> step = run_layout::step_of_tensors(entry.name);
    const bool folder = entry.type == DirectoryEntry::Type::directory;
    if (!step ||
        (!folder && !entry.name.ends_with(run_layout::kSafetensors) && !entry.name.ends_with(run_layout::kNpz)))
      continue;
    places_.push_back({*step, join_path(path, entry.name), folder});
  }
  // Writers' names begin with the time at which they began, so the order of names is theirs.
  std::ranges::stable_sort(places_, {}, &Place::step);
}

std::optional<KeptTensor> KeptTensors::find(const Place& place, const std::string& tag) {
  const std::string path = place.folder ? join_path(place.path, file_path_of(tag, run_layout::kNpy)) : place.path;
  if (place.folder && !file_state(path)) return std::nullopt;
  Result<TensorFile> file = TensorFile::open(path);
  if (!file) {
    note(file.error().message());
    return std::nullopt;
  }
  if (place.folder) return KeptTensor{place.step, path, *std::move(file), 0};
  const auto found = std::ranges::find(file->names(), tag);
  if (found == file->names().end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(found - file->names().begin());
  return KeptTensor{place.step, path, *std::move(file), index};
}

std::optional<KeptTensor> KeptTensors::last(const std::string& tag, std::optional<std::int64_t> step) const {
  for (const Place& place : std::views::reverse(places_)) {
    if (step && place.step != *step) continue;
    if (std::optional<KeptTensor> found = find(place, tag)) return found;
  }
  return std::nullopt;
}

std::vector<std::int64_t> KeptTensors::steps(const std::string& tag) const {
  std::vector<std::int64_t> steps;
  for (const Place& place : places_) {
    if (find(place, tag)) steps.push_back(place.step);
  }
  return steps;
}

std::vector<std::string> KeptTensors::tags() const {
  std::vector<std::string> tags;
  for (const Place& place : places_) {
    if (place.folder) continue;
    const Result<TensorFile> file = TensorFile::open(place.path);
    if (file) tags.insert(tags.end(), file->names().begin(), file->names().end());
  }
  std::ranges::sort(tags);
  tags.erase(std::ranges::unique(tags).begin(), tags.end());
  return tags;
}

std::vector<KeptSeries> KeptTensors::list() const {
  std::map<std::string, KeptSeries> found;
  for (const Place& place : places_) {
    std::vector<std::string> tags;
    if (place.folder) {
      add_files(place.path, "", run_layout::kNpy, tags);
      for (std::string& tag : tags) tag = text_of_file_path(tag, run_layout::kNpy);
    } else if (const Result<TensorFile> file = TensorFile::open(place.path)) {
      tags = file->names();
    } else {
      note(file.error().message());
    }
    for (std::string& tag : tags) {
      KeptSeries& series = found[tag];
      if (series.count > 0 && series.last_step == place.step) continue;  // in another format, or by another writer
      if (series.count == 0) series = {std::move(tag), 0, place.step, place.step};
      ++series.count;
      series.last_step = place.step;
    }
  }
  std::vector<KeptSeries> all;
  all.reserve(found.size());
  for (auto& [tag, series] : found) all.push_back(std::move(series));
  return all;
}

std::vector<KeptSeries> tables_of(const std::string& run_directory) {
  std::vector<std::string> paths;
  add_files(join_path(run_directory, run_layout::kTables), "", run_layout::kCsv, paths);
  std::vector<KeptSeries> tables;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  for (const std::string& path : paths) {
    const std::string below_run = join_path(run_layout::kTables, path);
    const Result<InputFile> file = InputFile::open(join_path(run_directory, below_run));
    RowCounter counter;
    Result<std::size_t> count = file ? Result<std::size_t>(0) : file.error();
    for (std::uint64_t at = 0; file; at += *count) {
      count = file->read_at(at, piece);
      if (!count || *count == 0) break;
      counter.read(as_text(Bytes(piece).first(*count)));
    }
    if (!count) note(count.error().message());
    if (!count || !counter.is_table()) continue;
    tables.push_back(counter.series());
    tables.back().name = below_run;
  }
  return tables;
}

}  // namespace sonde::cli
