#include "tensor_files/kept_tensors.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <new>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_name.h"
#include "base/input_file.h"
#include "formats/run_layout.h"

namespace sonde::tensor_files {
namespace {

// The paths below a folder of all files in it, at any depth, by name. Nobody puts links there.
void add_files(const std::string& folder, const std::string& within, const std::string& below,
               std::string_view extension, std::vector<std::string>& paths) {
  const Result<base::Directory> directory = base::read_directory(base::join_path(folder, below), within);
  if (!directory) return;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.link && (!within.empty() || entry.type == base::DirectoryEntry::Type::directory)) continue;
    const std::string path = below.empty() ? entry.name : base::join_path(below, entry.name);
    if (entry.type == base::DirectoryEntry::Type::directory) add_files(folder, within, path, extension, paths);
    if (entry.type == base::DirectoryEntry::Type::file && entry.name.ends_with(extension)) paths.push_back(path);
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

KeptTensors::KeptTensors(const std::string& run_directory, const std::string& within, OnUnreadable on_unreadable)
    : on_unreadable_(std::move(on_unreadable)) {
  const std::string path = base::join_path(run_directory, run_layout::kTensors);
  const Result<base::Directory> directory = base::read_directory(path, within);
  if (!directory) return;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.link && !within.empty()) continue;
    const std::optional<std::int64_t> step = run_layout::step_of_tensors(entry.name);
    const bool folder = entry.type == base::DirectoryEntry::Type::directory;
    const bool file = entry.name.ends_with(run_layout::kSafetensors) || entry.name.ends_with(run_layout::kNpz);
    if (!step || (!folder && !file)) continue;
    places_.push_back({*step, base::join_path(path, entry.name), folder});
  }
  // Writers' names begin with the time at which they began, so the order of names is theirs.
  std::ranges::stable_sort(places_, {}, &Place::step);
}

std::optional<TensorFile> KeptTensors::open(const std::string& path) const {
  Result<TensorFile> file = TensorFile::open(path);
  if (file) return *std::move(file);
  if (on_unreadable_) on_unreadable_(file.error());
  return std::nullopt;
}

std::optional<KeptTensor> KeptTensors::find(const Place& place, const std::string& tag) const {
  const std::string path =
      place.folder ? base::join_path(place.path, base::file_path_of(tag, run_layout::kNpy)) : place.path;
  if (place.folder && !base::file_state(path)) return std::nullopt;
  const std::optional<TensorFile> file = open(path);
  if (!file) return std::nullopt;
  if (place.folder) return KeptTensor{place.step, path, ""};
  if (std::ranges::find(file->names(), tag) == file->names().end()) return std::nullopt;
  return KeptTensor{place.step, path, tag};
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

std::vector<std::string> KeptTensors::tags_of(const Place& place) const {
  std::vector<std::string> tags;
  if (place.folder) {
    add_files(place.path, "", "", run_layout::kNpy, tags);
    for (std::string& tag : tags) tag = base::text_of_file_path(tag, run_layout::kNpy);
  } else if (const std::optional<TensorFile> file = open(place.path)) {
    tags = file->names();
  }
  return tags;
}

std::vector<WholeTensor> KeptTensors::all() const {
  std::map<std::pair<std::string, std::int64_t>, WholeTensor> found;
  for (const Place& place : places_) {
    for (const std::string& tag : tags_of(place)) {
      const std::string path =
          place.folder ? base::join_path(place.path, base::file_path_of(tag, run_layout::kNpy)) : place.path;
      found[{tag, place.step}] = {tag, place.step, path, place.folder ? "" : tag};
    }
  }
  std::vector<WholeTensor> all;
  all.reserve(found.size());
  for (auto& [key, tensor] : found) all.push_back(std::move(tensor));
  return all;
}

std::vector<KeptSeries> KeptTensors::list() const {
  std::map<std::string, KeptSeries> found;
  for (const Place& place : places_) {
    for (std::string& tag : tags_of(place)) {
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

std::vector<std::string> table_paths(const std::string& run_directory, const std::string& within) {
  std::vector<std::string> paths;
  add_files(base::join_path(run_directory, run_layout::kTables), within, "", run_layout::kCsv, paths);
  for (std::string& path : paths) path = base::join_path(run_layout::kTables, path);
  return paths;
}

std::vector<KeptSeries> tables_of(const std::string& run_directory, const std::string& within,
                                  const OnUnreadable& on_unreadable) {
  std::vector<KeptSeries> tables;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  for (const std::string& path : table_paths(run_directory, within)) {
    const Result<base::InputFile> file = base::InputFile::open(base::join_path(run_directory, path), within);
    RowCounter counter;
    Result<std::size_t> count = file ? Result<std::size_t>(0) : file.error();
    for (std::uint64_t at = 0; file; at += *count) {
      count = file->read_at(at, piece);
      if (!count || *count == 0) break;
      counter.read(base::as_text(base::Bytes(piece).first(*count)));
    }
    if (!count && on_unreadable) on_unreadable(count.error());
    if (!count || !counter.is_table()) continue;
    tables.push_back(counter.series());
    tables.back().name = path;
  }
  return tables;
}

}  // namespace sonde::tensor_files

namespace sonde {
namespace {

// The library never throws: where memory ends, it returns an error.
template <class Do>
auto of_run(std::string_view run_directory, Do what) -> decltype(what(std::string())) {
  try {
    const std::string path(run_directory);
    if (const Result<base::Directory> directory = base::read_directory(path); !directory) return directory.error();
    return what(path);
  } catch (const std::bad_alloc&) {
    return Status(Code::exhausted, "there is not enough memory to list what the run kept");
  }
}

}  // namespace

Result<WholeTensorList> list_whole_tensors(std::string_view run_directory) {
  return of_run(run_directory, [](const std::string& path) -> Result<WholeTensorList> {
    WholeTensorList list;
    const tensor_files::KeptTensors kept(path, "",
                                         [&list](const Status& status) { list.unreadable.push_back(status); });
    list.tensors = kept.all();
    return list;
  });
}

Result<std::vector<std::string>> list_tables(std::string_view run_directory) {
  return of_run(run_directory, [](const std::string& path) -> Result<std::vector<std::string>> {
    std::vector<std::string> paths = tensor_files::table_paths(path);
    for (std::string& table : paths) table = base::join_path(path, table);
    return paths;
  });
}

}  // namespace sonde
