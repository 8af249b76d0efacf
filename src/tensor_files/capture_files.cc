#include "tensor_files/capture_files.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/numbered_directory.h"
#include "base/utf8.h"
#include "formats/capture_json.h"
#include "formats/json_writer.h"
#include "formats/run_layout.h"
#include "formats/tensor_tags.h"
#include "sonde/tensor_io.h"
#include "stats/summary.h"

namespace sonde::tensor_files {
namespace {

// A reason as a part of a directory's name, safe in every shell.
std::string directory_name(std::string_view reason) {
  constexpr std::size_t kLongest = 40;
  std::string name;
  for (char c : reason.substr(0, kLongest)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += plain ? c : '_';
  }
  return name.empty() ? "capture" : name;
}

std::string file_name(const flight::Step& step, std::map<std::string, int>& used) {
  std::array<char, 48> digits{};
  std::snprintf(digits.data(), digits.size(), "%012lld", static_cast<long long>(step.step));
  const std::string stem = (step.evaluation ? "eval-" : "") + std::string(digits.data());
  // A job that went back to an earlier step may have it twice, and one that gives no numbers has only one of them.
  const int times = ++used[stem];
  if (times == 1) return stem + std::string(run_layout::kSafetensors);
  return stem + "-" + std::to_string(times) + std::string(run_layout::kSafetensors);
}

// Complex numbers have no order and therefore no statistics; what counts here are their parts.
Result<stats::Summary> count_elements(TensorView view) {
  if (view.dtype == DType::c64 && view.contiguous()) {
    view = sonde::view(view.data, DType::f32, {view.size() * 2});
  }
  return stats::summarize(view);
}

class Writer {
 public:
  Writer(CaptureInfo info, const base::NumberedDirectory& directory) : info_(std::move(info)), directory_(directory) {}

  Status write(const NextStep& next) {
    info_.steps.clear();
    while (const flight::Step* step = next ? next() : nullptr) {
      if (Status status = add(*step); !status) return status;
    }
    return base::write_file(base::join_path(directory_.path(), run_layout::kCaptureFile),
                            capture_json::encode(info_, find_origin(info_)));
  }

 private:
  Status add(const flight::Step& step) {
    CapturedStep captured;
    captured.step = step.step;
    captured.evaluation = step.evaluation;
    captured.complete = step.complete;
    captured.wall_time = step.wall_time;
    captured.scalars = step.scalars;
    if (step.dropped > 0) {
      drop(step, "tensors", step.dropped,
           step.overwritten ? "overwritten before they could be saved: steps came faster than captures are written"
                            : "the flight ring had no room");
    }
    // The process that lives tells it by name.
    if (step.lost > 0 && info_.cause == CaptureInfo::Cause::crash) {
      drop(step, "tensors", step.lost, "dropped before they reached the flight ring, because the buffer was full");
    }
    if (step.damaged > 0) drop(step, "tensors", step.damaged, "damaged in the flight ring");
    std::vector<const TensorView*> views;
    std::set<std::string> keys;
    for (const flight::Tensor& tensor : step.tensors) {
      CapturedTensor described = describe(tensor, step.evaluation);
      if (Status status = count(tensor, described, keys); !status) {
        drop(step, described.key, 1, status.message());
        continue;
      }
      captured.tensors.push_back(std::move(described));
      views.push_back(&tensor.view);
    }
    if (!views.empty()) {
      captured.file = file_name(step, files_);
      if (Status status = save(captured, views); !status) return status;
    }
    info_.steps.push_back(std::move(captured));
    return Status::success();
  }

  static CapturedTensor describe(const flight::Tensor& tensor, bool evaluation) {
    CapturedTensor described;
    described.name = base::valid_utf8(tensor.name);
    described.kind = tensor.kind;
    described.occurrence = tensor.occurrence;
    described.key =
        tags::tag_of({described.name, tensor.kind, tensor.occurrence, evaluation}, tags::Plugin::histograms);
    for (const std::string& input : tensor.inputs) described.inputs.push_back(base::valid_utf8(input));
    described.dtype = tensor.view.dtype;
    described.shape = tensor.view.shape;
    return described;
  }

  // Fails with a sentence about a tensor that the step's file cannot hold.
  static Status count(const flight::Tensor& tensor, CapturedTensor& described, std::set<std::string>& keys) {
    if (tensor.view.dtype == DType::c128) {
      return {Code::unsupported, "safetensors has no type for complex numbers of 16 bytes"};
    }
    const Result<stats::Summary> summary = count_elements(tensor.view);
    if (!summary) return summary.error();
    if (!keys.insert(described.key).second) {
      return {Code::invalid_argument, "the step holds another tensor of this name, which was kept"};
    }
    described.count = summary->count;
    described.nan = summary->nan;
    described.positive_infinity = summary->positive_infinity;
    described.negative_infinity = summary->negative_infinity;
    return Status::success();
  }

  void drop(const flight::Step& step, std::string what, std::uint64_t number, std::string reason) {
    info_.dropped.push_back({std::move(what), step.step, step.step, number, std::move(reason)});
  }

  Status save(const CapturedStep& step, const std::vector<const TensorView*>& views) const {
    std::vector<NamedView> tensors;
    formats::JsonWriter order;
    order.array();
    for (std::size_t i = 0; i < views.size(); ++i) {
      tensors.push_back({step.tensors[i].key, *views[i]});
      order.text(step.tensors[i].key);
    }
    // The file has its own order, so that elements are aligned.
    return save_safetensors(base::join_path(directory_.path(), step.file), tensors,
                            {{"step", std::to_string(step.step)},
                             {"wall_time", formats::JsonWriter().number(step.wall_time).take()},
                             {"order", order.end().take()}});
  }

  CaptureInfo info_;
  const base::NumberedDirectory& directory_;
  std::map<std::string, int> files_;  // how many steps have that name already
};

Result<std::string> write(const std::string& run_directory, CaptureInfo info, const NextStep& next) {
  const std::string name = directory_name(info.reason);
  Result<base::NumberedDirectory> directory =
      base::NumberedDirectory::create(base::join_path(run_directory, run_layout::kCaptures));
  if (!directory) return directory.error();
  const std::string path = directory->final_path(name);
  Status status = Writer(std::move(info), *directory).write(next);
  if (status) status = directory->commit(name);
  if (status) return path;
  return Status(status.code(),
                "the capture '" + path + "' could not be saved, and nothing of it was left: " + status.message());
}

}  // namespace

NextStep each_of(std::span<const flight::Step> steps) {
  return [steps]() mutable -> const flight::Step* {
    if (steps.empty()) return nullptr;
    const flight::Step* step = &steps.front();
    steps = steps.subspan(1);
    return step;
  };
}

Result<std::string> write_capture(const std::string& run_directory, CaptureInfo info, const NextStep& next) {
  try {
    return write(run_directory, std::move(info), next);
  } catch (const std::bad_alloc&) {
    return Status(Code::exhausted, "there is not enough memory to save a capture in '" + run_directory + "'");
  }
}

}  // namespace sonde::tensor_files
