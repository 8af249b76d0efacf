// The other files of a run, and whether its job is running.
#include <algorithm>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_lock.h"
#include "base/input_file.h"
#include "base/numbered_directory.h"
#include "formats/capture_json.h"
#include "formats/run_layout.h"
#include "index/run_index.h"
#include "sonde/tensor_io.h"
#include "stats/summary.h"

namespace sonde::index {

std::vector<std::string> RunIndex::captures() const {
  const std::string parent = base::join_path(directory_, run_layout::kCaptures);
  std::vector<std::string> paths;
  const Result<base::Directory> listed = base::read_directory(parent, within_);
  if (!listed) return paths;
  std::vector<std::pair<std::uint64_t, std::string>> numbered;
  for (const base::DirectoryEntry& entry : listed->entries) {
    const std::uint64_t number = base::leading_number(entry.name);
    if (number > 0 && entry.type == base::DirectoryEntry::Type::directory) numbered.emplace_back(number, entry.name);
  }
  std::ranges::sort(numbered);
  for (const auto& [number, name] : numbered) paths.push_back(base::join_path(parent, name));
  return paths;
}

Result<CaptureInfo> RunIndex::capture(const std::string& name) const {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;  // bytes
  const auto file = base::InputFile::open(base::join_path(name, run_layout::kCaptureFile), within_);
  if (!file) return file.error();
  const Result<base::FileState> state = file->state();
  if (!state) return state.error();
  const Result<std::string> json = file->read_up_to(static_cast<std::size_t>(std::min(state->size, kLargest)));
  if (!json) return json.error();
  return capture_json::decode(*json);
}

Result<TensorFile> RunIndex::step_file(const std::string& capture, const CapturedStep& step) const {
  const std::string path = base::join_path(capture, step.file);
  if (const auto file = base::InputFile::open(path, within_); !file) {
    return file.error().code() == Code::not_found ? Status(Code::not_found, "the file " + step.file + " is missing")
                                                  : file.error();
  }
  return TensorFile::open(path);
}

std::vector<std::string> RunIndex::capture_problems(const std::string& name, const CaptureInfo& capture) const {
  std::vector<std::string> problems;
  for (const CapturedStep& step : capture.steps) {
    std::string& problem = problems.emplace_back();
    if (step.file.empty()) continue;
    const Result<TensorFile> file = step_file(name, step);
    if (!file) {
      problem = file.error().message();
      continue;
    }
    const std::vector<std::string>& names = file->names();
    const auto lost = std::ranges::find_if(step.tensors, [&](const CapturedTensor& tensor) {
      return std::ranges::find(names, tensor.key) == names.end();
    });
    if (lost != step.tensors.end()) problem = "the file " + step.file + " has no tensor '" + lost->key + "'";
  }
  return problems;
}

std::vector<store::CapturedSummary> RunIndex::captured_summaries(const std::string& name, const CaptureInfo& capture,
                                                                 std::string_view key) const {
  std::vector<store::CapturedSummary> found;
  for (const CapturedStep& step : capture.steps) {
    if (std::ranges::find(step.tensors, key, &CapturedTensor::key) == step.tensors.end()) continue;
    const Result<TensorFile> file = step_file(name, step);
    if (!file) continue;
    const Result<Tensor> tensor = file->load(key);
    if (!tensor) continue;
    const Result<stats::Summary> summary = stats::summarize(tensor->view());
    if (summary) found.push_back({step.step, step.evaluation, *summary});
  }
  return found;
}

std::vector<tensor_files::KeptSeries> RunIndex::whole_tensors() const {
  return tensor_files::KeptTensors(directory_, within_).list();
}

std::vector<tensor_files::KeptSeries> RunIndex::tables() const { return tensor_files::tables_of(directory_, within_); }

std::vector<CheckpointInfo> RunIndex::checkpoints() const {
  // If nothing outside may be read, neither the folder nor its content may be a link.
  const std::string folder = base::join_path(directory_, run_layout::kCheckpoints);
  if (!within_.empty()) {
    const Result<base::Directory> listed = base::read_directory(folder, within_);
    if (!listed || std::ranges::any_of(listed->entries, &base::DirectoryEntry::link)) return {};
  }
  Result<CheckpointList> list = list_checkpoints(directory_);
  return list ? std::move(list->checkpoints) : std::vector<CheckpointInfo>();
}

std::string RunIndex::note() const {
  const Result<base::Directory> listed = base::read_directory(directory_, within_);
  if (!listed) return "";
  const auto entry = std::ranges::find(listed->entries, run_layout::kNote, &base::DirectoryEntry::name);
  if (entry == listed->entries.end() || entry->link || entry->type != base::DirectoryEntry::Type::file) return "";
  const Result<base::InputFile> file = base::InputFile::open(base::join_path(directory_, run_layout::kNote), within_);
  if (!file) return "";
  const Result<std::string> text = file->read_up_to(store::kLongestNote);
  return text ? *text : "";
}

bool RunIndex::ended_in_crash(double last_modified) const {
  const std::vector<std::string> all = captures();
  if (all.empty() || !all.back().ends_with("-crash")) return false;
  const Result<base::FileState> made = base::file_state(base::join_path(all.back(), run_layout::kCaptureFile));
  return made && static_cast<double>(made->modified) * 1e-9 >= last_modified;
}

store::JobSigns RunIndex::job() const {
  store::JobSigns signs = {.last_modified = last_modified()};
  const Result<base::Directory> listed = base::read_directory(directory_, within_);
  if (!listed) return signs;
  bool has_captures = false;
  for (const base::DirectoryEntry& entry : listed->entries) {
    has_captures |= entry.name == run_layout::kCaptures;
    if (!run_layout::is_ring(entry.name)) continue;
    const Result<bool> locked = base::is_locked(base::join_path(directory_, entry.name));
    signs.has_ring |= locked.ok();
    signs.ring_is_held |= locked && *locked;
  }
  if (has_captures && !signs.has_ring) signs.ended_in_crash = ended_in_crash(signs.last_modified);
  return signs;
}

// The averages returned by this class are its own.
Result<DrawnLine> RunIndex::line(std::string_view tag, const LineRequest& request,
                                 std::shared_ptr<const store::Averages>& averages) {
  auto smoothed = std::dynamic_pointer_cast<const Smoothed>(averages);
  Result<DrawnLine> drawn = line(tag, request, smoothed);
  averages = std::move(smoothed);
  return drawn;
}

Result<LineSummary> RunIndex::summary(std::string_view tag, const Range& range, std::optional<std::int64_t> nearest,
                                      const Smoothing& smoothing, std::shared_ptr<const store::Averages>& averages) {
  auto smoothed = std::dynamic_pointer_cast<const Smoothed>(averages);
  Result<LineSummary> found = summary(tag, range, nearest, smoothing, smoothed);
  averages = std::move(smoothed);
  return found;
}

}  // namespace sonde::index
