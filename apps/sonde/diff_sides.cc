#include "diff_sides.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/file.h"
#include "formats/run_layout.h"
#include "inspect/describe.h"
#include "render/console.h"
#include "text.h"

namespace sonde::cli {
namespace {

bool is_tensor_file(std::string_view path) {
  return path.ends_with(run_layout::kNpy) || path.ends_with(run_layout::kNpz) ||
         path.ends_with(run_layout::kSafetensors);
}

}  // namespace

Result<SideKind> side_kind(const std::string& path) {
  if (!inspect::parse_model_name(path).runtime.empty()) return SideKind::model;
  if (!base::file_state(path)) return Status{Code::not_found, "there is no file or directory '" + path + "'"};
  const Result<base::Directory> directory = base::read_directory(path);
  if (!directory) return !is_tensor_file(path) && inspect::is_model(path) ? SideKind::model : SideKind::tensors;
  bool run = false;
  for (const base::DirectoryEntry& entry : directory->entries) {
    if (entry.name == run_layout::kCaptureFile) return SideKind::capture;
    run = run || run_layout::is_event_file(entry.name) || run_layout::is_statistics_file(entry.name);
  }
  if (!run && inspect::is_model(path)) return SideKind::model;
  return run ? SideKind::run : SideKind::tensors;
}

Result<DiffSides> DiffSides::open(Side a, Side b, const inspect::InputOptions& options) {
  DiffSides sides;
  sides.a_.side = std::move(a);
  sides.b_.side = std::move(b);
  for (Opened* each : {&sides.a_, &sides.b_}) {
    if (each->side.kind != SideKind::model) continue;
    each->model = inspect::parse_model_name(each->side.path);
    if (sides.source_) continue;
    if (Status status = sides.open_runtime(*each); !status) return status;
    sides.first_ = each->runtime->description();
    Result<inspect::InputSource> source = inspect::InputSource::open(*sides.first_, options);
    if (!source) return source.error();
    sides.source_ = std::move(*source);
  }
  return sides;
}

Status DiffSides::open_runtime(Opened& side) const {
  if (side.runtime) return Status::success();
  Result<std::unique_ptr<inspect::Runtime>> runtime = inspect::open_model(side.model);
  if (!runtime) return runtime.error();
  side.runtime = std::move(*runtime);
  return compare::select_all_layers(*side.runtime);
}

Result<DiffSides::Pair> DiffSides::load(std::size_t input) {
  Pair pair;
  if (source_) {
    Result<inspect::InputBatch> values = source_->load(input);
    if (!values) return values.error();
    pair.input = values->name();
    pair.values = std::make_unique<inspect::InputBatch>(std::move(*values));
  }
  Result<std::unique_ptr<compare::TensorSet>> a = load(a_, pair, pair.model_a);
  if (!a) return a.error();
  pair.a = std::move(*a);
  Result<std::unique_ptr<compare::TensorSet>> b = load(b_, pair, pair.model_b);
  if (!b) return b.error();
  pair.b = std::move(*b);
  return pair;
}

Result<std::unique_ptr<compare::TensorSet>> DiffSides::load(Opened& side, const Pair& pair, compare::ModelSet*& model) {
  if (side.side.kind != SideKind::model) return load_files(side.side, pair.input);
  if (Status status = open_runtime(side); !status) return status;
  Result<std::vector<NamedView>> inputs = inputs_of(side.runtime->description(), *pair.values);
  if (!inputs) return inputs.error();
  Result<std::unique_ptr<compare::ModelSet>> set =
      compare::ModelSet::run(side.model, *side.runtime, std::move(*inputs));
  if (!set) return set.error();
  if (this->inputs() == 1) side.runtime.reset();
  model = set->get();
  return std::unique_ptr<compare::TensorSet>(std::move(*set));
}

// A directory that `sonde inspect --save` wrote for several inputs has a folder or a file for each.
Result<std::unique_ptr<compare::TensorSet>> DiffSides::load_files(const Side& side, const std::string& input) const {
  if (inputs() > 1) {
    const std::string place = base::join_path(side.path, input);
    for (const std::string& path : {place, place + std::string(run_layout::kSafetensors),
                                    place + std::string(run_layout::kNpz), place + std::string(run_layout::kNpy)}) {
      if (side.kind == SideKind::tensors && base::file_state(path)) return compare::open_tensor_files(path);
    }
    return Status{Code::invalid_argument, "--input names " + std::to_string(inputs()) + " inputs, but '" + side.path +
                                              "' has no folder or file '" + input +
                                              "'; name one of the inputs, or compare with a folder of 'sonde inspect "
                                              "--save' for the same inputs"};
  }
  switch (side.kind) {
    case SideKind::capture: return compare::open_capture(side.path);
    case SideKind::run: return compare::open_whole_tensors(side.path);
    default: return compare::open_tensor_files(side.path);
  }
}

// The values under the names of a model: by name, or by place if the names differ from those of the first model.
Result<std::vector<NamedView>> DiffSides::inputs_of(const inspect::Description& model,
                                                    const inspect::InputBatch& values) const {
  if (first_->inputs.size() != model.inputs.size()) {
    return Status{Code::invalid_argument, "'" + first_->path + "' has " + counted(first_->inputs.size(), "input") +
                                              ", but '" + model.path + "' has " + std::to_string(model.inputs.size()) +
                                              ", so that they cannot get the same"};
  }
  const auto named = [&](std::string_view name) { return std::ranges::find(values.views(), name, &NamedView::name); };
  std::vector<NamedView> inputs;
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const inspect::Value& input = model.inputs[i];
    auto found = named(input.name);
    if (found == values.views().end()) found = named(first_->inputs[i].name);
    if (!inspect::accepts(input, found->tensor)) {
      return Status{Code::invalid_argument, "input '" + input.name + "' of '" + model.path + "' is " +
                                                inspect::type_text(input) + ", but '" + first_->path + "' gets " +
                                                render::type_text(found->tensor.dtype, found->tensor.shape)};
    }
    inputs.push_back({input.name, found->tensor});
  }
  return inputs;
}

}  // namespace sonde::cli
