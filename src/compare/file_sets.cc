// Sets of tensors in files: see tensor_set.h.
#include <algorithm>
#include <map>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_name.h"
#include "compare/tensor_set.h"
#include "sonde/tensor_io.h"

namespace sonde::compare {
namespace {

// Where a tensor is.
struct Place {
  std::string path;
  std::string name;  // in the file
};

class FileSet final : public TensorSet {
 public:
  FileSet(std::string kind, bool in_order) : kind_(std::move(kind)), in_order_(in_order) {}

  std::string kind() const override { return kind_; }
  const std::vector<Entry>& entries() const noexcept override { return entries_; }
  bool in_order_of_execution() const noexcept override { return in_order_; }

  Result<Loaded> load(std::size_t index) override {
    const Place& place = places_[index];
    Result<TensorFile> file = open(place.path);
    if (!file) return file.error();
    const auto owner = std::make_shared<std::pair<TensorFile, Tensor>>(*file, Tensor{});
    if (const Result<TensorView> in_place = file->view(place.name)) return Loaded{*in_place, owner};
    // Compressed, or in the byte order of another machine.
    Result<Tensor> copy = file->load(place.name);
    if (!copy) return copy.error();
    owner->second = std::move(*copy);
    return Loaded{owner->second.view(), owner};
  }

  // Adds all tensors of a file; their names get the prefix.
  Status add_file(const std::string& path, const std::string& prefix, const std::string& name_if_single) {
    const Result<TensorFile> file = open(path);
    if (!file) return file.error();
    for (const std::string& name : file->names()) {
      const std::string shown = file->format() == TensorFormat::npy ? name_if_single : prefix + name;
      if (Status status = add({.name = shown, .dtype = {}, .shape = {}}, {path, name}, *file); !status) return status;
    }
    return Status::success();
  }

  Status add(Entry entry, Place place, const TensorFile& file) {
    const Result<TensorInfo> info = file.info(place.name);
    if (!info) return info.error();
    entry.dtype = info->dtype;
    entry.shape = info->shape;
    entries_.push_back(std::move(entry));
    places_.push_back(std::move(place));
    return Status::success();
  }

  // The last file stays open, since its tensors usually follow each other.
  Result<TensorFile> open(const std::string& path) {
    if (!file_ || file_->path() != path) {
      Result<TensorFile> opened = TensorFile::open(path);
      if (!opened) return opened;
      file_ = *opened;
    }
    return *file_;
  }

 private:
  std::string kind_;
  const bool in_order_;
  std::vector<Entry> entries_;
  std::vector<Place> places_;
  std::optional<TensorFile> file_;
};

std::string_view extension_of(std::string_view name) noexcept {
  for (std::string_view extension : {".npy", ".npz", ".safetensors"}) {
    if (name.size() > extension.size() && name.ends_with(extension)) return extension;
  }
  return {};
}

// The files with tensors below a directory, as paths relative to it, by name. Links are followed, but not in circles.
class Finder {
 public:
  explicit Finder(std::string root) : root_(std::move(root)) {}

  Status find(const std::string& below = {}) {
    const std::string path = below.empty() ? root_ : base::join_path(root_, below);
    const Result<base::Directory> directory = base::read_directory(path);
    if (!directory) return directory.error();
    if (std::ranges::any_of(above_, [&](const base::FileState& state) { return state.same_file(directory->state); })) {
      return Status::success();
    }
    above_.push_back(directory->state);
    for (const base::DirectoryEntry& entry : directory->entries) {
      const std::string relative = below.empty() ? entry.name : base::join_path(below, entry.name);
      if (entry.type == base::DirectoryEntry::Type::directory) {
        if (Status status = find(relative); !status) return status;
      } else if (!extension_of(entry.name).empty()) {
        files.push_back(relative);
      }
    }
    above_.pop_back();
    return Status::success();
  }

  std::vector<std::string> files;

