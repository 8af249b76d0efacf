// Chooses the runtime of a model.
#include <algorithm>

#include "base/file.h"
#include "base/input_file.h"
#include "formats/onnx_edit.h"
#include "inspect/describe.h"
#include "inspect/fallback.h"
#include "inspect/openvino.h"
#include "inspect/runtime.h"
#include "inspect/temporary_model.h"
#include "inspect/worker.h"

namespace sonde::inspect {

ModelName parse_model_name(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0 || base::file_state(std::string(text))) return {std::string(text), ""};
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

namespace {

Result<std::unique_ptr<Runtime>> open_in_openvino(const Description& description, const OpenOptions& options) {
  const Result<const Plugin*> plugin = openvino_plugin();
  if (!plugin) return plugin.error();
  return (*plugin)->open(description, options);
}

// `runtime` is the one that the user has named.
Result<std::unique_ptr<Runtime>> open_in_named(const ModelName& model, const OpenOptions& options) {
  if (Result<base::FileState> state = base::file_state(model.path); !state) return state.error();
  const Result<const Format*> format = format_of(model.path);
  const std::string_view name = format ? (*format)->name : std::string_view();
  if (model.runtime == "onnxruntime" && name != "onnx") {
    return Status(Code::unsupported, "onnxruntime runs ONNX models, and '" + model.path + "' is none by its name");
  }
  if (name == "onnx" && model.runtime != "onnxruntime") {
    return Status(Code::unsupported, model.runtime + " does not run ONNX models: openvino and onnxruntime do");
  }
  if (name != "onnx") return open_in_worker(model, options);
  Result<Description> description = (*format)->describe(model.path, options);
  if (!description) return description.error();
  return open_in_worker(model, options, *std::move(description));
}

}  // namespace

Result<std::unique_ptr<Runtime>> open_model(const ModelName& model, const OpenOptions& options) {
  if (runs_in_worker(model.runtime)) return open_in_named(model, options);
  if (!model.runtime.empty() && model.runtime != "openvino") {
    return Status(Code::unsupported, "there is no runtime '" + model.runtime +
                                         "'; there are openvino, onnxruntime, tensorflow, keras and torch");
  }
  const Result<const Format*> format = format_of(model.path);
  if (!format) return format.error();
  if (!(*format)->runs_in_openvino) {
    if (!model.runtime.empty()) {
      return Status(Code::unsupported, "OpenVINO does not run '" + model.path + "'; leave '@openvino' out");
    }
    return open_in_worker({model.path, std::string(worker_runtime_of(model.path))}, options);
  }
  Result<Description> description = (*format)->describe(model.path, options);
  if (!description) return description.error();
  if ((*format)->name != "onnx") return open_in_openvino(*description, options);
  Result<std::unique_ptr<Runtime>> opened =
      model.runtime.empty()
          ? open_with_fallback([&] { return open_in_openvino(*description, options); },
                               [=, description = *description] {
                                 return open_in_worker({model.path, "onnxruntime"}, options, description);
                               })
          : open_in_openvino(*description, options);
  if (opened || opened.error().code() != Code::unsupported) return opened;
  OpenOptions partly = options;
  partly.partly = true;
  Result<std::unique_ptr<Runtime>> part = open_in_openvino(*description, partly);
  return part ? std::move(part) : std::move(opened);
}

void infer_types(Description& description) {
  const auto told = [](const Layer& layer) { return !layer.value.type.empty() && layer.value.shape.has_value(); };
  if (description.format != "onnx" || std::ranges::all_of(description.layers, told)) return;
  // The weights would have to be read, and they may be gigabytes.
  const Result<base::MappedFile> file = base::MappedFile::open(description.path);
  if (!file) return;
  const Result<onnx::Model> model = onnx::decode(file->bytes());
  if (!model) return;
  constexpr std::size_t kLargest = 4096;  // shapes and axes, which decide the types of others, are smaller
  const Result<TemporaryModel> light = TemporaryModel::create(onnx::without_weights(file->bytes(), *model, kLargest));
  if (!light) return;
  Description copy = description;
  copy.path = light->path();
  OpenOptions options;
  options.partly = true;
  const Result<std::unique_ptr<Runtime>> opened = open_in_openvino(copy, options);
  if (!opened) return;
  const Result<std::vector<Value>> values = (*opened)->infer_values();
  if (!values) return;
  for (std::size_t i = 0; i < values->size(); ++i) {
    Value& value = description.layers[i].value;
    if (value.type.empty()) {
      value.type = (*values)[i].type;
      value.dtype = (*values)[i].dtype;
    }
    if (!value.shape && value.type == (*values)[i].type) value.shape = (*values)[i].shape;
  }
}

}  // namespace sonde::inspect
