#include "inspect/save_model.h"

#include <algorithm>

#include "base/directory.h"
#include "base/file.h"
#include "formats/onnx_edit.h"

namespace sonde::inspect {
namespace {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Result<std::string> real = base::real_path(directory);
  return real ? *real : directory;
}

Status check_place(const Description& model, const onnx::Graph& graph, const std::string& path) {
  const auto source = base::file_state(model.path);
  const auto target = base::file_state(path);
  if (source && target && source->same_file(*target)) {
    return {Code::invalid_argument, "'" + path + "' is the model itself: name another file with --save-model"};
  }
  const auto external =
      std::ranges::find_if(graph.initializers, [](const auto& each) { return each.external.has_value(); });
  if (external == graph.initializers.end() || directory_of(model.path) == directory_of(path)) return {};
  return {Code::unsupported, "model '" + model.path + "' has values in '" + std::string(external->external->location) +
                                 "': name a file in the same folder with --save-model"};
}

bool is_told(const Layer& layer) {
  return layer.value.dtype.has_value() ? layer.value.shape.has_value() : !layer.value.type.empty();
}

}  // namespace

Status save_tapped_model(const Description& model, const std::vector<std::int64_t>& layers, const std::string& path) {
  if (model.format != "onnx") {
    return {Code::unsupported, "only of ONNX models can a copy with other outputs be written, but '" + model.path +
                                   "' is " + model.format};
  }
  const Result<base::MappedFile> file = base::MappedFile::open(model.path);
  if (!file) return file.error();
  const Result<onnx::Model> decoded = onnx::decode(file->bytes());
  if (!decoded) return decoded.error();
  if (Status place = check_place(model, decoded->graph, path); !place) return place;

  std::vector<std::string> names;
  bool told = true;
  for (const std::int64_t index : layers) {
    const Layer& layer = model.layers[static_cast<std::size_t>(index)];
    names.push_back(layer.value.name);
    told = told && is_told(layer);
  }
  std::vector<Value> inferred;
  if (!told) {
    const Result<std::unique_ptr<Runtime>> runtime = open_model({model.path, ""});
    if (!runtime) return runtime.error();
    Result<std::vector<Value>> values = (*runtime)->infer_values();
    if (!values) return values.error();
    inferred = *std::move(values);
  }
  std::vector<onnx::TypedValue> types;
  for (const Value& value : inferred) {
    if (value.dtype) types.push_back({value.name, onnx::type_number(*value.dtype), value.shape});
  }
  const Result<std::string> bytes = onnx::with_outputs(file->bytes(), *decoded, names, types);
  if (!bytes) return {bytes.error().code(), "'" + path + "' cannot be written: " + bytes.error().message()};
  return base::write_file(path, *bytes);
}

}  // namespace sonde::inspect