 private:
  const std::string root_;
  std::vector<base::FileState> above_;
};

std::string step_name(std::int64_t step, bool evaluation, const std::string& key) {
  return std::string(evaluation ? "eval-" : "") + std::to_string(step) + "/" + key;
}

}  // namespace

Result<std::unique_ptr<TensorSet>> open_tensor_files(const std::string& path) {
  if (!base::read_directory(path)) {
    const Result<TensorFile> file = TensorFile::open(path);
    if (!file) return file.error();
    auto set = std::make_unique<FileSet>(std::string(to_string(file->format())), false);
    // Two npy files hold one tensor each, whatever the names of the files.
    if (Status status = set->add_file(path, "", "tensor"); !status) return status;
    if (set->entries().empty()) return Status{Code::not_found, "'" + path + "' holds no tensor"};
    return std::unique_ptr<TensorSet>(std::move(set));
  }
  Finder finder(path);
  if (Status status = finder.find(); !status) return status;
  auto set = std::make_unique<FileSet>("directory", false);
  const bool single = finder.files.size() == 1;
  for (const std::string& file : finder.files) {
    const std::string extension(extension_of(file));
    const std::string name = base::text_of_file_path(file, extension);
    if (Status status = set->add_file(base::join_path(path, file), single ? "" : name + "/", name); !status) {
      return status;
    }
  }
  if (set->entries().empty()) {
    return Status{Code::not_found, "there is no tensor in '" + path + "': no npy, npz or safetensors file"};
  }
  return std::unique_ptr<TensorSet>(std::move(set));
}

Result<std::unique_ptr<TensorSet>> open_capture(const std::string& directory) {
  const Result<Capture> capture = Capture::open(directory);
  if (!capture) return capture.error();
  auto set = std::make_unique<FileSet>("capture", true);
  for (const CapturedStep& step : capture->steps()) {
    if (step.file.empty()) continue;
    const Result<TensorFile> file = capture->step_file(step);
    if (!file) return file.error();
    std::map<std::string, std::string> keys;  // of the tensors of this step by their names
    for (const CapturedTensor& tensor : step.tensors) {
      Entry entry = {.name = step_name(step.step, step.evaluation, tensor.key), .dtype = {}, .shape = {}};
      for (const std::string& input : tensor.inputs) {
        const auto found = keys.find(input);
        entry.inputs.push_back(found == keys.end() ? input : found->second);
      }
      keys[tensor.name] = entry.name;
      if (Status status = set->add(std::move(entry), {file->path(), tensor.key}, *file); !status) return status;
    }
  }
  if (set->entries().empty()) return Status{Code::not_found, "the capture '" + directory + "' holds no tensor"};
  return std::unique_ptr<TensorSet>(std::move(set));
}

Result<std::unique_ptr<TensorSet>> open_whole_tensors(const std::string& run_directory) {
  const Result<WholeTensorList> list = list_whole_tensors(run_directory);
  if (!list) return list.error();
  if (!list->unreadable.empty()) return list->unreadable.front();
  std::vector<const WholeTensor*> sorted;
  sorted.reserve(list->tensors.size());
  for (const WholeTensor& tensor : list->tensors) sorted.push_back(&tensor);
  std::ranges::stable_sort(sorted, {}, [](const WholeTensor* tensor) { return tensor->step; });
  auto set = std::make_unique<FileSet>("run", false);
  for (const WholeTensor* tensor : sorted) {
    const Result<TensorFile> file = set->open(tensor->path);
    if (!file) return file.error();
    Entry entry = {.name = step_name(tensor->step, false, tensor->tag), .dtype = {}, .shape = {}};
    if (Status status = set->add(std::move(entry), {tensor->path, tensor->name}, *file); !status) return status;
  }
  if (set->entries().empty()) {
    return Status{Code::not_found, "the run '" + run_directory +
                                       "' kept no tensor whole, only statistics at most; compare "
                                       "it with another run"};
  }
  return std::unique_ptr<TensorSet>(std::move(set));
}

}  // namespace sonde::compare
