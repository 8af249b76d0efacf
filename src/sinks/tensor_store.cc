#include "sinks/tensor_store.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>

#include "base/directory.h"
#include "base/file.h"
#include "base/file_name.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "formats/npz.h"
#include "formats/run_layout.h"
#include "tensor/why_invalid.h"

namespace sonde::sinks {
namespace {

using run_layout::kNpy;
using run_layout::kNpz;
using run_layout::kSafetensors;

// Whether a file with names can hold it beside those before it.
Status can_be_named(const StoredTensor& tensor, std::unordered_set<std::string_view>& keys) {
  if (!tensor.view.valid()) return {Code::invalid_argument, std::string(tensor::why_invalid(tensor.view))};
  if (tensor.key.empty()) return {Code::invalid_argument, "it has no name"};
  if (base::valid_utf8(tensor.key) != tensor.key) return {Code::invalid_argument, "its name is not UTF-8"};
  if (!keys.insert(tensor.key).second) return {Code::invalid_argument, "the step already has a tensor of this name"};
  return Status::success();
}

}  // namespace

TensorStore::TensorStore(const std::string& run_directory, std::string writer, Tally& tally)
    : directory_(base::join_path(run_directory, run_layout::kTensors)), writer_(std::move(writer)), tally_(tally) {}

template <class Asked, class Write>
void TensorStore::guarded(std::span<const StoredTensor> tensors, const Asked& asked, const Write& write) noexcept {
  const std::uint64_t before = lost_;
  try {
    write();
  } catch (...) {
    // Some may have been left out before.
    const auto count = static_cast<std::uint64_t>(std::ranges::count_if(tensors, asked));
    const std::uint64_t more = count - std::min(count, lost_ - before);
    out_of_memory_ = true;
    lost_ += more;
    tally_.lost_records.fetch_add(more, std::memory_order_relaxed);
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
  }
}

Status TensorStore::write_step(const Stamp& stamp, bool evaluation, std::span<const StoredTensor> tensors) noexcept {
  errors_.clear();
  lost_ = 0;
  out_of_memory_ = false;
  const auto all = [](const StoredTensor&) { return true; };
  guarded(tensors, all, [&] {
    const std::string stem = free_stem(stamp, evaluation);
    guarded(tensors, &StoredTensor::whole, [&] { write_safetensors(stem, tensors); });
    guarded(tensors, &StoredTensor::npz, [&] { write_npz(stem, tensors); });
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      guarded(tensors.subspan(i, 1), &StoredTensor::npy, [&] { write_npy(stem, tensors, i); });
    }
  });
  if (out_of_memory_) return {Code::exhausted, "out of memory"};  // short enough to need none
  if (errors_.empty()) return std::exchange(renamed_, Status::success());
  try {
    const Status& first = errors_.front();
    if (errors_.size() == 1) return first;
    return {first.code(), first.message() + "; and " + std::to_string(errors_.size() - 1) + " more of step " +
                              std::to_string(stamp.step) + " could not be kept"};
  } catch (...) {
    tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
    return std::move(errors_.front());
  }
}

// One name for all files of the step that no existing file has.
std::string TensorStore::free_stem(const Stamp& stamp, bool evaluation) const {
  const std::string first = base::join_path(directory_, run_layout::tensors_stem(stamp.step, evaluation, writer_));
  const auto taken = [](const std::string& stem) {
    return base::file_state(stem).ok() || base::file_state(stem + std::string(kSafetensors)).ok() ||
           base::file_state(stem + std::string(kNpz)).ok();
  };
  std::string stem = first;
  for (int again = 1; taken(stem); ++again) stem = first + "." + std::to_string(again);
  return stem;
}

void TensorStore::account(const std::string& path, const Status& status, std::size_t tensors) {
  if (status) {
    try {
      const Result<base::FileState> state = base::file_state(path);
      if (state) tally_.bytes_written.fetch_add(state->size, std::memory_order_relaxed);
    } catch (...) {  // only its size is not known
      tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
    }
    return;
  }
  if (status.code() == Code::exhausted) tally_.out_of_memory.fetch_add(1, std::memory_order_relaxed);
  tally_.write_errors.fetch_add(1, std::memory_order_relaxed);
  tally_.lost_records.fetch_add(tensors, std::memory_order_relaxed);
  lost_ += tensors;
  errors_.push_back(status);
  base::remove_empty_directories(path.substr(0, path.rfind('/')), directory_);
}

