#include "kept_tensors.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_name.h"
#include "terminal.h"

namespace sonde::cli {
namespace {

// "eval-000000000012.<writer>...": 12.
std::optional<std::int64_t> step_of(std::string_view name) {
  constexpr std::string_view kEvaluation = "eval-";
  if (name.starts_with(kEvaluation)) name.remove_prefix(kEvaluation.size());
  std::int64_t step = 0;
  const auto end = std::from_chars(name.data(), name.data() + name.size(), step);
  if (end.ec != std::errc{} || end.ptr == name.data() + name.size() || *end.ptr != '.') return std::nullopt;
  return step;
}

}  // namespace

KeptTensors::KeptTensors(const std::string& run_directory) {
  const std::string path = join_path(run_directory, "tensors");
  const Result<Directory> directory = read_directory(path);
  if (!directory) return;
  for (const DirectoryEntry& entry : directory->entries) {
    const std::optional<std::int64_t> step = step_of(entry.name);
    const bool folder = entry.type == DirectoryEntry::Type::directory;
    if (!step || (!folder && !entry.name.ends_with(".safetensors") && !entry.name.ends_with(".npz"))) continue;
    places_.push_back({*step, join_path(path, entry.name), folder});
  }
  // Writers' names begin with the time at which they began, so the order of names is theirs.
  std::ranges::stable_sort(places_, {}, &Place::step);
}

std::optional<KeptTensor> KeptTensors::find(const Place& place, const std::string& tag) {
  const std::string path = place.folder ? join_path(place.path, file_path_of(tag, ".npy")) : place.path;
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

}  // namespace sonde::cli