void TensorStore::leave_out(std::string_view key, const std::string& path, const Status& why) {
  tally_.lost_records.fetch_add(1, std::memory_order_relaxed);
  ++lost_;
  if (!first_time(key, path, why.message())) return;
  std::string message = "the tensor '";
  message.append(base::valid_utf8(key)).append("' is not in '").append(path).append("': ").append(why.message());
  errors_.emplace_back(why.code(), std::move(message));
}

// The error of a tensor repeats at every step.
bool TensorStore::first_time(std::string_view key, const std::string& path, std::string_view what) {
  std::string about(key);
  about.append(path.substr(path.rfind('.'))).append(what);
  return told_.insert(std::move(about)).second;
}

void TensorStore::write_safetensors(const std::string& stem, std::span<const StoredTensor> tensors) {
  const std::string path = stem + std::string(kSafetensors);
  std::vector<NamedView> named;
  std::unordered_set<std::string_view> keys;
  for (const StoredTensor& tensor : tensors) {
    if (!tensor.whole) continue;
    Status status = can_be_named(tensor, keys);
    if (status && tensor.view.dtype == DType::c128) {
      status = {Code::unsupported, "safetensors has no complex numbers of 16 bytes; record it as npy or npz"};
    }
    if (status && tensor.key == "__metadata__")
      status = {Code::invalid_argument, "this name is reserved in safetensors"};
    if (status) {
      named.push_back({tensor.key, tensor.view});
    } else {
      leave_out(tensor.key, path, status);
    }
  }
  if (named.empty()) return;
  Status status = base::make_directories(directory_);
  if (status) status = save_safetensors(path, named);
  account(path, status, named.size());
}

void TensorStore::write_npz(const std::string& stem, std::span<const StoredTensor> tensors) {
  const std::string path = stem + std::string(kNpz);
  std::vector<NamedView> named;
  std::deque<std::string> names;  // what entries point to that got another one
  std::unordered_set<std::string_view> keys;
  for (const StoredTensor& tensor : tensors) {
    if (!tensor.npz) continue;
    StoredTensor entry = tensor;
    const bool renamed = base::valid_utf8(tensor.key) == tensor.key && !tensor.key.empty() && !npz::is_name(tensor.key);
    if (renamed) entry.key = names.emplace_back(base::file_path_of(tensor.key, ""));
    if (const Status status = can_be_named(entry, keys); !status) {
      leave_out(entry.key, path, status);
      continue;
    }
    named.push_back({entry.key, entry.view});
    if (!renamed || !renamed_.ok() || !first_time(entry.key, path, "renamed")) continue;
    renamed_ = {Code::invalid_argument,
                "the tensor '" + names.back() + "' has this name in '" + path +
                    "', since npz can hold neither NUL nor more than 65,000 bytes in a name: give it another one"};
  }
  if (named.empty()) return;
  Status status = base::make_directories(directory_);
  if (status) status = save_npz(path, named);
  account(path, status, named.size());
}

void TensorStore::write_npy(const std::string& stem, std::span<const StoredTensor> tensors, std::size_t i) {
  const StoredTensor& tensor = tensors[i];
  if (!tensor.npy) return;
  const std::string path = base::join_path(stem, base::file_path_of(tensor.key, kNpy));
  const auto same = [&](const StoredTensor& other) { return other.npy && other.key == tensor.key; };
  if (std::ranges::any_of(tensors.first(i), same)) {
    return leave_out(tensor.key, path, {Code::invalid_argument, "the step already has a tensor of this name"});
  }
  Status status = base::make_directories(path.substr(0, path.rfind('/')));
  if (status) status = save_npy(path, tensor.view);
  account(path, status, 1);
}

}  // namespace sonde::sinks
